package shape

import (
	"math"
	"slices"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
	"benchtop/metrics"
)

func legacy(seed uint32) *numpy.Legacy { return numpy.NewLegacy(seed) }

// Numbers at the edge of their range give offsets that are sorted, not in the past, and no more than asked for.
func TestExtremeArrivals(t *testing.T) {
	inf, never := math.Inf(1), time.Duration(math.MaxInt64)
	linear := metrics.Ramp{Strategy: "linear", From: 0, To: 4}
	for _, c := range []struct {
		name      string
		got, want []time.Duration
	}{
		{"no requests", Rate{PerSecond: 1, Burstiness: 1}.Offsets(0, legacy(0)), []time.Duration{}},
		{"fewer than none", Rate{PerSecond: 1, Burstiness: 1}.Offsets(-1, legacy(0)), []time.Duration{}},
		{"all at once draws nothing", Rate{PerSecond: metrics.Rate(inf), Burstiness: 1}.Offsets(3, nil),
			make([]time.Duration, 3)},
		{"a rate of next to nothing", Rate{PerSecond: 1e-300, Burstiness: inf}.Offsets(2, nil),
			[]time.Duration{never, never}},
		{"no rate", Rate{PerSecond: 0, Burstiness: 1}.Offsets(2, nil), []time.Duration{never, never}},
		{"a negative rate", Rate{PerSecond: -1, Burstiness: 1}.Offsets(2, nil), []time.Duration{never, never}},
		{"no number", Rate{PerSecond: metrics.Rate(math.NaN()), Burstiness: 1}.Offsets(2, nil),
			[]time.Duration{never, never}},
		{"gaps that are all zero", Rate{PerSecond: 1, Burstiness: 1e-300}.Offsets(2, legacy(0)), []time.Duration{0, 0}},
		{"a ramp from nothing never begins", Ramp{Line: linear, Burstiness: 1}.Offsets(2, legacy(0)),
			[]time.Duration{never, never}},
		{"a ramp of one", Ramp{Line: metrics.Ramp{Strategy: "linear", From: 4, To: 8}, Burstiness: inf}.Offsets(1, nil),
			[]time.Duration{250 * time.Millisecond}},
		{"a ramp of none", Ramp{Line: linear, Burstiness: 1}.Offsets(0, nil), []time.Duration{}},
		{"a ramp in no time", NewTimedRamp(Bounds{Duration: 700 * time.Millisecond},
			metrics.Ramp{Strategy: "linear", From: 1, To: 4}, inf).Times(nil),
			[]time.Duration{250 * time.Millisecond, 500 * time.Millisecond}},
		{"nothing but pauses",
			NewStages(Bounds{}, []metrics.Stage{{Length: time.Hour}, {Start: time.Hour, Length: time.Hour}},
				inf).Times(nil), nil},
	} {
		assert.EqualAll(t, c.got, c.want, "%s", c.name)
	}
}

// Memory is bounded at any rate and for any time.
func TestMostArrivals(t *testing.T) {
	calls := 0
	at := func(float64) time.Duration { calls++; return 0 }
	if got := mapArrivals(at, time.Second, 1000, math.Inf(1), nil); len(got) != 1000 || calls != 1000 {
		t.Errorf("%d offsets after %d arrivals, want 1000", len(got), calls)
	}
}

// Seconds become the nearest nanosecond: 0.29 s is not 289999999 ns.
func TestNanoseconds(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    time.Duration
	}{
		{0.29, 290 * time.Millisecond}, {0.57, 570 * time.Millisecond}, {1.1, 1100 * time.Millisecond}, {1e-9, 1},
		{1.4e-9, 1}, {1.6e-9, 2},
		{86400.000000001, 86400*time.Second + 1}, {0, 0}, {-0.29, -290 * time.Millisecond},
		{1e300, math.MaxInt64}, {math.Inf(1), math.MaxInt64}, {math.NaN(), math.MaxInt64},
		{math.Inf(-1), math.MinInt64},
	} {
		assert.Equal(t, Nanoseconds(c.seconds), c.want, "%v s in ns", c.seconds)
	}
}

