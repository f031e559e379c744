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
		{metrics.Answer{}, 0, false}, {metrics.Answer{Saturates: true, From: 10, To: 10.8}, 10.4, true}, {metrics.Answer{Saturates: true, From: 10, To: 12}, 0, false},
	} {
		if got, ok := c.answer.At(); got != c.want || ok != c.close {
			t.Errorf("%+v: %v, %t", c.answer, got, ok)
		}
	}
	rate, users := metrics.LoadLevel{Offered: 8, Completed: 0.5}, metrics.LoadLevel{Offered: 8, Completed: 0.5, Users: true}
	if rate.Achieved() != 4 || users.Achieved() != 8 {
		t.Errorf("achieved %v req/s and %v users", rate.Achieved(), users.Achieved())
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
