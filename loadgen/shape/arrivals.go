package shape

import (
	"iter"
	"math"
	"slices"
	"time"

	"benchtop/internal/hf/numpy"
)

// Schedule yields the offsets at which requests should start, never decreasing.
type Schedule = iter.Seq[time.Duration]

// Immediately yields 0 without end. With a limit of n it is the closed loop of n users.
func Immediately() Schedule {
	return func(yield func(time.Duration) bool) {
		for yield(0) {
		}
	}
}

// At yields the given offsets.
func At(offsets []time.Duration) Schedule { return slices.Values(offsets) }

// MostArrivals is the longest list of offsets: 400 MB. Longer lists are cut, and Validate refuses loads that expect
// more.
const MostArrivals = 50_000_000

// before keeps the offsets that come before a moment.
func before(offsets []time.Duration, end time.Duration) []time.Duration {
	if i := slices.IndexFunc(offsets, func(at time.Duration) bool { return at >= end }); i >= 0 {
		return offsets[:i]
	}
	return offsets
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

// mapArrivals draws arrivals at rate 1 and maps them through the inverse of the expected number of arrivals, up to an
// end or a number. So the rate is right at every moment and not only on average. inverse is called in ascending order.
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

// durations converts seconds.
func durations(s []float64) []time.Duration {
	offsets := make([]time.Duration, len(s))
	for i := range s {
		offsets[i] = Nanoseconds(s[i])
	}
	return offsets
}

// Nanoseconds rounds seconds to a duration. It saturates, so that a tiny rate never becomes an offset in the past, and
// NaN becomes the largest duration.
func Nanoseconds(s float64) time.Duration { return Rounded(s * float64(time.Second)) }

// Rounded is a number of nanoseconds as a duration, saturated.
func Rounded(ns float64) time.Duration {
	switch {
	case ns <= math.MinInt64:
		return math.MinInt64
	case ns < math.MaxInt64:
		return time.Duration(math.Round(ns))
	}
	return math.MaxInt64
}

// Gaps draws the gaps of a load whose rate is set while the run is on, in seconds at a rate of 1: those of Rate before
// its scaling. A burstiness that is not positive means constant spacing. draws should be a generator of its own, so
// that steering leaves the draws of the plan alone.
func Gaps(burstiness float64, draws *numpy.Legacy) func() float64 {
	if !(burstiness > 0) {
		burstiness = math.Inf(1)
	}
	return func() float64 { return gap(1, burstiness, draws) }
}
