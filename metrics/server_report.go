package metrics

import (
	"slices"
	"time"
)

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
