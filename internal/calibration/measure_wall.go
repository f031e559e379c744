package calibration

import (
	"math"
	"time"
)

// wallOf is the wall-clock time of a moment that was read from the monotonic clock. The two clocks cannot be read at once: a
// reading of the wall clock between two of the monotonic one belongs to their middle, and the tightest of many tries
// is right to a fraction of a microsecond.
func wallOf(start time.Time) time.Time {
	const tries = 200
	var wall time.Time
	best := time.Duration(math.MaxInt64)
	for range tries {
		before := time.Now()
		now := time.Now() // the wall clock is read first, then the monotonic one
		if gap := now.Sub(before); gap < best {
			best = gap
			wall = now.Round(0).Add(-(before.Sub(start) + gap/2))
		}
	}
	return wall
}
