package metrics

import (
	"math"
	"time"
)

// Unsaid stands for a figure that a server or a GPU does not give: no number at all, so that no arithmetic on it can pass
// for one.
func Unsaid() float64 { return math.NaN() }

// Said reports whether a figure was given.
func Said(v float64) bool { return !math.IsNaN(v) }

// ServerSecond is what the server said of itself at one look at its metrics page, summed over its engines, and how its
// counters moved since the look before. What it does not say is Unsaid.
type ServerSecond struct {
	// At is the moment of the look, Took the time since the one before.
	At, Took time.Duration
	// Running and Waiting requests, and the share of the key-value cache in use, from 0 to 1.
	Running, Waiting, KVUsage float64
	// Preemptions since the look before.
	Preemptions float64
	// PrefixQueries are the prompt tokens looked up in the prefix cache, PrefixHits those of them that were there. HitRate is
	// their quotient, from 0 to 1, or what the server itself gives as that.
	PrefixQueries, PrefixHits, HitRate float64
	// PromptTokens computed and OutputTokens generated, for whomever.
	PromptTokens, OutputTokens float64
	// DraftTokens of speculative decoding, and AcceptedTokens of them.
	DraftTokens, AcceptedTokens float64
	// TTFT, Queue and Prefill are the server's own clocks for the requests that passed those points since the look before.
	TTFT, Queue, Prefill ServerLatency
}

// ServerLatency is the mean of some latencies by the server's own clock.
type ServerLatency struct {
	// N of them, 0 for none: then the mean says nothing.
	N    float64
	Mean time.Duration
}

// ServerReport is what a run shows of the server by its own account.
type ServerReport struct {
	// Kind of the server, such as "vLLM"; "" if it was not recognized. Absent says why there are no figures, or why they
	// end early; "" for neither.
	Kind, Absent string
	// Means and maxima over the seconds of the run, the warm-up left out; Unsaid where the server does not tell.
	RunningMean, RunningMost, WaitingMean, WaitingMost, KVMean, KVMost float64
	// Sums over the run. HitRate and Acceptance are shares from 0 to 1.
	Preemptions, PromptTokens, OutputTokens, HitRate, Acceptance float64
	TTFT, Queue, Prefill                                         ServerLatency
	// Seconds of the run, in order of time, the warm-up included.
	Seconds []ServerSecond
}
