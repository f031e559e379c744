package metrics

import (
	"cmp"
	"slices"
	"time"
)

// serverReport sums up what the server said of itself in the looks after the warm-up; nil where nobody looked. A gauge
// counts for as long as its look took, a latency for as many requests as it is the mean of.
func (run *Run) serverReport() *ServerReport {
	if len(run.Server) == 0 && run.ServerAbsent == "" {
		return nil
	}
	seconds := slices.Clone(run.Server)
	slices.SortStableFunc(seconds, func(a, b ServerSecond) int { return cmp.Compare(a.At, b.At) })
	r := &ServerReport{Kind: run.ServerKind, Absent: run.ServerAbsent, Seconds: seconds}
	var running, waiting, kv, rate, preempted, prompt, output, queries, hits, drafted, accepted, ttft, queue, prefill weighted
	for i := range seconds {
		s := &seconds[i]
		if s.At <= run.Plan.Warmup {
			continue
		}
		took := afterWarmup(&run.Plan, s.At, s.Took)
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

// afterWarmup is the part of a look's time that lies after the warm-up, in seconds.
func afterWarmup(p *Plan, at, took time.Duration) float64 {
	return min(took, at-p.Warmup).Seconds()
}
