package panels

import (
	"testing"
	"time"

	"benchtop/metrics"
)

// Figures of a span leave out the warm-up: one that holds all the rest has the figures of the whole run. Charts show it all.
func TestSpanOverWarmup(t *testing.T) {
	const warmup = 10
	run := func(seconds int) *metrics.Snapshot {
		s := &metrics.Snapshot{At: time.Duration(seconds) * time.Second, State: metrics.Running, Plan: &metrics.Plan{
			Warmup: warmup * time.Second, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}},
		}}
		for i := range seconds {
			w := metrics.Window{Start: time.Duration(i) * time.Second, Counts: metrics.Counts{Completed: 1}, TokensOut: 10}
			w.Histograms[metrics.TTFT].Add(time.Second)
			w.Histograms[metrics.SlotWait].Add(time.Second)
			w.TTFTParts = metrics.TTFTParts{N: 1, TTFT: time.Second}
			if i >= warmup {
				w.Good = 1
				s.Histograms[metrics.TTFT].Merge(&w.Histograms[metrics.TTFT])
				s.Histograms[metrics.SlotWait].Merge(&w.Histograms[metrics.SlotWait])
				s.Totals.Completed++
				s.Totals.Good++
				s.Totals.OutputTokens += 10
			}
			s.Windows = append(s.Windows, w)
			at := time.Duration(i+1) * time.Second
			s.Server = append(s.Server, metrics.ServerSecond{At: at, Took: time.Second, Preemptions: 1})
			s.GPUs = append(s.GPUs, metrics.GPUSecond{At: at, Took: time.Second, GPUs: []metrics.GPU{{Power: 1}}})
		}
		return s
	}
	for _, c := range []struct {
		name       string
		s          *metrics.Snapshot
		span, back time.Duration
		whole      bool
		n, good    int
		energy     float64
		shown      int // seconds of the charts
	}{
		{"over all", run(30), time.Minute, 0, false, 20, 20, 20, 30},
		{"into it", run(30), 25 * time.Second, 0, false, 20, 20, 20, 25},
		{"whole", run(30), time.Minute, 0, true, 20, 20, 20, 30},
		{"after it", run(30), 15 * time.Second, 0, false, 15, 15, 15, 15},
		{"into it, scrolled", run(30), 15 * time.Second, 10 * time.Second, false, 10, 10, 10, 15},
		{"in it", run(30), 5 * time.Second, 22 * time.Second, false, 5, 0, 5, 5},
		{"still warming up", run(8), time.Minute, 0, false, 8, 0, 8, 8},
	} {
		v := &View{Snapshot: c.s, Span: c.span, Back: c.back, Whole: c.whole}
		if got := v.latencyRow(metrics.TTFT).hist.Count(); int(got) != c.n {
			t.Errorf("%s: %d of TTFT, want %d", c.name, got, c.n)
		}
		if got := v.latencyRow(metrics.SlotWait).hist.Count(); int(got) != c.n {
			t.Errorf("%s: %d held, want %d", c.name, got, c.n)
		}
		if got := v.totals(); got.Completed != c.n || got.Good != c.good {
			t.Errorf("%s: %d good of %d, want %d of %d", c.name, got.Good, got.Completed, c.good, c.n)
		}
		if got := total(v.serverSpan(), preempted); int(got) < c.n || int(got) > c.n+1 { // a sample at the very end is of the time before
			t.Errorf("%s: %g preemptions, want %d", c.name, got, c.n)
		}
		if got := v.split().N; got != c.n {
			t.Errorf("%s: where TTFT of %d went, want %d", c.name, got, c.n)
		}
		if got := gpuUse(v); got.Energy != c.energy || got.JoulesPerToken != 0.1 {
			t.Errorf("%s: %g J, %g a token, want %g J and 0.1", c.name, got.Energy, got.JoulesPerToken, c.energy)
		}
		if got := len(v.selected().closed); got != c.shown {
			t.Errorf("%s: charts show %d s, want %d", c.name, got, c.shown)
		}
	}
}
