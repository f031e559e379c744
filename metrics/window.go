package metrics

import "time"

// Window is one second of a run.
type Window struct {
	// Start is the beginning of the second, from the start of the run.
	Start time.Duration
	// Due, Sent, Done, Failed and Cancelled count what happened to requests in this second; Done are the successes.
	Due, Sent, Done, Failed, Cancelled int
	// MetCount is of the successes that ended in this second, by the objectives in force.
	MetCount
	// InputTokens of requests whose first token came in this second; OutputTokens that arrived in it, whatever became of
	// their request. Output tokens are counted by chunk until the request's own total is known, then corrected.
	InputTokens, OutputTokens int
	// PromptTokens are the input tokens of the successes that ended in this second, CachedTokens those of them that came from the
	// server's prefix cache, as far as answers told.
	PromptTokens, CachedTokens int
	// Held, Waiting and Running are levels at the end of the second.
	Held, Waiting, Running int
	// Histograms of the latencies that were known in this second, such as TTFT of the first chunks that came in it. Requests that
	// failed are taken out again.
	Histograms WindowHistograms
	// TTFTParts of the requests whose first chunk came in this second; Reported is what their answers told of them. Requests that
	// failed are taken out again.
	TTFTParts TTFTParts
	Reported  Reported
}

// MaxWindows bounds a timeline to a week, so that a damaged journal cannot ask for all memory; what is later counts in
// the last window.
const MaxWindows = 7 * 24 * 3600

// Same reports whether two windows of snapshots of one run are the same, without looking at single counts: those of a
// histogram that did not change are shared. Windows that are equal but not shared may be reported as different.
func (w *Window) Same(o *Window) bool {
	for l := range w.Histograms {
		if !w.Histograms[l].same(&o.Histograms[l]) {
			return false
		}
	}
	return w.Start == o.Start && w.Met == o.Met && w.TTFTParts == o.TTFTParts && w.Reported == o.Reported && w.counts() == o.counts()
}

// same: both show the same counts, by their place in memory.
func (h *Histogram) same(o *Histogram) bool {
	if h.n != o.n || h.sum != o.sum || h.base != o.base || len(h.counts) != len(o.counts) {
		return false
	}
	return len(h.counts) == 0 || &h.counts[0] == &o.counts[0]
}

// counts are figures of a window that are plain numbers.
func (w *Window) counts() [13]int {
	return [...]int{
		w.Due, w.Sent, w.Done, w.Failed, w.Cancelled, w.Good,
		w.InputTokens, w.OutputTokens, w.PromptTokens, w.CachedTokens, w.Held, w.Waiting, w.Running,
	}
}
