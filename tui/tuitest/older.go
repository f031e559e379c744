package tuitest

import (
	"slices"
	"sync"

	"benchtop/metrics"
)

// Older is the report of a run to compare with: the ramp on a server that is a third slower.
var Older = sync.OnceValue(func() *metrics.Report {
	s := Done()
	r := *s.Report
	r.Timeline = nil
	for _, w := range metrics.Each(s.Windows, (*metrics.Window).Clone) {
		w.TokensOut, w.TokensIn, w.Completed = w.TokensOut*2/3, w.TokensIn*2/3, w.Completed*2/3
		w.Running, w.Waiting = w.Running*4/3, w.Waiting*4/3
		w.Histograms[metrics.TTFT], w.Histograms[metrics.ITL] = slower(&w.Histograms[metrics.TTFT]),
			slower(&w.Histograms[metrics.ITL])
		r.Timeline = append(r.Timeline, w)
	}
	for _, l := range slices.Concat(mainLatencies, pageLatencies) {
		r.Histograms[l] = slower(&s.Histograms[l])
	}
	for _, l := range mainLatencies {
		stat := &r.Statistics[l]
		more := *stat
		more.Mean, more.Median, more.Max = 1.5*stat.Mean, 1.5*stat.Median, 1.5*stat.Max
		more.Percentiles, more.Shown = nil, nil
		for _, p := range stat.Shown {
			more.Shown = append(more.Shown, metrics.Percentile{P: p.P, Value: 1.5 * p.Value})
		}
		*stat = more
	}
	return &r
})

// slower has latencies of half as much again.
func slower(h *metrics.Histogram) metrics.Histogram {
	var out metrics.Histogram
	for b := range h.Buckets() {
		for range b.Count {
			out.Add(b.From * 3 / 2)
		}
	}
	return out
}
