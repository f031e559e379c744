package panels

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
)

// aged is a run of so many seconds with some first tokens in each.
func aged(r *rand.Rand, seconds int) metrics.Snapshot {
	s := metrics.Snapshot{Plan: &metrics.Plan{}, State: metrics.Running, At: time.Duration(seconds) * time.Second}
	for i := range seconds {
		w := metrics.Window{Start: time.Duration(i) * time.Second}
		for range r.IntN(4) {
			w.Histograms[metrics.TTFT].Add(time.Duration(r.IntN(5_000_000)) * time.Microsecond)
		}
		s.Windows = append(s.Windows, w)
	}
	return s
}

// sameHistogram compares all counts.
func sameHistogram(a, b *metrics.Histogram) bool {
	return a.Count() == b.Count() && a.Mean() == b.Mean() && slices.Equal(slices.Collect(a.Buckets()), slices.Collect(b.Buckets()))
}

// A histogram that is kept from one snapshot to the next equals one merged anew, after any changes in between.
func TestMergedIsNeverOutdated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := aged(r, 600)
	var kept Selections
	span := time.Duration(0)
	ttft := metrics.TTFT
	check := func(step int, s *metrics.Snapshot, group int) {
		t.Helper()
		v := &View{Snapshot: s, Span: span}
		kept.Fill(v)
		for range 2 { // kept within a snapshot as well
			for ws := v.selected().closed; len(ws) > 0; {
				n := sharing(ws, group)
				var want metrics.Histogram
				for i := range ws[:n] {
					want.Merge(&ws[i].Histograms[metrics.TTFT])
				}
				if got := v.merged(ttft, ws[:n], group, false); !sameHistogram(got, &want) {
					t.Fatalf("step %d, groups of %ds: %d samples at %v, want %d", step, group, got.Count(), ws[0].Start, want.Count())
				}
				ws = ws[n:]
			}
		}
	}
	for step := range 200 {
		s := all
		n := 300 + r.IntN(300)
		s.Windows, s.At = slices.Clone(all.Windows[:n]), time.Duration(n)*time.Second
		w := &all.Windows[r.IntN(n)]
		var changed metrics.Histogram // not the one that snapshots share
		changed.Merge(&w.Histograms[metrics.TTFT])
		for b := range changed.Buckets() { // a request failed
			changed.Remove(b.From)
			break
		}
		if r.IntN(2) == 0 {
			changed.Add(time.Duration(r.IntN(5_000_000)) * time.Microsecond)
		}
		w.Histograms[metrics.TTFT] = changed
		span = []time.Duration{0, 5 * time.Minute}[r.IntN(2)]
		check(step, &s, 2+r.IntN(7))
	}
}

// Neither a long run nor a chart of few seconds a column fills the memory.
func TestMergedIsBounded(t *testing.T) {
	s := aged(rand.New(rand.NewPCG(1, 2)), mergesMost+100)
	v := &View{Snapshot: &s}
	for ws := v.selected().closed; len(ws) > 0; ws = ws[1:] {
		v.merged(metrics.TTFT, ws[:1], 1, false)
	}
	if n := len(v.selected().merges.kept); n == 0 || n > mergesMost {
		t.Errorf("%d groups are kept", n)
	}
}

// Seconds that share a column have the percentile of all their latencies: the mean of theirs would show the few slow ones of a
// quiet second as if they were many.
func TestPercentileOfSharedColumn(t *testing.T) {
	s := metrics.Snapshot{Plan: &metrics.Plan{}, State: metrics.Finished, At: 100 * time.Second}
	for i := range 100 {
		w := metrics.Window{Start: time.Duration(i) * time.Second}
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
		lines := p.lines(p.series, ws, end, at, at.Group(2*c.w), false)
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

// A column of two halves equals one merged at once.
func TestHeatOfHalves(t *testing.T) {
	s := aged(rand.New(rand.NewPCG(3, 4)), 4000)
	s.State = metrics.Finished
	v := &View{Snapshot: &s}
	const columns = 54
	at, closed, end := v.overTime()
	if at.Group(columns) <= heatHalved {
		t.Fatalf("groups of %ds", at.Group(columns))
	}
	m, group, samples := metrics.TTFT, at.Group(2*columns), uint64(0)
	for ws := closed; len(ws) > 0; {
		n := sharing(ws, 2*group)
		samples += heatOf(v, m, ws[:n], group).Count()
		ws = ws[n:]
	}
	var want metrics.Histogram
	for i := range s.Windows {
		want.Merge(&s.Windows[i].Histograms[metrics.TTFT])
	}
	if samples != want.Count() {
		t.Errorf("%d samples in all columns, want %d", samples, want.Count())
	}
	for x, column := range v.heatCells(m, v.latencyAxis(10, &want), columns, at, closed, end) {
		if column == nil {
			t.Errorf("column %d is empty", x)
		}
	}
}
