package cli

import (
	"testing"
	"time"

	"benchtop/metrics"
)

// What was never sent is known as long as the number of prompts ends the run, whoever set the load.
func TestUnsent(t *testing.T) {
	for _, c := range []struct {
		name     string
		duration time.Duration
		changes  int
		want     int
	}{
		{"as planned", time.Minute, 0, 60},
		{"steered, the clock ends it", time.Minute, 1, 0},
		{"steered, the prompts end it", 0, 1, 60},
	} {
		plan := metrics.Plan{Requests: 60, Duration: c.duration}
		s := &session{plan: plan}
		s.helm = &helm{session: s, state: metrics.Steering{Changes: c.changes}}
		if got := s.unsent(0); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
