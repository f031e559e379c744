// Package pace waits until arrivals are due: it maps the times of a schedule to times of the run, follows changes of
// the rate and pauses, and sleeps more exactly than a Go timer. It knows nothing of requests.
package pace

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"benchtop/loadgen/shape"
)

// Pacer maps schedule time to run time and waits. The map is a line whose slope is the speed, with a corner at every
// change:
//
//	run time
//	 |        ________ speed 2
//	 |       |  (paused: later schedule times have no run time)
//	 |   ___/   speed 1
//	 +------------------ schedule time
//
// When the plan is left, a second map replaces it. Its schedule time is a number of expected arrivals, one for each
// second, so that its speed is the rate.
//
// Waiting aims at absolute moments, so lateness does not add up. One goroutine opens the pacer, waits and closes it;
// the other methods may be called from any.
type Pacer struct {
	start time.Time
	end   time.Duration // no arrival is due after it; 0 for no end
	// steeredEnd replaces an end of 0 after the first change.
	steeredEnd time.Duration

	watched <-chan struct{} // the end of the context that wakes the sleeper now
	unwatch func() bool

	mu       sync.Mutex // guards everything below
	lines    []line     // those that waits have not passed yet, oldest first; the last is in force
	speed    float64    // schedule time per run time, unless paused
	paused   bool
	planLeft bool    // the plan is left
	steered  bool    // there was a change
	sleeper  sleeper // nil unless open
	closed   bool
}

// line begins at a point of the map. Its speed is 0 in a pause.
type line struct {
	schedule, run time.Duration
	speed         float64
}

// never is the run time of arrivals that are not due as long as the load stays as it is.
const never = time.Duration(math.MaxInt64)

// New returns the pacer of a run that follows its plan. end is the offset at which the sending ends, 0 for none;
// steeredEnd replaces an end of 0 after the arrivals were steered or paused.
func New(start time.Time, end, steeredEnd time.Duration) *Pacer {
	return &Pacer{start: start, end: end, steeredEnd: steeredEnd, lines: []line{{speed: 1}}, speed: 1,
		unwatch: func() bool { return true }}
}

// Open prepares the waits with one of Kinds, "" for the default. It may lock its goroutine to the thread.
func (p *Pacer) Open(kind string) error {
	s, err := newSleeper(kind)
	if err == nil {
		p.use(s)
	}
	return err
}

func (p *Pacer) use(s sleeper) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sleeper = s
}

// Close ends the waits, opened or not.
func (p *Pacer) Close() {
	p.unwatch()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sleeper != nil {
		p.sleeper.close()
	}
	p.sleeper, p.closed = nil, true
}

// Closed reports whether there are no more waits.
func (p *Pacer) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Wait blocks until a schedule time is due and returns the run time it fell on; false when ctx ends first, at the end
// of the sending for later arrivals, and for a time of the plan after the plan is left. Times ascend.
func (p *Pacer) Wait(ctx context.Context, schedule time.Duration, planned bool) (time.Duration, bool) {
	p.watch(ctx)
	for ctx.Err() == nil {
		at, over := p.due(schedule, planned)
		left := time.Duration(-1)
		if at != never {
			if left = time.Until(p.start.Add(at)); left <= 0 {
				return at.Round(time.Microsecond), !over
			}
		}
		p.sleeper.sleep(left)
	}
	return 0, false
}

// watch wakes the sleeper at the end of a context. A run has one context for all waits, so this happens once.
func (p *Pacer) watch(ctx context.Context) {
	if end := ctx.Done(); end != p.watched {
		p.unwatch()
		p.watched, p.unwatch = end, context.AfterFunc(ctx, p.sleeper.wake)
	}
}

// due is the run time of a schedule time, or the end of the sending if that is earlier.
func (p *Pacer) due(schedule time.Duration, planned bool) (at time.Duration, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if planned && p.planLeft {
		return -never, true
	}
	switch l := p.line(schedule); l.speed {
	case 0:
		at = never
	case 1:
		at = addSaturated(l.run, schedule-l.schedule)
	default:
		at = addSaturated(l.run, shape.Rounded(float64(schedule-l.schedule)/l.speed))
	}
	end := p.end
	if end == 0 && p.steered {
		end = p.steeredEnd
	}
	if end > 0 && at > end {
		return end, true
	}
	return at, false
}

