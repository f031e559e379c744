package loadgen

import "time"

// runClock is the one clock of a run: offsets from its start on the monotonic clock, rounded to whole microseconds here
// and nowhere else.
type runClock struct{ start time.Time }

func (c runClock) now() time.Duration { return c.at(time.Now()) }

func (c runClock) at(t time.Time) time.Duration { return t.Sub(c.start).Round(time.Microsecond) }
