package metrics

import "time"

// Window is one second of a run.
type Window struct {
	// Start is the beginning of the second, from the start of the run.
	Start time.Duration
	// Due, Sent, Done, Failed and Cancelled count the events of requests in this second; Done are the successes.
	Due, Sent, Done, Failed, Cancelled int
	// MetCount is of the successes that ended in this second, by the objectives in force.
	MetCount
	// InputTokens of requests whose first token came in this second; OutputTokens that arrived in it, whatever the outcome of their
	// request. Output tokens are counted by chunk until the total of the request is known, then corrected.
	InputTokens, OutputTokens int
	// PromptTokens are the input tokens of the successes that ended in this second, CachedTokens those of them that came from the
	// server's prefix cache, as far as answers report them.
	PromptTokens, CachedTokens int
	// Held, Waiting and Running are levels at the end of the second.
	Held, Waiting, Running int
	// Histograms of the latencies of this second, such as TTFT of the first chunks that came in it. Failed requests are removed again.
	Histograms WindowHistograms
	// TTFTParts of the requests whose first chunk came in this second; Reported holds the figures of their answers. Failed requests are
	// removed again.
	TTFTParts TTFTParts
	Reported  Reported
}

// MaxWindows bounds a timeline to a week, so that a damaged journal cannot use up the memory; later events count in the last window.
const MaxWindows = 7 * 24 * 3600

// Same reports whether two windows of snapshots of one run are the same, without comparing single counts, because unchanged histograms
// share their counts. It may report windows that are equal but not shared as different.
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
