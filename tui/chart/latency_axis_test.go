package chart

import (
	"math"
	"strings"
	"testing"
	"time"

	"benchtop/tui/screen"
)

// The shape of a smooth histogram shows no stripes, however many bins there are.
func TestSpreadHasNoStripes(t *testing.T) {
	const buckets = 120
	// even on a logarithmic axis
	at := func(i int) time.Duration { return time.Duration(1e6 * math.Exp(4*float64(i)/buckets)) }
	for n := 14; n < 240; n++ {
		sum := NewLatencyAxis(n, LatencyRange{From: at(0), To: at(buckets), Most: at(buckets)}).Spread()
		for i := range buckets {
			sum.Add(at(i), at(i+1), 1)
		}
		first, last, most, all := -1, -1, 0.0, 0.0
		for x, v := range sum.Bins {
			if most, all = max(most, v), all+v; v > 0 {
				if first < 0 {
					first = x
				}
				last = x
			}
		}
		for x := first + 1; x < last; x++ {
			if sum.Bins[x] < 0.8*most {
				t.Fatalf("%d bins: bin %d holds %g, the fullest %g", n, x, sum.Bins[x], most)
			}
		}
		if math.Abs(all-buckets) > 1e-9 {
			t.Errorf("%d bins hold %v of %d samples", n, all, buckets)
		}
	}
}

// No sample is lost: those beyond the ends of the scale count in its outermost bins, short ones in a bin of their own.
func TestLatencyAxisCountsAllSamples(t *testing.T) {
	const n = 60
	of := LatencyRange{From: 10 * time.Millisecond, To: 90 * time.Millisecond, Most: time.Second}
	for _, c := range []struct {
		name                 string
		axis                 LatencyAxis
		short, first, middle float64 // samples in bin 0, in the first bin of the scale, between, and in the last bin
		last                 float64
	}{
		{"logarithmic", NewLatencyAxis(n, of), 0, 20 + 7, 100, 3},
		{"with short latencies", NewLatencyAxis(n, LatencyRange{of.From, of.To, of.Most, true}), 20, 7, 100, 3},
		{"linear", NewLinearAxis(n, of), 0, 20, 107, 3},
	} {
		sum := c.axis.Spread()
		sum.Add(3*time.Microsecond, 4*time.Microsecond, 20)
		sum.Add(5*time.Millisecond, 6*time.Millisecond, 7)
		sum.Add(40*time.Millisecond, 41*time.Millisecond, 100)
		sum.Add(900*time.Millisecond, 950*time.Millisecond, 3)
		first := c.axis.first
		got := [4]float64{0, sum.Bins[first], 0, sum.Bins[n-1]}
		for x, v := range sum.Bins {
			if x < first {
				got[0] += v
			} else if x > first && x < n-1 {
				got[2] += v
			}
		}
		for i, want := range [4]float64{c.short, c.first, c.middle, c.last} {
			if math.Abs(got[i]-want) > 1e-9 {
				t.Errorf("%s: samples %v, want %v", c.name, got, [4]float64{c.short, c.first, c.middle, c.last})
				break
			}
		}
		if !c.axis.beyond {
			t.Errorf("%s: not marked as going on", c.name)
		}
	}
}

// The ends of an axis are round and close to the range, which is never narrower than a needle's.
func TestLatencyAxisEnds(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct{ from, to, lo, hi time.Duration }{
		{46 * ms, 309 * ms, 30 * ms, 500 * ms}, {15 * ms, 64 * ms, 15 * ms, 70 * ms},
		{19 * ms, 20 * ms, 10 * ms, 50 * ms},
		{0, 0, 1000, 3000}, {0, ms, 1000, ms}, {math.MaxInt64, math.MaxInt64, 1e14, 1e15},
	} {
		if a := NewLatencyAxis(60, LatencyRange{From: c.from, To: c.to, Most: c.to}); a.lo != c.lo || a.hi != c.hi {
			t.Errorf("%s to %s: axis from %s to %s", c.from, c.to, a.lo, a.hi)
		}
	}
}

// Gaps within one read take one row below the scale of charts over time, not half of it.
func TestShortLatenciesOverTime(t *testing.T) {
	const ms = time.Millisecond
	now := TimeAxis{Shown: time.Minute}
	line := func(v time.Duration) Line {
		return Line{Name: "x", Points: []Point{{0, v.Seconds()}, {time.Minute, v.Seconds()}}}
	}
	plot := drawn(axisWidth+20, 8, screen.Terminal{},
		Plot{Time: now, Log: true, Lines: []Line{line(4 * time.Microsecond), line(40 * ms)}}.Draw)
	axis := NewLatencyAxis(16, LatencyRange{From: 10 * ms, To: 60 * ms, Most: 60 * ms, Short: true})
	sum := axis.Spread()
	sum.Add(4*time.Microsecond, 5*time.Microsecond, 9)
	sum.Add(40*ms, 41*ms, 9)
	heat := drawn(axisWidth+20, 8, screen.Terminal{Filled: true},
		Heat{Time: now, Axis: axis, Cells: [][]float64{sum.Bins}}.Draw)
	for name, rows := range map[string][]string{"plot": plot, "heat map": heat} {
		if last := rows[7]; !strings.HasPrefix(last, shortName+" ") || strings.TrimSpace(last) == shortName {
			t.Errorf("%s: the last row is %q\n%s", name, last, strings.Join(rows, "\n"))
		}
	}
}

// A share has its colour whatever the others are, 0 among them; where there is none, nothing is drawn.
func TestHeatOfShares(t *testing.T) {
	cells := [][]float64{{0}, {0.3}, nil, {0.9}}
	got := drawn(axisWidth+10, 1, screen.Terminal{ASCII: true},
		Heat{Time: TimeAxis{Shown: time.Minute}, Names: []string{"0  30"}, Cells: cells, Shares: true}.Draw)
	if want := "0  30 .: #"; strings.TrimRight(got[0], " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
