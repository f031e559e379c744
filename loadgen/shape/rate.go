package shape

import (
	"errors"
	"fmt"
	"math"
	"time"

	"benchtop/datasets/numpy"
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

// Requests is the number asked for, or as many as the duration has room for.
func (r Rate) Requests() int {
	if r.Duration > 0 && r.PerSecond > 0 && !r.PerSecond.Unlimited() && !r.Asked {
		// The last of n comes after n/rate. The small surplus makes up for products that are just below a whole number.
		return max(1, int(min(math.Floor(float64(r.PerSecond)*r.Duration.Seconds()+1e-9), math.MaxInt32)))
	}
	return r.Count
}

// Endless reports that the clock alone is to end a load without rate or users, which Validate refuses.
func (r Rate) Endless() bool { return r.PerSecond.Unlimited() && r.Duration > 0 && !r.Asked }

// Validate reports a load that takes too long, has too many requests, or sends without end.
func (r Rate) Validate() (all []error) {
	n := r.Requests()
	if r.PerSecond > 0 && float64(n)/float64(r.PerSecond) > LongestRun.Seconds() {
		all = append(all, fmt.Errorf("--request-rate %v: %d requests would take more than a year", r.PerSecond, n))
	}
	all = append(all, r.tooMany(float64(n))...)
	if r.Endless() {
		all = append(all, errors.New("--duration at an infinite rate sends without end: limit it with --max-concurrency, --request-rate or --num-prompts"))
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

// Offsets draws n arrivals as vLLM does: the gaps follow a gamma distribution whose shape is the burstiness, there is a gap before
// the first request, and all offsets are scaled so that the last is n/rate. An infinite rate gives zeros and draws nothing. Offsets
// are rounded to nanoseconds.
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
func (r Rate) Describe(int) string {
	if r.PerSecond.Unlimited() {
		return "all at once" + r.atMost()
	}
	gaps := "Poisson"
	if r.Burstiness != 1 {
		gaps = "burstiness " + metrics.Rate(r.Burstiness).String()
	}
	return fmt.Sprintf("%v req/s (%s)%s", r.PerSecond, gaps, r.atMost())
}
