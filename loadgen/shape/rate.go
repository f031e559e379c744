package shape

import (
	"errors"
	"fmt"
	"math"
	"time"

	"benchtop/internal/hf/numpy"
	"benchtop/metrics"
)

// Rate is a load of a mean rate, or everything at once.
type Rate struct {
	Bounds
	// PerSecond is the rate in requests per second; infinite for all at once.
	PerSecond metrics.Rate
	// Burstiness is the shape of the gaps: 1 is a Poisson process, smaller is burstier, infinite is constant spacing.
	Burstiness float64
}

// Requests is the number asked for, or as many as fit into the duration.
func (r Rate) Requests() int {
	if r.Duration > 0 && r.PerSecond > 0 && !r.PerSecond.Unlimited() && !r.Asked {
		// The last of n comes after n/rate. The small surplus makes up for products that are just below a whole number.
		return max(1, int(min(math.Floor(float64(r.PerSecond)*r.Duration.Seconds()+1e-9), math.MaxInt32)))
	}
	return r.Count
}

// Endless reports whether only the clock ends a load without rate or users, which Validate refuses.
func (r Rate) Endless() bool { return r.PerSecond.Unlimited() && r.Duration > 0 && !r.Asked }

// Validate reports a load that takes too long, has too many requests, or sends without end.
func (r Rate) Validate() (all []error) {
	n := r.Requests()
	if r.PerSecond > 0 && float64(n)/float64(r.PerSecond) > LongestRun.Seconds() {
		all = append(all, fmt.Errorf("--request-rate %v: %d requests would take more than a year", r.PerSecond, n))
	}
	all = append(all, r.tooMany(float64(n))...)
	if r.Endless() {
		all = append(all,
			errors.New("--duration at an infinite rate never stops sending: limit it with --max-concurrency, "+
				"--request-rate or --num-prompts"))
	}
	return all
}

// Arrivals are as many as the data set has conversations, and end with the duration where a number was asked for.
func (r Rate) Arrivals(rows int, _ []time.Duration, draws *numpy.Legacy) Arrivals {
	offsets := r.Offsets(rows, draws)
	if r.Duration > 0 && r.Asked {
		offsets = before(offsets, r.Duration)
	}
	return r.open(offsets)
}

// Offsets draws n arrivals as vLLM does: the gaps follow a gamma distribution whose shape is the burstiness, there is a
// gap before the first request, and all offsets are scaled so that the last is n/rate. An infinite rate gives zeros and
// draws nothing. Offsets are rounded to nanoseconds.
func (r Rate) Offsets(n int, draws *numpy.Legacy) []time.Duration {
	return durations(r.seconds(n, draws))
}

// seconds are the offsets in the floating-point arithmetic of the original.
func (r Rate) seconds(n int, draws *numpy.Legacy) []float64 {
	sums := sumGaps(n, func(int) float64 { return gap(float64(r.PerSecond), r.Burstiness, draws) })
	if len(sums) == 0 {
		return sums
	}
	if last := sums[len(sums)-1]; last > 0 && !math.IsInf(last, 1) {
		scale := float64(len(sums)) / float64(r.PerSecond) / last
		for i := range sums {
			sums[i] *= scale
		}
	}
	return sums
}

// Peak is all requests at once without rate and limit.
func (r Rate) Peak(requests int) Demand {
	d := r.Bounds.Peak(requests)
	switch {
	case !r.PerSecond.Unlimited():
		d.RequestsPerSecond = float64(r.PerSecond)
	case r.Limit == 0:
		d.Streams = requests
	default:
		d.Ahead = d.Streams
	}
	return d
}

// Describe is the rate with the shape of its gaps.
func (r Rate) Describe(_ int, arriving metrics.Unit) string {
	if r.PerSecond.Unlimited() {
		return "all at once" + r.atMost(arriving)
	}
	gaps := "Poisson"
	if r.Burstiness != 1 {
		gaps = "burstiness " + metrics.Rate(r.Burstiness).String()
	}
	return fmt.Sprintf("%v %s (%s)%s", r.PerSecond, arriving, gaps, r.atMost(arriving))
}

