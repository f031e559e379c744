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

// Gamma draws n offsets of an arrival process with a mean rate in requests per second, as vLLM does: the gaps follow a
// gamma distribution whose shape is the burstiness (1 is a Poisson process, smaller is burstier, infinite is constant
// spacing), there is a gap before the first request, and all offsets are scaled so that the last is n/rate.
// An infinite rate gives zeros and draws nothing.
func Gamma(n int, rate, burstiness float64, draws *numpy.Legacy) []time.Duration {
	offsets := make([]time.Duration, n)
	for i, s := range gammaOffsets(n, rate, burstiness, draws) {
		offsets[i] = seconds(s)
	}
	return offsets
}

// gammaOffsets is Gamma in seconds, in the floating-point arithmetic of the original.
func gammaOffsets(n int, rate, burstiness float64, draws *numpy.Legacy) []float64 {
	sums := make([]float64, n)
	if n == 0 || math.IsInf(rate, 1) {
		return sums
	}
	at := 0.0
	for i := range sums {
		at += gap(rate, burstiness, draws)
		sums[i] = at
	}
	if at > 0 {
		scale := float64(n) / rate / at
		for i := range sums {
			sums[i] *= scale
		}
	}
	return sums
}

// gap draws the time to the next arrival, in seconds.
func gap(rate, burstiness float64, draws *numpy.Legacy) float64 {
	if math.IsInf(burstiness, 1) {
		return 1 / rate
	}
	return draws.Gamma(burstiness, 1/(rate*burstiness))
}

// RampInTime draws the offsets up to a duration of an arrival process whose rate changes with time and stays at its
// last value when the ramp is over. Gaps are drawn at rate 1 and mapped through the inverse of the expected number of
// arrivals, so the rate is right at every moment and not only on average.
func RampInTime(ramp metrics.Ramp, duration time.Duration, burstiness float64, draws *numpy.Legacy) []time.Duration {
	var offsets []time.Duration
	expected := 0.0
	for {
		expected += gap(1, burstiness, draws)
		at := seconds(rampInverse(ramp, expected))
		if at >= duration {
			return offsets
		}
		offsets = append(offsets, at)
	}
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

// seconds saturates, so that no rate however small can turn into an offset in the past.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(s * float64(time.Second))
}
