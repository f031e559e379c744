package steering

import (
	"time"

	"benchtop/metrics"
)

// Ramp moves a load in a straight line.
type Ramp struct {
	// From and To in requests per second or users.
	From, To float64
	// Start is a moment of the run, Over how long it takes.
	Start, Over time.Duration
}

// At is the load at a moment, and whether the ramp is over by then.
func (r Ramp) At(now time.Duration) (load float64, over bool) {
	passed := now - r.Start
	if passed >= r.Over {
		return r.To, true
	}
	line := metrics.Ramp{From: r.From, To: r.To, Over: r.Over}
	return line.RateAt(passed), false
}
