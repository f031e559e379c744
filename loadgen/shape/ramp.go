package shape

import (
	"fmt"
	"math"
	"time"

	"benchtop/datasets/numpy"
	"benchtop/metrics"
)

// Ramp is a rate that changes over the requests, as vLLM's does.
type Ramp struct {
	Bounds
	// Line of the rate; its Over is 0 but in a TimedRamp.
	Line       metrics.Ramp
	Burstiness float64 // as in Rate
}

// Validate reports a ramp that cannot be, or would never begin.
func (r Ramp) Validate() []error {
	return append(validateLine(r.Line), r.Bounds.Validate()...)
}

// validateLine reports what is wrong with the rates of a ramp.
func validateLine(r metrics.Ramp) (all []error) {
	bad := func(format string, a ...any) { all = append(all, fmt.Errorf(format, a...)) }
	for _, x := range []struct {
		name string
		v    float64
	}{{"start", r.From}, {"end", r.To}} {
		switch {
		case math.IsNaN(x.v):
			bad("--ramp-up-strategy: needs --ramp-up-%s-rps, a number of requests per second", x.name)
		case x.v < 0 || math.IsInf(x.v, 0):
			bad("--ramp-up-%s-rps %g: must be a rate of 0 or more", x.name, x.v)
		}
	}
	switch {
	case r.From > r.To:
		bad("--ramp-up-start-rps %g: must not be more than --ramp-up-end-rps %g", r.From, r.To)
	case r.To == 0:
		bad("--ramp-up-end-rps 0: nothing would be sent")
	case r.From == 0 && r.Strategy == "exponential":
		bad("--ramp-up-start-rps 0: an exponential ramp cannot start at 0")
	case r.From == 0 && r.Over == 0:
		bad("--ramp-up-start-rps 0: a ramp over the requests would never send the first; start from 1, or add --ramp-over 60s")
	}
	return all
}

// Arrivals are as many as the data set has conversations, and end with the duration.
func (r Ramp) Arrivals(rows int, _ []time.Duration, draws *numpy.Legacy) Arrivals {
	return r.Bounds.Arrivals(rows, r.Offsets(rows, draws), nil)
}

// Offsets draws n arrivals: request i of n has the rate at i/(n-1) of the ramp, whatever the time, and a gap of its own before it.
// Nothing is rescaled. A request with the rate 0 never comes, nor do those after it: its offset is the largest there is.
func (r Ramp) Offsets(n int, draws *numpy.Legacy) []time.Duration {
	return durations(r.seconds(n, draws))
}

// seconds are the offsets in the floating-point arithmetic of the original.
func (r Ramp) seconds(n int, draws *numpy.Legacy) []float64 {
	return sumGaps(n, func(i int) float64 { return gap(r.Line.RateOf(i, n), r.Burstiness, draws) })
}

// Peak is the higher end of the ramp.
func (r Ramp) Peak(requests int) Demand {
	d := r.Bounds.Peak(requests)
	d.RequestsPerSecond = max(r.Line.From, r.Line.To)
	return d
}

// Describe is the rates, and over how many requests they change.
func (r Ramp) Describe(rows int) string {
	return fmt.Sprintf("%s ramp %g to %g req/s over %d requests%s", r.Line.Strategy, r.Line.From, r.Line.To, rows, r.atMost())
}

func (r Ramp) enter(p *metrics.Plan, rows int) {
	r.Line.Requests = rows // though the clock may end it before
	p.Ramp = &r.Line
}
