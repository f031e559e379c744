package metrics

import "time"

// SplitSource says who told how long requests waited inside the server.
type SplitSource string

const (
	// SplitByRequests: the server told it with each answer.
	SplitByRequests SplitSource = "requests"
	// SplitByMetrics: the counters of its metrics page, for whoever asked it at that time.
	SplitByMetrics SplitSource = "metrics"
	// SplitUnknown: nobody.
	SplitUnknown SplitSource = "unknown"
)

// TTFTSplit says where the time until the first chunk went, on average, counted from when the request was due. Held and
// Connect come before the first byte, so they are no part of TTFT; Queue, Prefill and Rest add up to TTFT.
type TTFTSplit struct {
	// N requests whose first chunk came. The rest says nothing where it is 0.
	N int
	// Held is the wait for a client slot, Connect for a connection.
	Held, Connect time.Duration
	// TTFT is the mean of all N.
	TTFT time.Duration
	// Queue is the wait inside the server, Prefill the time it computed the prompt and the first token; Never where nobody
	// tells.
	Queue, Prefill time.Duration
	// Rest is what is left: the way there and back, tokenizing, and, where nobody tells, all of TTFT. Never negative.
	Rest time.Duration
	// Source of Queue and Prefill.
	Source SplitSource
}

// Waits sum up the first chunks of a second: where the time until they came went.
type Waits struct {
	// N first chunks; the sums of their Held, Connect and TTFT.
	N                   int
	Held, Connect, TTFT time.Duration
	// Told of them said how long they waited in the server; the sums of that.
	Told           int
	Queue, Prefill time.Duration
}