// Ramp is a rate that changes over the requests, as vLLM's does.
type Ramp struct {
	Bounds
	// Line of the rate; its Over is 0 but in a TimedRamp.
	Line       metrics.Ramp
	Burstiness float64 // as in Rate
}

// Validate reports a ramp that is impossible, or would never begin.
func (r Ramp) Validate() []error {
	return append(validateLine(r.Line), r.Bounds.Validate()...)
}

// validateLine reports invalid rates of a ramp.
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
		bad("--ramp-up-start-rps 0: a ramp over the requests would never send the first; start from 1, or add " +
			"--ramp-over 60s")
	}
	return all
}

// Arrivals are as many as the data set has conversations, and end with the duration.
func (r Ramp) Arrivals(rows int, _ []time.Duration, draws *numpy.Legacy) Arrivals {
	return r.Bounds.Arrivals(rows, r.Offsets(rows, draws), nil)
}

// Offsets draws n arrivals: request i of n has the rate at i/(n-1) of the ramp, regardless of the time, and a gap of
// its own before it. Nothing is rescaled. A request with the rate 0 never arrives, nor do later ones: its offset is the
// largest duration.
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

// line describes the rates.
func (r Ramp) line(arriving metrics.Unit) string {
	return fmt.Sprintf("%s ramp %g to %g %s", r.Line.Strategy, r.Line.From, r.Line.To, arriving)
}

// Describe is the rates, and over how many requests they change.
func (r Ramp) Describe(rows int, arriving metrics.Unit) string {
	return fmt.Sprintf("%s over %d requests%s", r.line(arriving), rows, r.atMost(arriving))
}

func (r Ramp) enter(p *metrics.Plan, rows int) {
	r.Line.Requests = rows // though the clock may end it before
	p.Ramp = &r.Line
}

// TimedRamp is a rate that changes with time and stays at its last value when the ramp is over.
type TimedRamp struct{ Ramp }

// NewTimedRamp ends the load with the ramp, unless a duration or a number of requests was asked for.
func NewTimedRamp(b Bounds, line metrics.Ramp, burstiness float64) TimedRamp {
	if b.Duration == 0 && !b.Asked {
		b.Duration = line.Over
	}
	return TimedRamp{Ramp{b, line, burstiness}}
}

// Validate reports a ramp that is impossible, or has too many requests.
func (r TimedRamp) Validate() []error {
	all := validateLine(r.Line)
	if r.Asked && r.Count == 0 && r.Duration == 0 {
		all = append(all,
			errors.New("--num-prompts 0 with --ramp-over: give --duration, since the number of rows is not known in "+
				"advance"))
	}
	if len(all) > 0 {
		return all
	}
	// An upper bound for any strategy.
	most := (r.Line.From+r.Line.To)/2*r.Line.Over.Seconds() + r.Line.To*max(0, (r.Duration-r.Line.Over).Seconds())
	return r.tooMany(most)
}

// Times draws the arrivals up to the end, at most MostArrivals.
func (r TimedRamp) Times(draws *numpy.Legacy) []time.Duration {
	end := r.Duration
	if end == 0 { // the number ends it; gaps may be long
		end = r.Line.Over + time.Minute + time.Duration(
			min(10*float64(r.Count)/r.Line.To, LongestRun.Seconds())*float64(time.Second))
	}
	inverse := func(n float64) time.Duration { return Nanoseconds(r.Line.Arrival(n)) }
	return r.cut(mapArrivals(inverse, end, MostArrivals, r.Burstiness, draws))
}

// Arrivals are the times of the ramp.
func (r TimedRamp) Arrivals(rows int, times []time.Duration, _ *numpy.Legacy) Arrivals {
	return r.Bounds.Arrivals(rows, times, nil)
}

// Describe is the rates, and in which time they change.
func (r TimedRamp) Describe(_ int, arriving metrics.Unit) string {
	return fmt.Sprintf("%s over %s%s", r.line(arriving), metrics.Duration(r.Line.Over), r.atMost(arriving))
}

func (r TimedRamp) enter(p *metrics.Plan, _ int) {
	p.Ramp = &r.Line
	r.count(p)
}