// Regular arrivals show where stages begin and end: one that falls on an edge belongs to the next.
func TestRegularStages(t *testing.T) {
	sec := time.Second
	stages := []metrics.Stage{
		{Start: 0, Length: 2 * sec, Load: metrics.Load{Value: 2}},
		{Start: 2 * sec, Length: 3 * sec}, // a pause
		// the arrival of 2 s, held over the pause, and one 2 s later that is outside
		{Start: 5 * sec, Length: 2 * sec, Load: metrics.Load{Value: 0.5}},
		// after a hole of 1 s, with the one that was outside at its start
		{Start: 8 * sec, Length: sec, Load: metrics.Load{Value: 4}},
	}
	ms := func(all ...int) []time.Duration {
		return metrics.Each(all, func(n int) time.Duration { return time.Duration(n) * time.Millisecond })
	}
	for _, c := range []struct {
		n    int
		want []time.Duration
	}{
		{1, ms(500, 1000, 1500)},
		{2, ms(500, 1000, 1500)},
		{3, ms(500, 1000, 1500, 5000)},
		{4, ms(500, 1000, 1500, 5000, 8000, 8250, 8500, 8750)},
	} {
		assert.EqualAll(t, NewStages(Bounds{}, stages[:c.n], math.Inf(1)).Times(nil), c.want, "%d stages", c.n)
	}
}

// The arrivals of a stage come at its rate, those of a pause not at all, and their spread is that of the burstiness.
func TestStages(t *testing.T) {
	stages := []metrics.Stage{
		{Start: 0, Length: 20 * time.Second, Load: metrics.Load{Value: 100}},
		{Start: 20 * time.Second, Length: 10 * time.Second},
		{Start: 30 * time.Second, Length: 20 * time.Second, Load: metrics.Load{Value: 400}},
		{Start: 50 * time.Second, Length: 10 * time.Second, Load: metrics.Load{Value: 50}},
	}
	for _, burstiness := range []float64{0.25, 1, 4} {
		got := NewStages(Bounds{}, stages, burstiness).Times(legacy(3))
		if !slices.IsSorted(got) || got[0] < 0 || got[len(got)-1] >= time.Minute {
			t.Fatalf("burstiness %v: offsets not sorted inside the stages", burstiness)
		}
		for i, s := range stages {
			n := 0
			for _, at := range got {
				if at >= s.Start && at < s.End() {
					n++
				}
			}
			// The number in a stage has the variance mean/burstiness.
			want := s.Rate() * s.Length.Seconds()
			if math.Abs(float64(n)-want) > 4*math.Sqrt(want/burstiness) {
				t.Errorf("burstiness %v, stage %d: %d arrivals, want about %.0f", burstiness, i, n, want)
			}
		}
	}
}

// One stage is a ramp that does not change.
func TestOneStageIsAFlatRamp(t *testing.T) {
	got := NewStages(Bounds{}, []metrics.Stage{{Length: time.Minute, Load: metrics.Load{Value: 20}}},
		1).Times(legacy(5))
	want := NewTimedRamp(Bounds{}, metrics.Ramp{Strategy: "linear", From: 20, To: 20, Over: time.Minute},
		1).Times(legacy(5))
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%d and %d arrivals", len(got), len(want))
	}
	for i := range got {
		if d := got[i] - want[i]; d < -1 || d > 1 {
			t.Errorf("arrival %d at %s and %s", i, got[i], want[i])
		}
	}
}

// Arrivals never decrease, stay inside the duration, and come at the rate the ramp asks for at each moment.
func TestTimedRamp(t *testing.T) {
	for _, r := range []metrics.Ramp{
		{Strategy: "linear", From: 100, To: 500, Over: 40 * time.Second},
		{Strategy: "linear", From: 500, To: 100, Over: 40 * time.Second},
		{Strategy: "linear", From: 300, To: 300, Over: 40 * time.Second},
		{Strategy: "linear", From: 0, To: 400, Over: 40 * time.Second},
		{Strategy: "exponential", From: 50, To: 800, Over: 40 * time.Second},
		{Strategy: "exponential", From: 300, To: 300, Over: 40 * time.Second},
	} {
		got := NewTimedRamp(Bounds{Duration: 60 * time.Second}, r, 1).Times(legacy(7))
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

// The gaps of a steered load have the right mean at any burstiness, and leave the draws of the plan alone.
func TestGaps(t *testing.T) {
	for _, burstiness := range []float64{.5, 1, 4, math.Inf(1), 0, math.NaN()} {
		draw := Gaps(burstiness, numpy.NewLegacy(1))
		const n = 20_000
		sum := 0.0
		for range n {
			g := draw()
			if !(g >= 0) {
				t.Fatalf("burstiness %v: a gap of %v", burstiness, g)
			}
			sum += g
		}
		if mean := sum / n; math.Abs(mean-1) > .05 {
			t.Errorf("burstiness %v: a mean gap of %v, want 1", burstiness, mean)
		}
	}
}
