package shape

import (
	"errors"
	"fmt"
	"math"
	"time"

	"benchtop/datasets/numpy"
	"benchtop/metrics"
)

// TimedRamp is a rate that changes with time and stays at its last value when the ramp is over.
type TimedRamp struct{ Ramp }

// NewTimedRamp ends the load with the ramp, unless a duration or a number of requests was asked for.
func NewTimedRamp(b Bounds, line metrics.Ramp, burstiness float64) TimedRamp {
	if b.Duration == 0 && !b.Asked {
		b.Duration = line.Over
	}
	return TimedRamp{Ramp{b, line, burstiness}}
}

// Validate reports a ramp that cannot be, or has too many requests.
func (r TimedRamp) Validate() []error {
	all := validateLine(r.Line)
	if r.Asked && r.Count == 0 && r.Duration == 0 {
		all = append(all, errors.New("--num-prompts 0 with --ramp-over: say with --duration when the run ends, as nobody knows yet how many rows there are"))
	}
	if len(all) > 0 {
		return all
	}
	// More than any ramp would send.
	most := (r.Line.From+r.Line.To)/2*r.Line.Over.Seconds() + r.Line.To*max(0, (r.Duration-r.Line.Over).Seconds())
	return r.tooMany(most)
}

// Times draws the arrivals up to the end, at most MostArrivals.
func (r TimedRamp) Times(draws *numpy.Legacy) []time.Duration {
	end := r.Duration
	if end == 0 { // the number ends it; gaps may be long
		end = r.Line.Over + time.Minute + time.Duration(min(10*float64(r.Count)/r.Line.To, LongestRun.Seconds())*float64(time.Second))
	}
	inverse := func(n float64) time.Duration { return Nanoseconds(rampInverse(r.Line, n)) }
	return r.cut(mapArrivals(inverse, end, MostArrivals, r.Burstiness, draws))
}

// rampInverse is the time in seconds by which n arrivals are expected.
func rampInverse(r metrics.Ramp, n float64) float64 {
	over := r.Over.Seconds()
	var total, inside float64 // arrivals expected in the whole ramp, time inside the ramp
	if r.Strategy == "exponential" && r.From != r.To {
		k := math.Log(r.To/r.From) / over
		total = (r.To - r.From) / k
		inside = math.Log1p(n*k/r.From) / k
	} else {
		slope := (r.To - r.From) / over
		total = (r.From + r.To) / 2 * over
		// The root of slope/2·t² + from·t = n, in the form that does not cancel for small slopes.
		inside = 2 * n / (r.From + math.Sqrt(max(0, r.From*r.From+2*slope*n)))
	}
	if n <= total {
		return inside
	}
	return over + (n-total)/r.To
}

// Arrivals are the times of the ramp.
func (r TimedRamp) Arrivals(rows int, times []time.Duration, _ *numpy.Legacy) Arrivals {
	return r.Bounds.Arrivals(rows, times, nil)
}

// Describe is the rates, and in which time they change.
func (r TimedRamp) Describe(int) string {
	return fmt.Sprintf("%s ramp %g to %g req/s over %s%s", r.Line.Strategy, r.Line.From, r.Line.To, metrics.Duration(r.Line.Over), r.atMost())
}

func (r TimedRamp) enter(p *metrics.Plan, _ int) {
	p.Ramp = &r.Line
	r.count(p)
}
