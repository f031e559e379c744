package metrics

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// serverReport sums up what the server said of itself in the looks after the warm-up of a run that ended at a moment; nil where
// nobody looked.
func (run *Run) serverReport(looks looks, ended time.Duration) *ServerReport {
	if len(looks) == 0 && run.ServerAbsent == "" {
		return nil
	}
	r := ServerOver(looks.within(ended), run.Plan.Warmup, math.MaxInt64)
	r.Kind, r.Absent, r.Seconds = run.ServerKind, run.ServerAbsent, looks
	return &r
}

// looks at the server, in order of time.
type looks []ServerSecond

// looksAt are the looks of a run, with nothing yet of the client's own account.
func looksAt(seconds []ServerSecond) looks {
	l := slices.Clone(seconds)
	slices.SortStableFunc(l, func(a, b ServerSecond) int { return cmp.Compare(a.At, b.At) })
	for i := range l {
		l[i].First, l[i].Ended = Waits{}, Waits{}
	}
	return l
}

// add enters a request into the looks that tell of its first chunk and of its end.
func (l looks) add(q *Request) {
	if s := l.of(q.FirstChunk); s != nil {
		s.First.count(q, 1)
	}
	if s := l.of(q.Done); s != nil && q.OK() && q.FirstChunk != Never {
		s.Ended.count(q, 1)
	}
}

// of is the look that tells of a moment; nil if none does.
func (l looks) of(at time.Duration) *ServerSecond {
	if at == Never {
		return nil
	}
	i, _ := slices.BinarySearchFunc(l, at, func(s ServerSecond, at time.Duration) int { return cmp.Compare(s.At, at) })
	if i == len(l) || at <= l[i].At-l[i].Took {
		return nil
	}
	return &l[i]
}

// within leaves out the levels of what was looked at after the end: they are those of a server that the load has left.
func (l looks) within(ended time.Duration) []ServerSecond {
	n, _ := slices.BinarySearchFunc(l, ended, func(s ServerSecond, ended time.Duration) int { return cmp.Compare(s.At, ended+1) })
	out := slices.Clone(l)
	for i := range out[n:] {
		s := &out[n+i]
		s.Running, s.Waiting, s.KVUsage = Unsaid(), Unsaid(), Unsaid()
	}
	return out
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
		if s.counted() {
			r.First.merge(&s.First)
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