// line is the one that a schedule time lies on. A late arrival keeps its line, although the speed has changed since.
// Earlier lines are dropped.
func (p *Pacer) line(schedule time.Duration) line {
	for len(p.lines) > 1 && p.lines[1].schedule <= schedule {
		p.lines = p.lines[1:]
	}
	return p.lines[0]
}

// addSaturated is at + d, at most the largest duration: an arrival at a tiny rate may lie beyond it.
func addSaturated(at, d time.Duration) time.Duration {
	if at > 0 && d > never-at {
		return never
	}
	return at + d
}

// maxSpeed is the highest speed: a finite one, so that an offset times the speed is a number.
const maxSpeed = 1e9

// SetRate leaves the plan and sets the rate of the arrivals that replace it. A rate that is not positive stops them.
// Like SetPaused it returns false when there are no more waits.
func (p *Pacer) SetRate(now time.Duration, perSecond float64) bool {
	return p.change(func() {
		if !p.planLeft {
			p.planLeft, p.lines = true, []line{{run: max(now, 0)}}
		}
		p.setSpeed(now, perSecond)
	})
}

// SetPaused begins or ends a pause. The speed stays the same afterwards.
func (p *Pacer) SetPaused(now time.Duration, paused bool) bool {
	return p.change(func() {
		p.paused = paused
		p.setSpeed(now, p.speed)
	})
}

// change makes a change and wakes the sleeper.
func (p *Pacer) change(do func()) bool {
	p.mu.Lock()
	p.steered = true
	do()
	s, closed := p.sleeper, p.closed
	p.mu.Unlock()
	if s != nil {
		s.wake()
	}
	return !closed
}

// setSpeed begins a new line at the end of the last one. The lock is held.
func (p *Pacer) setSpeed(now time.Duration, speed float64) {
	p.speed = 0
	if speed > 0 {
		p.speed = min(speed, maxSpeed)
	}
	l := p.lines[len(p.lines)-1]
	now = max(now, l.run) // another change may be later
	l.schedule, l.run, l.speed = addSaturated(l.schedule, shape.Rounded(float64(now-l.run)*l.speed)), now, p.speed
	if p.paused {
		l.speed = 0
	}
	p.lines = append(p.lines, l)
}

// PlanLeft reports whether arrivals follow a rate and no longer the plan.
func (p *Pacer) PlanLeft() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.planLeft
}

// Lateness waits for n Poisson arrivals with a mean rate per second on a pacer of Kinds ("" for the default), as a run
// does but without requests, and returns the lateness of each wait in order. Arrivals that are due before their wait
// count like the rest. The same seed gives the same arrivals. When ctx ends first, it returns the results so far and
// the cause.
func Lateness(ctx context.Context, kind string, perSecond float64, n int,
	seed uint64) (late []time.Duration, err error) {
	if !(perSecond > 0) || n < 0 || n > shape.MostArrivals {
		return nil, fmt.Errorf("%d arrivals at %v per second: use a positive rate and at most %d arrivals", n,
			perSecond, shape.MostArrivals)
	}
	done := make(chan struct{})
	go func() { // the pacer may lock its thread, which then ends with the goroutine
		defer close(done)
		draws := rand.New(rand.NewPCG(seed, 0))
		start := time.Now()
		p := New(start, 0, 0)
		defer p.Close()
		if err = p.Open(kind); err != nil {
			return
		}
		late = make([]time.Duration, 0, n)
		for at := 0.0; len(late) < n; {
			at += draws.ExpFloat64() / perSecond
			offset := shape.Nanoseconds(at)
			if _, ok := p.Wait(ctx, offset, true); !ok {
				err = context.Cause(ctx)
				return
			}
			late = append(late, time.Since(start)-offset)
		}
	}()
	<-done
	return late, err
}
