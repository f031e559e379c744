package export

import (
	"math"
	"time"

	"benchtop/metrics"
)

// rateStep is the moment when the whole part of a ramp's rate rose to rps.
type rateStep struct {
	rps int
	at  time.Duration
}

// mostRateSteps bounds the list, because the rates of a plan that was read from a file are foreign numbers.
const mostRateSteps = 10_000

// rateSteps lists the whole rates a ramp over the requests went through; nil for any other load. A report does not keep
// when each request was due, only how many were due in each second: within a second they are taken to be spread evenly.
func rateSteps(r *metrics.Report) []rateStep {
	ramp := r.Plan.Ramp
	if ramp == nil || ramp.Over > 0 {
		return nil
	}
	last := wholeRate(ramp.From)
	steps := []rateStep{{last, 0}}
	index := 0
	for _, w := range r.Timeline {
		for k := range w.Due {
			rate := wholeRate(rateOf(ramp, index, r.Plan.Requests))
			at := w.Start + time.Second*time.Duration(k)/time.Duration(w.Due)
			for ; last < rate && len(steps) < mostRateSteps; last++ {
				steps = append(steps, rateStep{last + 1, at})
			}
			index++
		}
	}
	return steps
}

// rateOf is the rate before request index of n.
func rateOf(ramp *metrics.Ramp, index, n int) float64 {
	p := float64(index) / float64(max(n-1, 1))
	if ramp.Strategy == "exponential" {
		return ramp.From * math.Pow(ramp.To/ramp.From, p)
	}
	return ramp.From + (ramp.To-ramp.From)*p
}

func wholeRate(v float64) int {
	if math.IsNaN(v) {
		return 0
	}
	return int(min(max(v, 0), 1e9))
}
