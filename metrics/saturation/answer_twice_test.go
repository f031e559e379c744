package saturation_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"benchtop/metrics"
)

// The same load twice, the second time too short for a queue: the first time counts.
func TestSaturationOfALoadSetTwice(t *testing.T) {
	s := server{slots: 32, service: 800 * time.Millisecond, first: 60 * time.Millisecond, jitter: 0.1}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 7))
		at := func(ms int, l metrics.LoadSetting) metrics.LogEntry {
			return metrics.LogEntry{At: time.Duration(ms) * time.Millisecond, Set: &l}
		}
		events := []metrics.LogEntry{
			at(12_000, metrics.LoadSetting{Rate: 45, By: metrics.ByUser}), at(17_000, metrics.LoadSetting{Rate: 45, Paused: true, By: metrics.ByUser}),
			at(23_000, metrics.LoadSetting{Rate: 45, By: metrics.ByUser}), at(25_700, metrics.LoadSetting{Rate: 45, RampTo: 10, RampOver: 4 * time.Second, By: metrics.ByUser}),
		}
		arrivals := append(poisson(linear(16, 16, 12*time.Second), r), steered(events, 40*time.Second, r)...)
		report := summarizeSteered(t, metrics.Plan{Rate: 16, Burstiness: 1}, s.serve(arrivals, r), events)
		a := report.Answer
		if !a.Saturates || middle(&a) < 16 || middle(&a) > 45 || a.SaturatedAt != report.Levels[a.After].From {
			t.Errorf("seed %d: %+v\n%+v", seed, a, report.Levels)
		}
	}
}

// Of two levels of the same users the longer one counts.
func TestKneeOfUsersSetTwice(t *testing.T) {
	stages := userStages(4, 16, 64)
	stages = append(stages, metrics.Stage{Start: 30 * time.Second, Length: 3 * time.Second, Users: 64})
	all := closedLoop(stages, time.Second/2, 16)
	events := []metrics.LogEntry{
		setTo(10, metrics.LoadSetting{Users: 16}), setTo(20, metrics.LoadSetting{Users: 64}),
		setTo(29, metrics.LoadSetting{Users: 64, Paused: true}), setTo(30, metrics.LoadSetting{Users: 64}),
	}
	a := summarizeSteered(t, metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 4, Duration: 33 * time.Second}, all, events).Answer
	if !a.Saturates || a.From != 16 || a.SaturatedAt != 20*time.Second {
		t.Errorf("%+v", a)
	}
}
