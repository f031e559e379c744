package loadgen

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// sleeper waits for a moment on one goroutine; wake ends the wait early, from any goroutine.
type sleeper interface {
	// sleep returns after d, or when wake is called; a negative d waits for wake alone. A wake that came before counts.
	sleep(d time.Duration)
	wake()
	close()
}

// PacerKinds are the pacers this system has, the default first: timer sleeps on a Go timer, timerfd on one of the kernel's,
// ppoll in a system call, and spin sleeps until shortly before and then watches the clock.
func PacerKinds() []string {
	return pacerKinds(runtime.GOMAXPROCS(0) >= spinCores && runtime.NumCPU() >= spinCores)
}

// spinCores is how many cores there must be before one of them may be kept from the requests, some of the time, without
// being asked for.
const spinCores = 4

func newSleeper(kind string) (sleeper, error) {
	kinds := PacerKinds()
	if kind == "" {
		kind = kinds[0]
	}
	switch {
	case !slices.Contains(kinds, kind):
		return nil, fmt.Errorf("pacer %q: this system has %v", kind, kinds)
	case kind == "timer":
		return newTimerSleeper(), nil
	}
	return newSystemSleeper(kind)
}

// pacer waits until schedule times are due. Waiting aims at absolute moments, so lateness does not add up.
type pacer struct {
	clock   runClock
	steer   *steering
	sleep   sleeper
	until   time.Duration // what is due later in the run never comes; 0 for no end
	planned bool          // the schedule times are the plan's

	watched <-chan struct{} // the end of the context that wakes it now
	unwatch func() bool
}

// newPacer is called on the goroutine that will wait.
func newPacer(clock runClock, kind string, steer *steering) (*pacer, error) {
	s, err := newSleeper(kind)
	if err != nil {
		return nil, err
	}
	return newPacerOn(clock, s, steer), nil
}

func newPacerOn(clock runClock, s sleeper, steer *steering) *pacer {
	steer.onChange(s.wake)
	return &pacer{clock: clock, steer: steer, sleep: s, planned: true, unwatch: func() bool { return true }}
}

func (p *pacer) close() {
	p.unwatch()
	p.steer.onChange(nil)
	p.sleep.close()
}

// watch makes the end of a context wake the pacer. A run has one context for all its waits, which is thus asked once.
func (p *pacer) watch(ctx context.Context) {
	if end := ctx.Done(); end != p.watched {
		p.unwatch()
		p.watched, p.unwatch = end, context.AfterFunc(ctx, p.sleep.wake)
	}
}

// wait blocks until a schedule time is due and returns the run time it fell on; false when ctx ended first, at the end of
// the run's duration for what is not due by then, and for a time of the plan's when the plan is left.
func (p *pacer) wait(ctx context.Context, schedule time.Duration) (time.Duration, bool) {
	p.watch(ctx)
	for {
		if ctx.Err() != nil {
			return 0, false
		}
		n := p.steer.due(schedule, p.planned)
		if n.left {
			return 0, false
		}
		until := p.until
		if until == 0 {
			until = n.end
		}
		over := until > 0 && (!n.moving || n.due > until)
		if over {
			n.due = until
		}
		left := time.Duration(-1)
		if n.moving || over {
			left = time.Until(p.clock.start.Add(n.due))
			if left <= 0 {
				return n.due.Round(time.Microsecond), !over
			}
		}
		p.sleep.sleep(left)
	}
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
