package metrics

import (
	"cmp"
	"math"
	"time"
)

// Ramp is a rate that changes over the run.
type Ramp struct {
	// Strategy is "linear" or "exponential".
	Strategy string `json:"strategy"`
	// From and To in requests per second.
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// Over is the time the ramp takes; 0 means that it runs over the number of requests, as vLLM's does.
	Over time.Duration `json:"over_ns,omitempty"`
	// Requests is the number of requests that the ramp spans. A plan may send fewer, where its duration ends it; 0
	// means as many as the plan sends.
	Requests int `json:"requests,omitempty"`
}

// RateOf is the rate of a ramp over n requests before the request index, from 0, in requests per second.
func (r *Ramp) RateOf(index, n int) float64 { return r.part(float64(index) / float64(max(n-1, 1))) }

// RampRate is the rate of the plan's ramp over the requests before a request, by its index; beyond the last that before
// the last.
func (p *Plan) RampRate(index int) float64 {
	n := cmp.Or(p.Ramp.Requests, p.Requests)
	return p.Ramp.RateOf(min(index, max(n-1, 0)), n)
}

// RateAt is the rate of a ramp in time, in requests per second.
func (r *Ramp) RateAt(at time.Duration) float64 {
	return r.part(min(max(at.Seconds()/r.Over.Seconds(), 0), 1))
}

// part is the rate after a part of the ramp, from 0 to 1.
func (r *Ramp) part(p float64) float64 {
	if r.Strategy == "exponential" {
		return r.From * math.Pow(r.To/r.From, p)
	}
	return r.From + float64((r.To-r.From)*p) // the conversion prevents a fused multiply-add, which rounds differently
}

// Arrival is the time in seconds by which n arrivals of a ramp in time are expected.
func (r *Ramp) Arrival(n float64) float64 {
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

// meanGap is the mean gap in seconds between the requests of a ramp over the requests, between two rates of it.
func (r *Ramp) meanGap(from, to float64) float64 {
	switch {
	case from == to:
		return 1 / from
	case r.Strategy == "exponential":
		return (1/from - 1/to) / math.Log(to/from)
	}
	return math.Log(to/from) / (to - from)
}
