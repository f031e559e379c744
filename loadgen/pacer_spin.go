package loadgen

import (
	"runtime"
	"sync/atomic"
	"time"
)

// spinSleeper sleeps in another sleeper until shortly before the moment and then watches the clock, so that waking up
// takes no time. It occupies a core meanwhile.
type spinSleeper struct {
	sleeper
	ahead time.Duration // how long before the moment it begins to spin
	yield func()        // lets others run between two looks at the clock; nil for no
	woken atomic.Bool   // by wake; it may be one that a sleep has served already, which ends one spin early
}

// newTimerSpinSleeper spins for longer than a Go timer is ever late on an idle machine. Its thread is everybody's.
func newTimerSpinSleeper() sleeper {
	return &spinSleeper{sleeper: newTimerSleeper(), ahead: 1100 * time.Microsecond, yield: runtime.Gosched}
}

func (s *spinSleeper) sleep(d time.Duration) {
	switch {
	case d < 0:
		s.sleeper.sleep(d)
	case d > s.ahead:
		s.sleeper.sleep(d - s.ahead) // the caller comes again for the rest
	default:
		for end := time.Now().Add(d); time.Until(end) > 0 && !s.woken.Swap(false); {
			if s.yield != nil {
				s.yield()
			}
		}
	}
}

func (s *spinSleeper) wake() {
	s.woken.Store(true)
	s.sleeper.wake()
}
