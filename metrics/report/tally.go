package report

import (
	"math"
	"slices"

	"benchtop/metrics"
)

// tally sums up successful outcomes. Peaks are counted in one-second buckets from the earliest start, so that has to be
// known beforehand.
type tally struct {
	origin        float64
	slo           metrics.SLO
	n, good       int
	input, output int
	samples       [metrics.NumLatencies]metrics.Sample
	chunks        []int // per bucket
	concurrent    []int
}

func newTally(origin float64, slo metrics.SLO) *tally {
	t := &tally{origin: origin, slo: slo}
	for l := range t.samples {
		t.samples[l] = metrics.Sample{}
	}
	return t
}

func (t *tally) add(o *metrics.Outcome) {
	t.n++
	t.input += o.Input
	t.output += o.Output
	for l := range metrics.NumLatencies {
		if v, times := l.Exact(o); times > 0 {
			t.samples[l][v] += times
		}
	}
	if t.slo.Judge(o).Good() {
		t.good++
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

// addPlain adds the latencies of a request that have no such formula.
func (t *tally) addPlain(r *metrics.Request) {
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

func (t *tally) peakOutput() int      { return peak(t.chunks) }
func (t *tally) peakConcurrency() int { return peak(t.concurrent) }

func peak(buckets []int) int {
	if len(buckets) == 0 {
		return 0
	}
	return slices.Max(buckets)
}
