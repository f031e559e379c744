package metrics_test

import (
	"math"
	"testing"

	"benchtop/metrics"
)

func TestAnswerAt(t *testing.T) {
	for _, c := range []struct {
		answer metrics.Answer
		want   float64
		close  bool
	}{
		{metrics.Answer{}, 0, false},
		{metrics.Answer{Saturates: true, Capacity: metrics.Range{Load: 10.4, Low: 10, High: 11}}, 10.4, true},
		{metrics.Answer{Saturates: true, Capacity: metrics.Range{Load: 10.4, Low: 10, High: 12}}, 0, false},
		{metrics.Answer{Capacity: metrics.Range{Load: 10.4, Low: 10, High: 11}}, 0, false},
	} {
		if got, ok := c.answer.At(); got != c.want || ok != c.close {
			t.Errorf("%+v: %v, %t", c.answer, got, ok)
		}
	}
	proven := metrics.TierAnswer{Proven: 8, Estimate: metrics.Range{Load: 9}}
	estimate := metrics.TierAnswer{Estimate: metrics.Range{Load: 9}}
	a := metrics.Answer{TierAnswer: proven, Others: []metrics.TierAnswer{estimate}}
	for i, want := range []float64{8, 9, 8} { // a tier that is missing is the first
		if of := a.Tier(i); of.Highest() != want {
			t.Errorf("tier %d: %v, want %v", i, of.Highest(), want)
		}
	}
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		now, before, want float64
		ok                bool
	}{{112, 100, 0.12, true}, {100.01, 100, 0, true}, {1, 0, 0, false}, {math.NaN(), 1, 0, false}, {1, math.Inf(1), 0, false}} {
		if got, ok := metrics.Change(c.now, c.before); ok != c.ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v after %v: %v, %t", c.now, c.before, got, ok)
		}
	}
}

func TestConclusionOf(t *testing.T) {
	for reason, want := range map[string]metrics.Conclusion{metrics.AbortedByUser: metrics.Aborted, metrics.EndedBySIGTERM: metrics.Terminated,
		metrics.TerminalLost: metrics.HungUp, metrics.StoppedByUser: metrics.Fine} {
		if got := metrics.ConclusionOf(reason); got != want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}
