package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
)

func TestNeeded(t *testing.T) {
	for p, want := range map[float64]int{0: 1, 1: 2, 50: 2, 75: 4, 90: 10, 95: 20, 99: 100, 99.5: 200, 99.9: 1000,
		99.99: 10000, 100: 1, -3: 1, 200: 1} {
		assert.Equal(t, Needed(p), want, "p%v", p)
	}
}

// The observations of the statistic count, gaps for ITL; a gate's percentile counts as the plan's, and once.
func TestTooFew(t *testing.T) {
	of := func(n int, gated []float64, percentiles ...float64) Statistic {
		return Statistic{N: n}.with(percentiles, gated)
	}
	r := Report{Plan: Plan{Metrics: []Latency{TTFT, ITL, TPOT, SlotWait}}}
	r.Statistics[TTFT] = of(42, []float64{99, 97.5}, 50, 99, 99.9)
	r.Statistics[ITL] = of(999, nil, 50, 99, 99.9)
	r.Statistics[E2EL] = of(99, []float64{99.9}, 99) // not asked for, but in a gate
	r.Statistics[SlotWait] = of(5, nil, 99)          // of a run without a limit
	r.Statistics[TPOT] = of(0, nil, 99, 100)
	want := []TooFew{{TTFT, 99, 42, 100}, {TTFT, 99.9, 42, 1000}, {TPOT, 99, 0, 100}, {TPOT, 100, 0, 1},
		{ITL, 99.9, 999, 1000}, {E2EL, 99.9, 99, 1000}}
	if diff := cmp.Diff(want, r.TooFew()); diff != "" {
		t.Error(diff)
	}
}

// with has percentiles without values.
func (s Statistic) with(percentiles, gated []float64) Statistic {
	of := func(p float64) Percentile { return Percentile{P: p} }
	s.Percentiles, s.Gated = Each(percentiles, of), Each(gated, of)
	return s
}
