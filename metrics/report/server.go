package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// serverReport sums up the samples of the server after the warm-up of a run with a known end; nil without samples.
func serverReport(run *metrics.Run, all samples, ended time.Duration) *metrics.ServerReport {
	if len(all) == 0 && run.ServerAbsent == "" {
		return nil
	}
	r := metrics.ServerOver(all.within(ended), run.Plan.Warmup, math.MaxInt64)
	r.Kind, r.Absent, r.Seconds = run.ServerKind, run.ServerAbsent, all
	return &r
}

// samples of the server, in order of time.
type samples []metrics.ServerSecond

// samplesOf are the samples of a run, without the client's own account.
func samplesOf(seconds []metrics.ServerSecond) samples {
	l := slices.Clone(seconds)
	slices.SortStableFunc(l, func(a, b metrics.ServerSecond) int { return cmp.Compare(a.At, b.At) })
	for i := range l {
		l[i].First, l[i].Ended = metrics.TTFTParts{}, metrics.TTFTParts{}
	}
	return l
}

// add counts a request in the samples that cover its first chunk and its end.
func (l samples) add(q *metrics.Request) {
	if s := l.of(q.FirstChunk); s != nil {
		s.First.Count(q, 1)
	}
	if s := l.of(q.Done); s != nil && q.OK() && q.FirstChunk != metrics.Never {
		s.Ended.Count(q, 1)
	}
}

// of is the sample that covers a moment, nil for none.
func (l samples) of(at time.Duration) *metrics.ServerSecond {
	if at == metrics.Never {
		return nil
	}
	i, _ := slices.BinarySearchFunc(l, at, func(s metrics.ServerSecond, at time.Duration) int { return cmp.Compare(s.At, at) })
	if i == len(l) || at <= l[i].At-l[i].Took {
		return nil
	}
	return &l[i]
}

// within removes the gauges of samples after the end, since those show a server without the load.
func (l samples) within(ended time.Duration) []metrics.ServerSecond {
	n, _ := slices.BinarySearchFunc(l, ended, func(s metrics.ServerSecond, ended time.Duration) int { return cmp.Compare(s.At, ended+1) })
	out := slices.Clone(l)
	for i := range out[n:] {
		s := &out[n+i]
		s.Running, s.Waiting, s.KVUsage = metrics.Unsaid(), metrics.Unsaid(), metrics.Unsaid()
	}
	return out
}

// gpuReport sums up the samples of the accelerators after the warm-up; nil without samples. tokens are the output tokens of the
// successes, length is that of the run without the warm-up.
func gpuReport(run *metrics.Run, tokens int, length time.Duration) *metrics.GPUReport {
	if len(run.GPUs) == 0 && run.GPUsAbsent == "" {
		return nil
	}
	seconds := slices.Clone(run.GPUs)
	slices.SortStableFunc(seconds, func(a, b metrics.GPUSecond) int { return cmp.Compare(a.At, b.At) })
	r := metrics.GPUsOver(seconds, run.Plan.Warmup, math.MaxInt64, metrics.GPUWork{OutputTokens: tokens, Length: length, Price: run.Plan.GPUPrice})
	r.Absent, r.Seconds = run.GPUsAbsent, seconds
	return &r
}
