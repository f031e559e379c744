package metrics

import (
	"math"
	"slices"
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
	// TTFT, Queue and Prefill are the server's own clocks: TTFT of the requests whose first token came since the look before,
	// Queue and Prefill of those that ended since then where WaitsAtEnd, else of the same as TTFT.
	TTFT, Queue, Prefill ServerLatency
	// WaitsAtEnd, PromptAtEnd and OutputAtEnd say that this server counts waits and tokens only when a request ends: how they
	// move from look to look is the rhythm of ends, not that of the work.
	WaitsAtEnd, PromptAtEnd, OutputAtEnd bool
	// First and Ended are the client's own account of the time since the look before: of the requests whose first chunk came in
	// it, whatever became of them, and of those that succeeded in it. They follow from the requests; no journal keeps them.
	First, Ended TTFTParts
}

// waited are the requests that Queue and Prefill are of, by the client's own account.
func (s *ServerSecond) waited() *TTFTParts {
	if s.WaitsAtEnd {
		return &s.Ended
	}
	return &s.First
}

// Counted reports whether the look knows what happened since the one before: the first one does not, nor does one that found
// counters that had fallen.
func (s *ServerSecond) Counted() bool {
	if s.Took <= 0 {
		return false
	}
	for _, moved := range [...]float64{s.Preemptions, s.PrefixQueries, s.PromptTokens, s.OutputTokens, s.DraftTokens} {
		if Said(moved) {
			return true
		}
	}
	return s.TTFT.N > 0 || s.Queue.N > 0 || s.Prefill.N > 0
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
	// Means and maxima over the seconds of the run, the warm-up left out; Unsaid where the server does not tell, or no look fell
	// into the run.
	RunningMean, RunningMost, WaitingMean, WaitingMost, KVMean, KVMost float64
	// Sums over the run. HitRate and Acceptance are shares from 0 to 1.
	Preemptions, PromptTokens, OutputTokens, HitRate, Acceptance float64
	TTFT, Queue, Prefill                                         ServerLatency
	// First are the requests that TTFT is of, by the client's own account.
	First TTFTParts
	// Seconds of the run, in order of time, the warm-up included.
	Seconds []ServerSecond
}

// Behind joins a look with the one before it: levels are those of the later look, what was counted adds up.
func (s ServerSecond) Behind(before *ServerSecond) ServerSecond {
	s.Took += before.Took
	for _, x := range []struct {
		before float64
		sum    *float64
	}{
		{before.Preemptions, &s.Preemptions}, {before.PrefixQueries, &s.PrefixQueries}, {before.PrefixHits, &s.PrefixHits},
		{before.PromptTokens, &s.PromptTokens}, {before.OutputTokens, &s.OutputTokens},
		{before.DraftTokens, &s.DraftTokens}, {before.AcceptedTokens, &s.AcceptedTokens},
	} {
		switch {
		case !Said(*x.sum):
			*x.sum = x.before
		case Said(x.before):
			*x.sum += x.before
		}
	}
	if s.PrefixQueries > 0 {
		s.HitRate = s.PrefixHits / s.PrefixQueries
	}
	s.TTFT, s.Queue, s.Prefill = before.TTFT.join(s.TTFT), before.Queue.join(s.Queue), before.Prefill.join(s.Prefill)
	s.First.Merge(&before.First)
	s.Ended.Merge(&before.Ended)
	return s
}

func (l ServerLatency) join(o ServerLatency) ServerLatency {
	switch {
	case !(l.N > 0):
		return o
	case !(o.N > 0):
		return l
	}
	n := l.N + o.N
	return ServerLatency{N: n, Mean: time.Duration(float64(l.Mean)*(l.N/n) + float64(o.Mean)*(o.N/n))}
}

// TooShort reports whether the server tells its levels, but no look at them fell into the run.
func (r *ServerReport) TooShort() bool {
	silent := !Said(r.RunningMean) && !Said(r.WaitingMean) && !Said(r.KVMean)
	return silent && slices.ContainsFunc(r.Seconds, func(s ServerSecond) bool {
		return Said(s.Running) || Said(s.Waiting) || Said(s.KVUsage)
	})
}

// ServerOver sums up the looks at the server after from and up to to, but for its kind and its seconds. A gauge counts for as
// long as its look took, a latency for as many requests as it is the mean of.
func ServerOver(seconds []ServerSecond, from, to time.Duration) (r ServerReport) {
	var running, waiting, kv, rate, preempted, prompt, output, queries, hits, drafted, accepted, ttft, queue, prefill weighted
	for i := range seconds {
		s := &seconds[i]
		if s.At <= from || s.At > to {
			continue
		}
		took := min(s.Took, s.At-from).Seconds()
		running.add(s.Running, took)
		waiting.add(s.Waiting, took)
		kv.add(s.KVUsage, took)
		rate.add(s.HitRate, took)
		preempted.add(s.Preemptions, 1)
		prompt.add(s.PromptTokens, 1)
		output.add(s.OutputTokens, 1)
		queries.add(s.PrefixQueries, 1)
		hits.add(s.PrefixHits, 1)
		drafted.add(s.DraftTokens, 1)
		accepted.add(s.AcceptedTokens, 1)
		ttft.latency(s.TTFT)
		queue.latency(s.Queue)
		prefill.latency(s.Prefill)
		if s.Counted() {
			r.First.Merge(&s.First)
		}
	}
	r.RunningMean, r.RunningMost = running.mean(), running.highest()
	r.WaitingMean, r.WaitingMost = waiting.mean(), waiting.highest()
	r.KVMean, r.KVMost = kv.mean(), kv.highest()
	r.Preemptions, r.PromptTokens, r.OutputTokens = preempted.sumOf(), prompt.sumOf(), output.sumOf()
	if r.HitRate = over(hits.sumOf(), queries.sumOf()); !Said(r.HitRate) {
		r.HitRate = rate.mean() // a server may tell the rate alone
	}
	r.Acceptance = over(accepted.sumOf(), drafted.sumOf())
	r.TTFT, r.Queue, r.Prefill = ttft.sum(), queue.sum(), prefill.sum()
	return r
}
