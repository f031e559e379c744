package metrics_test

import (
	"math"
	"testing"

	. "benchtop/metrics"
)

func TestAnswerAt(t *testing.T) {
	for _, c := range []struct {
		answer Answer
		want   float64
		close  bool
	}{
		{Answer{}, 0, false},
		{Answer{Saturates: true, Capacity: Range{Load: 10.4, Low: 10, High: 11}}, 10.4, true},
		{Answer{Saturates: true, Capacity: Range{Load: 10.4, Low: 10, High: 12}}, 0, false},
		{Answer{Capacity: Range{Load: 10.4, Low: 10, High: 11}}, 0, false},
	} {
		if got, ok := c.answer.At(); got != c.want || ok != c.close {
			t.Errorf("%+v: %v, %t", c.answer, got, ok)
		}
	}
	proven := TierAnswer{Proven: 8, Estimate: Range{Load: 9}}
	estimate := TierAnswer{Estimate: Range{Load: 9}}
	a := Answer{TierAnswer: proven, Others: []TierAnswer{estimate}}
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
	}{{112, 100, 0.12, true}, {100.01, 100, 0, true}, {1, 0, 0, false}, {math.NaN(), 1, 0, false},
		{1, math.Inf(1), 0, false}} {
		if got, ok := Change(c.now, c.before); ok != c.ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v after %v: %v, %t", c.now, c.before, got, ok)
		}
	}
}
