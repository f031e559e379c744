package loadgen

import (
	"math"
	"sync"
	"time"

	"benchtop/loadgen/shape"
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
//
// When the plan is left, a second map replaces it. Its schedule time is a number of expected arrivals, one for each second,
// so that its speed is the rate.
type steering struct {
	mu       sync.Mutex // guards everything below
	earlier  []bend     // older lines that the pacer has not passed yet, oldest first
	schedule time.Duration
	run      time.Duration // schedule is due at run
	speed    float64       // schedule time per run time, unless paused
	paused   bool
	left     bool          // the plan is left
	touched  bool          // anything was ever changed
	end      time.Duration // of the sending once it was; 0 for none
	over     bool          // nothing more will be asked
	changed  func()        // wakes the pacer; nil while there is none
}

// bend is where a line begins. Its speed is 0 in a pause.
type bend struct {
	schedule, run time.Duration
	speed         float64
}

// next says when a schedule time falls.
type next struct {
	due    time.Duration
	moving bool          // false while the arrivals are paused: due says nothing then
	left   bool          // the schedule time is the plan's, and the plan is left
	end    time.Duration // of the sending; 0 for none
}

// due finds the run time at which a schedule time falls, by the plan's map or by that which replaced it. It is asked in
// ascending order.
func (s *steering) due(schedule time.Duration, planned bool) next {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := next{left: planned && s.left}
	if n.left {
		return n
	}
	if s.touched {
		n.end = s.end
	}
	b := s.line(schedule)
	switch b.speed {
	case 0:
		return n
	case 1:
		n.due = later(b.run, schedule-b.schedule)
	default:
		n.due = later(b.run, shape.Rounded(float64(schedule-b.schedule)/b.speed))
	}
	n.moving = true
	return n
}

// line is the one that a schedule time lies on. What is late keeps the line it was due on, however often the speed changed
// since. Those before are forgotten.
func (s *steering) line(schedule time.Duration) bend {
	for len(s.earlier) > 0 {
		following := s.schedule
		if len(s.earlier) > 1 {
			following = s.earlier[1].schedule
		}
		if following > schedule {
			return s.earlier[0]
		}
		s.earlier = s.earlier[1:]
	}
	return s.current()
}

func (s *steering) current() bend {
	b := bend{s.schedule, s.run, s.speed}
	if s.paused {
		b.speed = 0
	}
	return b
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

// speedOf is a speed in bounds; what is none pauses.
func speedOf(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, fastest)
}

// setPaused begins or ends a pause, which keeps the speed for afterwards.
func (s *steering) setPaused(now time.Duration, paused bool) bool {
	return s.change(func() {
		s.bendAt(now)
		s.paused = paused
	})
}

// setRate leaves the plan, if that was still in force, and sets the rate of the arrivals that replace it.
func (s *steering) setRate(now time.Duration, perSecond float64) bool {
	return s.change(func() {
		if s.left {
			s.bendAt(now)
		} else {
			s.left, s.earlier, s.schedule, s.run = true, nil, 0, max(now, 0)
		}
		s.speed = speedOf(perSecond)
	})
}

// change makes a change and wakes the pacer; false when that will not come again.
func (s *steering) change(do func()) bool {
	s.mu.Lock()
	s.touched = true
	do()
	wake, over := s.changed, s.over
	s.mu.Unlock()
	if wake != nil {
		wake()
	}
	return !over
}

// bendAt begins a new line where the last one has come to. The lock is held.
func (s *steering) bendAt(now time.Duration) {
	b := s.current()
	now = max(now, s.run) // another caller may have been quicker
	s.earlier = append(s.earlier, b)
	s.schedule, s.run = later(s.schedule, shape.Rounded(float64(now-s.run)*b.speed)), now
}

// planLeft says that arrivals are no longer the plan's.
func (s *steering) planLeft() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// finish says that nothing more will be asked.
func (s *steering) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

func (s *steering) finished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// onChange sets what is called after every change.
func (s *steering) onChange(wake func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = wake
}
