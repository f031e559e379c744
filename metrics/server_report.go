package metrics

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// serverReport sums up what the server said of itself in the looks after the warm-up; nil where nobody looked.
func (run *Run) serverReport() *ServerReport {
	if len(run.Server) == 0 && run.ServerAbsent == "" {
		return nil
	}
	r := ServerOver(run.Server, run.Plan.Warmup, math.MaxInt64)
	r.Kind, r.Absent, r.Seconds = run.ServerKind, run.ServerAbsent, slices.Clone(run.Server)
	slices.SortStableFunc(r.Seconds, func(a, b ServerSecond) int { return cmp.Compare(a.At, b.At) })
	return &r
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
