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
	// Waits of the requests whose first chunk came in this second; Told is what their answers told of them. Requests that
	// failed are taken out again.
	Waits Waits
	Told  Told
}

// MaxWindows bounds a timeline to a week, so that a damaged journal cannot ask for all memory; what is later counts in
// the last window.
const MaxWindows = 7 * 24 * 3600
