package metronome

import "time"

// clock tells wall-clock time that never jumps: the wall time of its start plus the monotonic time since, in Unix
// nanoseconds.
type clock struct {
	base time.Time
	wall int64 // of base
}

func newClock() clock {
	c := clock{base: time.Now()}
	tightest := time.Duration(1<<63 - 1)
	// The two clocks are read one after the other; the reading with the least time in between pairs them best.
	for range 200 {
		before := time.Since(c.base)
		wall := time.Now().UnixNano()
		after := time.Since(c.base)
		if after-before < tightest {
			tightest = after - before
			c.wall = wall - int64(before+after)/2
		}
	}
	return c
}

func (c clock) now() int64 { return c.wall + int64(time.Since(c.base)) }
