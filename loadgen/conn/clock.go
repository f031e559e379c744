package conn

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Clock is the one clock of a run: offsets from its start on the monotonic clock, rounded to whole microseconds here
// and nowhere else.
type Clock struct{ Start time.Time }

// Now is the offset of this moment.
func (c Clock) Now() time.Duration { return c.At(time.Now()) }

// At is the offset of a moment.
func (c Clock) At(t time.Time) time.Duration { return t.Sub(c.Start).Round(time.Microsecond) }

// wallClock translates the kernel's stamps, which are times of the wall clock, to the monotonic clock. The difference
// of the two clocks is measured once a second, on the reads themselves, and at once when a reading of both disagrees
// with it. It changes when a person, NTP or a host that wakes up sets the wall clock.
type wallClock struct {
	now   func() reading
	known atomic.Pointer[clockOffset]
	mu    sync.Mutex // held while the offset is measured
}

// reading is the time of both clocks in nanoseconds, the wall clock's first. The thread may lose its core between the
// two, so that a single reading proves nothing.
type reading struct{ wall, mono int64 }

// clockOffset is the measured difference of the clocks. It is replaced, not changed.
type clockOffset struct {
	offset   int64 // wall − monotonic
	width    int64 // of the tightest bracket so far: the offset is off by half of it at most, or a little more
	measured int64 // when, on the monotonic clock
	since    int64 // it holds from here on; an earlier stamp was made by the clock before its last step
	steps    int   // of the wall clock so far
}

const (
	// agreeWithin: a reading that is further off the known offset has it measured again.
	agreeWithin = int64(20 * time.Microsecond)
	// stepFrom is how far the wall clock has to jump for its stamps to be of no use around the jump. Less is taken for
	// slewing.
	stepFrom = int64(time.Millisecond)
	// measureEvery refreshes the offset, measureAgain is the shortest time between two measurements that are asked for
	// by readings that disagree.
	measureEvery = int64(time.Second)
	measureAgain = int64(time.Millisecond)
	// bracketTries of some 50 ns each. One good one is enough when it is known how good they get.
	bracketTries = 200
)

func newWallClock(now func() reading) *wallClock {
	w := &wallClock{now: now}
	w.known.Store(w.measure(nil))
	return w
}

// systemClock reads both clocks of the system; the monotonic one counts from anchor.
func systemClock(anchor time.Time) func() reading {
	return func() reading {
		t := time.Now() // which reads the wall clock first
		return reading{wall: t.UnixNano(), mono: int64(t.Sub(anchor))}
	}
}

// steps is the number of steps of the wall clock so far.
func (w *wallClock) steps() int { return w.known.Load().steps }

// monotonic translates a stamp; in is a reading taken after the data was read. steps is the number of steps of the
// clock that are certain to precede the stamp. It returns false for a stamp that may be from around a step.
func (w *wallClock) monotonic(stamp int64, in reading, steps int) (int64, bool) {
	o, ok := w.at(in)
	if !ok || steps != o.steps {
		return 0, false
	}
	at := stamp - o.offset
	return at, at >= o.since && at <= in.mono+agreeWithin+o.width
}

// at returns the offset at a reading, false if it is unknown.
func (w *wallClock) at(in reading) (*clockOffset, bool) {
	o := w.known.Load()
	if o.agrees(in) {
		if in.mono-o.measured >= measureEvery && w.mu.TryLock() {
			defer w.mu.Unlock()
			o = w.measure(o)
			w.known.Store(o)
		}
		return o, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	o = w.known.Load()
	switch {
	case o.agrees(in): // measured by another goroutine
		return o, true
	case in.mono-o.measured < measureAgain:
		return o, false
	}
	o = w.measure(o)
	w.known.Store(o)
	return o, true
}

func (o *clockOffset) agrees(in reading) bool {
	d := in.wall - in.mono - o.offset
	return -agreeWithin-o.width <= d && d <= agreeWithin+o.width
}

// measure brackets a reading of the wall clock between two of the monotonic clock, as tightly as possible:
//
//	wall         wall
//	     mono ····╳···· mono
//	     |--- width ---|
//
// before is the previous offset, nil for none.
func (w *wallClock) measure(before *clockOffset) *clockOffset {
	o := &clockOffset{width: math.MaxInt64, since: math.MinInt64}
	enough := int64(0)
	if before != nil {
		enough = 2 * before.width
	}
	ended := int64(0) // when the tightest bracket was closed
	last := w.now()
	for range bracketTries {
		next := w.now()
		if width := next.mono - last.mono; width < o.width {
			o.width, o.offset, ended = width, next.wall-last.mono-width/2, next.mono
		}
		if last = next; o.width <= enough {
			break
		}
	}
	o.measured = last.mono
	if before == nil {
		return o
	}
	o.since, o.steps = before.since, before.steps
	if jump := o.offset - before.offset; jump > stepFrom+o.width || jump < -stepFrom-o.width {
		o.since, o.steps = ended, before.steps+1
	}
	o.width = min(o.width, before.width)
	return o
}
