package loadgen

import (
	"context"
	"fmt"
	"time"
)

// sleeper waits for a moment on one goroutine; wake ends the wait early, from any goroutine.
type sleeper interface {
	// sleep returns after d, or when wake is called; a negative d waits for wake alone. A wake that came before counts.
	sleep(d time.Duration)
	wake()
	close()
}

// PacerKinds are the pacers this system has, the default first.
func PacerKinds() []string {
	return append(systemPacers[:len(systemPacers):len(systemPacers)], "timer")
}

func newSleeper(kind string) (sleeper, error) {
	switch kind {
	case "timer":
		return newTimerSleeper(), nil
	case "":
		return newSystemSleeper()
	}
	for _, k := range systemPacers {
		if k == kind {
			return newSystemSleeper()
		}
	}
	return nil, fmt.Errorf("pacer %q: this system has %v", kind, PacerKinds())
}

// pacer waits until schedule times are due. Waiting aims at absolute moments, so lateness does not add up.
type pacer struct {
	clock runClock
	steer *steering
	sleep sleeper
	until time.Duration // what is due later in the run never comes; 0 for no end
}

// newPacer is called on the goroutine that will wait.
func newPacer(clock runClock, kind string, steer *steering) (*pacer, error) {
	s, err := newSleeper(kind)
	if err != nil {
		return nil, err
	}
	steer.onChange(s.wake)
	return &pacer{clock: clock, steer: steer, sleep: s}, nil
}

func (p *pacer) close() {
	p.steer.onChange(nil)
	p.sleep.close()
}

// wait blocks until a schedule time is due and returns the run time it fell on; false when ctx ended first, or at the
// end of the run's duration for what is not due by then.
func (p *pacer) wait(ctx context.Context, schedule time.Duration) (time.Duration, bool) {
	stop := context.AfterFunc(ctx, p.sleep.wake)
	defer stop()
	for {
		if ctx.Err() != nil {
			return 0, false
		}
		due, moving := p.steer.due(schedule)
		over := p.until > 0 && (!moving || due > p.until)
		if over {
			due = p.until
		}
		left := time.Duration(-1)
		if moving || over {
			left = time.Until(p.clock.start.Add(due))
			if left <= 0 {
				return due.Round(time.Microsecond), !over
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
