package panels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
)

// aged is a run of so many seconds with some first tokens in each.
func aged(r *rand.Rand, seconds int) metrics.Snapshot {
	s := metrics.Snapshot{Plan: &metrics.Plan{}, State: metrics.Running, At: time.Duration(seconds) * time.Second}
	for i := range seconds {
		w := &metrics.Window{Start: time.Duration(i) * time.Second}
		for range r.IntN(4) {
			w.Histograms[metrics.TTFT].Add(time.Duration(r.IntN(5_000_000)) * time.Microsecond)
		}
		s.Windows = append(s.Windows, w)
	}
	return s
}

// Seconds that share a column have the percentile of all their latencies: the mean of theirs would show the few slow
// ones of a quiet second as if they were many.
func TestPercentileOfSharedColumn(t *testing.T) {
	s := metrics.Snapshot{Plan: &metrics.Plan{}, State: metrics.Finished, At: 100 * time.Second}
	for i := range 100 {
		w := &metrics.Window{Start: time.Duration(i) * time.Second}
		n, took := 99, 10*time.Millisecond
		if i%2 == 1 {
			n, took = 1, time.Second
		}
		for range n {
			w.Histograms[metrics.TTFT].Add(took)
		}
		s.Windows = append(s.Windows, w)
	}
	v := &View{Snapshot: &s}
	p := percentileLines(v, metrics.TTFT)
	for _, c := range []struct {
		w        int // cells
		n        int
		most     time.Duration // of the median
		unshared bool
	}{{5, 10, 11 * time.Millisecond, false}, {50, 100, time.Second + 20*time.Millisecond, true}} {
		at, ws, end := v.overTime()
		lines := chartLines(p.series, v.sharing(ws, at.Group(2*c.w)), end, at, merges{})
		if len(lines) != 3 || len(lines[2].Points) != c.n {
			t.Fatalf("%d cells: %d points, want %d", c.w, len(lines[2].Points), c.n)
		}
		top := 0.0
		for _, pt := range lines[2].Points {
			top = max(top, pt.Value)
		}
		if got := number.Seconds(top); got > c.most || c.unshared != (got > 900*time.Millisecond) {
			t.Errorf("%d cells: median up to %v, want at most %v", c.w, got, c.most)
		}
	}
}

// A chart of minutes shows what a chart of their seconds shows.
func TestMinutesShowTheirSeconds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := aged(r, 9000)
	s.State = metrics.Finished
	for i := range s.Windows {
		w := s.Windows[i]
		w.TokensOut, w.Sent, w.Running, w.Waiting = r.IntN(1000), r.IntN(30), r.IntN(64), r.IntN(9)
		at := w.Start + time.Second + 3*time.Millisecond
		s.Server = append(s.Server, metrics.ServerSecond{At: at, Took: time.Second, Running: float64(r.IntN(64)),
			KVUsage: r.Float64(), PromptTokens: float64(r.IntN(900)), OutputTokens: float64(r.IntN(900))})
		s.Client = append(s.Client, metrics.ClientSecond{At: at, Took: time.Second, CPU: 4 * r.Float64(), Cores: 4,
			Sent: 1, LateP99: time.Duration(1 + r.IntN(1e6)), LateMax: time.Millisecond})
		s.GPUs = append(s.GPUs, metrics.GPUSecond{At: at, Took: time.Second,
			GPUs: []metrics.GPU{{Use: r.Float64(), Power: 700 * r.Float64()}}})
	}
	joined := s
	joined.Minutes = joined.Minutes.Follow(&s, 0)
	if len(joined.Minutes.Windows) < 149 {
		t.Fatalf("%d minutes", len(joined.Minutes.Windows))
	}
	for name, build := range map[string]func(*View) plot{
		"tokens": tokensPlot, "rate": ratePlot, "TTFT": func(v *View) plot { return percentileLines(v, metrics.TTFT) },
		"cpu": cpuPlot, "lateness": latenessPlot,
		"server": func(v *View) plot {
			return plot{v: v, series: []series{v.serverLine("running", 0, serverRunning), v.serverLine("kv", 0, kvUsed),
				v.serverLine("out", 0, serverOutput)}}
		},
		"gpu": func(v *View) plot {
			use := func(g *metrics.GPU) float64 { return g.Use }
			return plot{v: v,
				series: []series{
					{value: gpuValue(v, use, func(sum float64, n int) float64 { return sum / float64(n) })}}}
		},
	} {
		points := func(s *metrics.Snapshot) (out []chart.Line) {
			v := &View{Snapshot: s}
			at, ws, end := v.overTime()
			group := at.Group(60)
			assert.Need(t, group%60, 0, "groups of %ds", group)
			return chartLines(build(v).series, v.sharing(ws, group), end, at, merges{})
		}
		slow, fast := points(&s), points(&joined)
		for i := range slow {
			if len(slow[i].Points) != len(fast[i].Points) || len(slow[i].Points) < 40 {
				t.Fatalf("%s: %d and %d points", name, len(slow[i].Points), len(fast[i].Points))
			}
			for k, a := range slow[i].Points {
				b := fast[i].Points[k]
				if a.At != b.At || math.Abs(a.Value-b.Value) > 0.01*math.Abs(a.Value) {
					t.Errorf("%s %s: %v by seconds, %v by minutes", name, slow[i].Name, a, b)
				}
			}
		}
	}
	at, ws, end := (&View{Snapshot: &s}).overTime()
	var ttft metrics.Histogram
	for i := range s.Windows {
		ttft.Merge(&s.Windows[i].Histograms[metrics.TTFT])
	}
	slow, fast := &View{Snapshot: &s}, &View{Snapshot: &joined}
	axis := slow.latencyAxis(10, &ttft)
	if a, b := slow.heatCells(60, at, ws, end, latencyBins(metrics.TTFT, axis, merges{})),
		fast.heatCells(60, at, ws, end, latencyBins(metrics.TTFT, axis, merges{})); !cmp.Equal(a, b,
		cmpopts.EquateApprox(1e-9, 0)) {
		t.Errorf("heat map %s", cmp.Diff(a, b))
	}
}

// A column is merged anew when one of its windows is another.
func TestMergesFollowWindows(t *testing.T) {
	window := func(at time.Duration, samples int) *metrics.Window {
		w := &metrics.Window{Start: at}
		for range samples {
			w.Histograms[metrics.TTFT].Add(time.Millisecond)
		}
		return w
	}
	kept := merges{}
	ws := []*metrics.Window{window(0, 1), window(time.Second, 2), window(2*time.Second, 3)}
	count := func() uint64 { return (&merger{ws, kept}).histogram(metrics.TTFT).Count() }
	assert.Equal(t, count(), 6, "samples")
	first := kept[mergeKey{metrics.TTFT, ws[0], 3}]
	ws = slices.Clone(ws)
	if n := count(); n != 6 || kept[mergeKey{metrics.TTFT, ws[0], 3}] != first {
		t.Errorf("%d samples, want 6, not merged again", n)
	}
	ws[1] = window(time.Second, 5)
	assert.Equal(t, count(), 9, "samples after a change")
}
