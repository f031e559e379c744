package loadgen

import (
	"math"
	"slices"
	"testing"
	"time"

	"benchtop/datasets/numpy"
	"benchtop/metrics"
)

func legacy(seed uint32) *numpy.Legacy { return numpy.NewLegacy(seed) }

func TestGammaOffsets(t *testing.T) {
	for _, c := range []struct {
		burstiness float64
		want       []float64
	}{
		{1, []float64{0.09225866, 0.237847554, 0.34486861, 0.436121845, 0.5}},
		{0.5, []float64{0.078640916, 0.176494368, 0.222924139, 0.272457924, 0.5}},
		{2, []float64{0.170861916, 0.245289591, 0.425737339, 0.448898273, 0.5}},
		{math.Inf(1), []float64{0.1, 0.2, 0.3, 0.4, 0.5}},
	} {
		got := gammaOffsets(5, 10, c.burstiness, legacy(0))
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("burstiness %v: offset %d = %v s, want %v", c.burstiness, i, got[i], c.want[i])
			}
		}
	}
	if got := Gamma(3, math.Inf(1), 1, nil); !slices.Equal(got, make([]time.Duration, 3)) {
		t.Errorf("infinite rate: %v", got)
	}
}

// Arrivals never decrease, stay inside the duration, and come at the rate the ramp asks for at each moment.
func TestRampInTime(t *testing.T) {
	for _, r := range []metrics.Ramp{
		{Strategy: "linear", From: 100, To: 500, Over: 40 * time.Second},
		{Strategy: "linear", From: 500, To: 100, Over: 40 * time.Second},
		{Strategy: "linear", From: 300, To: 300, Over: 40 * time.Second},
		{Strategy: "linear", From: 0, To: 400, Over: 40 * time.Second},
		{Strategy: "exponential", From: 50, To: 800, Over: 40 * time.Second},
		{Strategy: "exponential", From: 300, To: 300, Over: 40 * time.Second},
	} {
		got := RampInTime(r, 60*time.Second, 1, legacy(7))
		if !slices.IsSorted(got) || got[0] < 0 || got[len(got)-1] >= 60*time.Second {
			t.Fatalf("%+v: offsets not sorted inside the duration", r)
		}
		for from := time.Duration(0); from < 60*time.Second; from += 5 * time.Second {
			want := 0.0
			for k := range 100 {
				want += r.RateAt(from+time.Duration(k)*50*time.Millisecond+25*time.Millisecond) * 0.05
			}
			n := 0
			for _, o := range got {
				if o >= from && o < from+5*time.Second {
					n++
				}
			}
			if d := math.Abs(float64(n) - want); d > 5*math.Sqrt(want)+2 {
				t.Errorf("%+v: %d arrivals from %s on, want about %.0f", r, n, from, want)
			}
		}
	}
}
