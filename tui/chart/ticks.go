package chart

import (
	"math"
	"time"

	"benchtop/tui/number"
)

// longest is the longest latency an axis reaches to, eleven days.
const longest = time.Duration(number.Max)

// tickAtLeast is the next of 1, 2, 5 times a power of ten from 1 µs on.
func tickAtLeast(d time.Duration) time.Duration {
	for e := time.Microsecond; ; e *= 10 {
		for _, m := range [...]time.Duration{1, 2, 5} {
			if m*e >= d || e > longest {
				return m * e
			}
		}
	}
}

// tickAtMost is the one before.
func tickAtMost(d time.Duration) time.Duration {
	best := time.Microsecond
	for e := time.Microsecond; e <= longest; e *= 10 {
		for _, m := range [...]time.Duration{1, 2, 5} {
			if m*e > d {
				return best
			}
			best = m * e
		}
	}
	return best
}

// niceStep is the smallest of 1, 2, 2.5 and 5 times a power of ten that is at least v.
func niceStep(v float64) float64 {
	if v <= 1 {
		return 1
	}
	e := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if s := m * e; s >= v*(1-1e-9) && s == math.Trunc(s) {
			return s
		}
	}
	return 10 * e
}

// timeStep is the distance of labels on an axis of time, at most so many.
func timeStep(shown time.Duration, most int) time.Duration {
	for _, s := range []time.Duration{5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400} {
		if shown/(s*time.Second) <= time.Duration(max(1, most)) {
			return s * time.Second
		}
	}
	return 7 * 24 * time.Hour
}
