package loadgen

import (
	"iter"
	"math"
	"slices"
	"time"

	"benchtop/datasets/numpy"
	"benchtop/metrics"
)

// Schedule yields the offsets at which requests should start, never decreasing.
type Schedule = iter.Seq[time.Duration]

// Immediately asks for everything at once, without end. With a limit of n it is the closed loop of n users.
func Immediately() Schedule {
	return func(yield func(time.Duration) bool) {
		for yield(0) {
		}
	}
}

// At yields the given offsets.
func At(offsets []time.Duration) Schedule { return slices.Values(offsets) }

// MostArrivals bounds every list of offsets made here: 400 MB. A list of this length was cut there, so whoever makes a plan
// out of a person's numbers should refuse those that expect more.
const MostArrivals = 50_000_000

// Gamma draws n offsets of an arrival process with a mean rate in requests per second, as vLLM does: the gaps follow a
// gamma distribution whose shape is the burstiness (1 is a Poisson process, smaller is burstier, infinite is constant
// spacing), there is a gap before the first request, and all offsets are scaled so that the last is n/rate.
// An infinite rate gives zeros and draws nothing. Offsets are rounded to nanoseconds.
func Gamma(n int, rate, burstiness float64, draws *numpy.Legacy) []time.Duration {
	return durations(gammaOffsets(n, rate, burstiness, draws))
}

// gammaOffsets is Gamma in seconds, in the floating-point arithmetic of the original.
func gammaOffsets(n int, rate, burstiness float64, draws *numpy.Legacy) []float64 {
	sums := sumGaps(n, func(int) float64 { return gap(rate, burstiness, draws) })
	if len(sums) == 0 {
		return sums
	}
	if last := sums[len(sums)-1]; last > 0 && !math.IsInf(last, 1) {
		scale := float64(len(sums)) / rate / last
		for i := range sums {
			sums[i] *= scale
		}
	}
	return sums
}

// RampOverRequests draws n offsets of an arrival process whose rate goes from ramp.From to ramp.To over the number of
// requests, as vLLM's ramp-up does: request i of n has the rate at i/(n-1) of the ramp, whatever the time, and a gap of
// its own before it. Nothing is rescaled; ramp.Over has no meaning here. A request with the rate 0 never comes, nor do
// those after it: its offset is the largest there is.
func RampOverRequests(n int, ramp metrics.Ramp, burstiness float64, draws *numpy.Legacy) []time.Duration {
	return durations(rampOffsets(n, ramp, burstiness, draws))
}

// rampOffsets is RampOverRequests in seconds, in the floating-point arithmetic of the original.
func rampOffsets(n int, ramp metrics.Ramp, burstiness float64, draws *numpy.Legacy) []float64 {
	return sumGaps(n, func(i int) float64 { return gap(ramp.RateOf(i, n), burstiness, draws) })
}

// sumGaps returns the running sums of n gaps in seconds.
func sumGaps(n int, gap func(i int) float64) []float64 {
	sums := make([]float64, min(max(n, 0), MostArrivals))
	at := 0.0
	for i := range sums {
		at += gap(i)
		sums[i] = at
	}
	return sums
}

// gap draws the time to the next arrival, in seconds.
func gap(rate, burstiness float64, draws *numpy.Legacy) float64 {
	switch {
	case math.IsInf(rate, 1):
		return 0
	case !(rate > 0):
		return math.Inf(1)
	case math.IsInf(burstiness, 1):
		return 1 / rate
	}
	return draws.Gamma(burstiness, 1/(rate*burstiness))
}

// RampInTime draws the offsets up to a duration of an arrival process whose rate changes with time and stays at its
// last value when the ramp is over, at most MostArrivals.
func RampInTime(ramp metrics.Ramp, duration time.Duration, burstiness float64, draws *numpy.Legacy) []time.Duration {
	inverse := func(n float64) time.Duration { return nanoseconds(rampInverse(ramp, n)) }
	return mapArrivals(inverse, duration, MostArrivals, burstiness, draws)
}

// InStages draws the offsets of an arrival process whose rate is that of the stage it is in, up to the end of the last
// stage, at most MostArrivals. A stage without a rate is a pause, and so is the time between two stages.
func InStages(stages []metrics.Stage, burstiness float64, draws *numpy.Legacy) []time.Duration {
	if len(stages) == 0 {
		return nil
	}
	left, before := stages, 0.0 // the stages from the current one on, arrivals expected before it
	inverse := func(n float64) time.Duration {
		for ; len(left) > 0; left = left[1:] {
			s := left[0]
			if s.Rate > 0 {
				// An arrival on the edge belongs to what follows, and thus is not in a pause.
				if at := nanoseconds((n - before) / s.Rate); at < s.Length {
					return s.Start + max(at, 0)
				}
				before += s.Rate * s.Length.Seconds()
			}
		}
		return math.MaxInt64
	}
	return mapArrivals(inverse, stages[len(stages)-1].End(), MostArrivals, burstiness, draws)
}

// mapArrivals draws arrivals at rate 1 and maps them through the inverse of the expected number of arrivals, up to an
// end, or the most there may be. So the rate is right at every moment and not only on average. inverse is asked in
// ascending order.
func mapArrivals(
	inverse func(n float64) time.Duration, end time.Duration, most int, burstiness float64, draws *numpy.Legacy,
) []time.Duration {
	var offsets []time.Duration
	for expected := 0.0; len(offsets) < most; {
		expected += gap(1, burstiness, draws)
		at := inverse(expected)
		if at >= end {
			break
		}
		offsets = append(offsets, at)
	}
	return offsets
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

// durations converts seconds.
func durations(s []float64) []time.Duration {
	offsets := make([]time.Duration, len(s))
	for i := range s {
		offsets[i] = nanoseconds(s[i])
	}
	return offsets
}

// nanoseconds rounds seconds to a duration. It saturates, so that no rate however small can turn into an offset in the
// past, and takes what is no number for a time that never comes.
func nanoseconds(s float64) time.Duration { return rounded(s * float64(time.Second)) }

// rounded is a number of nanoseconds as a duration, saturated.
func rounded(ns float64) time.Duration {
	switch {
	case ns <= math.MinInt64:
		return math.MinInt64
	case ns < math.MaxInt64:
		return time.Duration(math.Round(ns))
	}
	return math.MaxInt64
}

// Gaps draws the gaps of Options.Steered, in seconds at a rate of 1: those of Gamma before its scaling. What is no burstiness
// stands for constant spacing. draws should be a generator of its own, so that steering leaves the draws of the plan alone.
func Gaps(burstiness float64, draws *numpy.Legacy) func() float64 {
	if !(burstiness > 0) {
		burstiness = math.Inf(1)
	}
	return func() float64 { return gap(1, burstiness, draws) }
}
