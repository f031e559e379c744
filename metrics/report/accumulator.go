package report

import (
	"math"
	"slices"

	"benchtop/metrics"
)

// accumulator sums up successes. It counts peaks in one-second buckets from the earliest start, which must be known beforehand.
type accumulator struct {
	origin     float64
	samples    [metrics.NumLatencies]metrics.Sample
	chunks     []int // per bucket
	concurrent []int
}

func newAccumulator(origin float64) *accumulator {
	t := &accumulator{origin: origin}
	for l := range t.samples {
		t.samples[l] = metrics.Sample{}
	}
	return t
}

// add counts a success, in the report too.
func (t *accumulator) add(o *metrics.Outcome, r *metrics.Report) {
	r.Completed++
	r.InputTokens += o.Input
	r.OutputTokens += o.Output
	if r.Objectives.Judge(o).Good() {
		r.Good++
	}
	for l := range metrics.NumLatencies {
		if v, times := l.Exact(o); times > 0 {
			t.samples[l][v] += times
		}
	}
	end := o.Start + o.E2EL
	at := o.Start + o.TTFT
	count(&t.chunks, at-t.origin)
	for _, gap := range o.ITLs {
		at += gap
		count(&t.chunks, at-t.origin)
	}
	for k := int(math.Floor(o.Start - t.origin)); k <= min(int(math.Floor(end-t.origin)), metrics.MaxWindows); k++ {
		count(&t.concurrent, float64(k))
	}
}

// addPlain adds the latencies of a request that Latency.Exact has no formula for.
func (t *accumulator) addPlain(r *metrics.Request) {
	for l := range metrics.NumLatencies {
		for v := range l.Plain(r) {
			t.samples[l].Add(v.Seconds())
		}
	}
}

func count(buckets *[]int, second float64) {
	k := min(max(int(math.Floor(second)), 0), metrics.MaxWindows)
	for len(*buckets) <= k {
		*buckets = append(*buckets, 0)
	}
	(*buckets)[k]++
}

// peak is the highest bucket, 0 without one.
func peak(buckets []int) int {
	return slices.Max(append(buckets, 0))
}
