package loadgen

import (
	"math"
	"sync"
	"time"
)

// runClock is the one clock of a run: offsets from its start on the monotonic clock, rounded to whole microseconds here
// and nowhere else.
type runClock struct{ start time.Time }

func (c runClock) now() time.Duration { return c.at(time.Now()) }

func (c runClock) at(t time.Time) time.Duration { return t.Sub(c.start).Round(time.Microsecond) }

// steering maps schedule time to run time. It is a straight line whose slope is the speed, bent at every change:
//
//	run time
//	 |        ________ speed 2
//	 |       |  (paused: no run time belongs to what is not yet due)
//	 |   ___/   speed 1
//	 +------------------ schedule time
type steering struct {
	mu       sync.Mutex // guards everything below
	schedule time.Duration
	run      time.Duration // schedule is due at run
	speed    float64       // schedule time per run time; 0 while paused
	changed  func()        // wakes the pacer; nil while there is none
}

// due returns the run time at which a schedule time falls, false while the arrivals are paused.
func (s *steering) due(schedule time.Duration) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.speed == 0 {
		return 0, false
	}
	if s.speed == 1 {
		return later(s.run, schedule-s.schedule), true
	}
	return later(s.run, rounded(float64(schedule-s.schedule)/s.speed)), true
}

// later is at + d; what would be beyond the largest duration, such as an arrival at a rate of next to nothing, stays there.
func later(at, d time.Duration) time.Duration {
	if at > 0 && d > math.MaxInt64-at {
		return math.MaxInt64
	}
	return at + d
}

// fastest is the highest speed: a finite one, so that an offset times the speed is a number.
const fastest = 1e9

// setSpeed makes the schedule run at a multiple of its own speed from now on; 0 pauses it, and so does what is no speed.
func (s *steering) setSpeed(now time.Duration, speed float64) {
	if !(speed > 0) {
		speed = 0
	}
	s.mu.Lock()
	s.schedule = later(s.schedule, rounded(float64(now-s.run)*s.speed))
	s.run, s.speed = now, min(speed, fastest)
	wake := s.changed
	s.mu.Unlock()
	if wake != nil {
		wake()
	}
}

// onChange sets what is called after every change.
func (s *steering) onChange(wake func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = wake
}
