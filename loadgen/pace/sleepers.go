package pace

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// sleeper waits for a moment on one goroutine; wake ends the wait early, from any goroutine.
type sleeper interface {
	// sleep returns after d, or when wake is called; a negative d waits for wake alone. An earlier wake counts.
	sleep(d time.Duration)
	wake()
	close()
}

// Kinds are the pacers this system has, the default first: timer sleeps on a Go timer, timerfd on one of the kernel's,
// ppoll in a system call, and spin sleeps until shortly before and then watches the clock.
func Kinds() []string {
	return kinds(runtime.GOMAXPROCS(0) >= spinCores && runtime.NumCPU() >= spinCores)
}

// spinCores is the number of cores from which spinning is the default, although it keeps one of them from the requests.
const spinCores = 4

func newSleeper(kind string) (sleeper, error) {
	all := Kinds()
	if kind == "" {
		kind = all[0]
	}
	switch {
	case !slices.Contains(all, kind):
		return nil, fmt.Errorf("pacer %q: this system has %v", kind, all)
	case kind == "timer":
		return newTimerSleeper(), nil
	}
	return newSystemSleeper(kind)
}

// timerSleeper sleeps on a Go timer: portable, and right in virtual time, but up to a millisecond late.
type timerSleeper struct{ woken chan struct{} }

func newTimerSleeper() *timerSleeper { return &timerSleeper{make(chan struct{}, 1)} }

func (s *timerSleeper) sleep(d time.Duration) {
	if d < 0 {
		<-s.woken
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.woken:
	}
}

func (s *timerSleeper) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

func (s *timerSleeper) close() {}

// spinSleeper sleeps in another sleeper until shortly before the moment and then watches the clock, so that waking up
// takes no time. It occupies a core meanwhile.
type spinSleeper struct {
	sleeper
	ahead time.Duration // how long before the moment it begins to spin
	yield func()        // runs between two readings of the clock; nil for none
	woken atomic.Bool   // by wake; a wake that ended a sleep may also end the next spin early
}

// newTimerSpinSleeper spins for longer than a Go timer is ever late on an idle machine. It shares its thread.
func newTimerSpinSleeper() sleeper {
	return &spinSleeper{sleeper: newTimerSleeper(), ahead: 1100 * time.Microsecond, yield: runtime.Gosched}
}

func (s *spinSleeper) sleep(d time.Duration) {
	switch {
	case d < 0:
		s.sleeper.sleep(d)
	case d > s.ahead:
		s.sleeper.sleep(d - s.ahead) // the caller sleeps again for the rest
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
