package chart

import (
	"math"
	"testing"
	"time"
)

// The shape of a smooth histogram shows no stripes, however many bins there are.
func TestSpreadHasNoStripes(t *testing.T) {
	const buckets = 120
	at := func(i int) time.Duration { return time.Duration(1e6 * math.Exp(4*float64(i)/buckets)) } // even on a logarithmic axis
	for n := 14; n < 240; n++ {
		sum := NewLatencyAxis(n, LatencyRange{at(0), at(buckets), at(3)}).Spread()
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

// A few early samples get no room of their own and are not lost; where they are usual, they do.
func TestLatencyAxisCutsEarlySamples(t *testing.T) {
	ax := NewLatencyAxis(60, LatencyRange{3 * time.Microsecond, 20 * time.Millisecond, 10 * time.Millisecond})
	if !ax.cut || ax.lo != 10*time.Millisecond {
		t.Errorf("axis from %s, cut %v; want from 10ms, cut", ax.lo, ax.cut)
	}
	sum := ax.Spread()
	sum.Add(3*time.Microsecond, 4*time.Microsecond, 20)
	sum.Add(9*time.Millisecond, 11*time.Millisecond, 100)
	all := 0.0
	for _, v := range sum.Bins {
		all += v
	}
	if math.Abs(all-120) > 1e-9 || sum.Bins[0] < 20 {
		t.Errorf("%v of 120 samples, %v in the first bin", all, sum.Bins[0])
	}
	ax = NewLatencyAxis(60, LatencyRange{3 * time.Microsecond, 20 * time.Millisecond, 3 * time.Microsecond})
	if ax.cut || ax.lo > 3*time.Microsecond {
		t.Errorf("axis from %s, cut %v; want all of it", ax.lo, ax.cut)
	}
}
