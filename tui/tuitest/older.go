package tuitest

import (
	"sync"

	"benchtop/metrics"
)

// Older is the report of a run to compare with: the ramp on a server that is a third slower.
var Older = sync.OnceValue(func() *metrics.Report {
	s := Done()
	r := *s.Report
	r.Timeline = nil
	for _, w := range s.Windows {
		w.TokensOut, w.TokensIn, w.Completed = w.TokensOut*2/3, w.TokensIn*2/3, w.Completed*2/3
		w.Running, w.Waiting = w.Running*4/3, w.Waiting*4/3
		w.Histograms[metrics.TTFT], w.Histograms[metrics.ITL] = slower(&w.Histograms[metrics.TTFT]), slower(&w.Histograms[metrics.ITL])
		r.Timeline = append(r.Timeline, w)
	}
	r.Histograms[metrics.TTFT], r.Histograms[metrics.ITL], r.Histograms[metrics.TPOT], r.Histograms[metrics.E2EL] = slower(&s.Histograms[metrics.TTFT]), slower(&s.Histograms[metrics.ITL]), slower(&s.Histograms[metrics.TPOT]), slower(&s.Histograms[metrics.E2EL])
	r.Histograms[metrics.FirstAnswer], r.Histograms[metrics.SlotWait], r.Histograms[metrics.ScheduledLatency] = slower(&s.Histograms[metrics.FirstAnswer]), slower(&s.Histograms[metrics.SlotWait]), slower(&s.Histograms[metrics.ScheduledLatency])
	for _, stat := range []*metrics.Statistic{&r.Statistics[metrics.TTFT], &r.Statistics[metrics.TPOT], &r.Statistics[metrics.ITL], &r.Statistics[metrics.E2EL]} {
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
