package simulator

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// engineError is the reason for which the engine gives up a sequence.
type engineError string

func (e engineError) Error() string { return string(e) }

const (
	errStopped engineError = "the engine has stopped"
	errAborted engineError = "the request was aborted by a pause"
)

const (
	// settle is the wait at the start of a step, inside of it, before the engine looks at arrivals. In virtual time a
	// timer fires only when all goroutines are blocked, so a sequence that arrives or leaves at the start of a step is
	// always part of it.
	settle = time.Nanosecond

	// maxLag is the longest delay of steps that is made up for. A longer one means that the process was asleep or
	// starved, and catching up would be an unrealistic burst.
	maxLag = 250 * time.Millisecond
)

// engine runs sequences in steps, one goroutine for all. A step lasts exactly as long as the profile says; its tokens
// come out at its end, and the next begins right there. Idle, it waits on a channel and no timer runs.
type engine struct {
	wake    chan struct{} // capacity 1: something is pending
	quit    chan struct{} // closed by stop
	stopped chan struct{} // closed by run

	mu       sync.Mutex // guards all below; never held while waiting
	sched    *scheduler
	pending  []*sequence // arrived since the last step started, by time
	aborts   bool        // some sequence is marked aborted
	started  bool
	closed   bool
	paused   *pause // nil while it runs
	resumed  time.Time
	observed observations
}

func newEngine(p Profile) *engine {
	return &engine{
		wake:     make(chan struct{}, 1),
		quit:     make(chan struct{}),
		stopped:  make(chan struct{}),
		sched:    newScheduler(p),
		observed: newObservations(p.SpecTokens),
	}
}

// submit queues seq, whose tokens come out of seq.out; the first call starts the engine. The error is errStopped.
func (e *engine) submit(seq *sequence) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errStopped
	}
	if !e.started {
		e.started = true
		go e.run()
	}
	seq.arrived = time.Now()
	e.pending = append(e.pending, seq)
	e.nudge()
	return nil
}

// nudge makes an idle engine look for work.
func (e *engine) nudge() {
	select {
	case e.wake <- struct{}{}:
	default: // it already knows
	}
}

// given is the error of a sequence whose channel was closed early.
func (e *engine) given(seq *sequence) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if seq.aborted {
		return errAborted
	}
	return errStopped
}

// abort forgets seq before the next step and frees its blocks. A sequence that is done is left alone.
func (e *engine) abort(seq *sequence) {
	e.mu.Lock()
	defer e.mu.Unlock()
	seq.aborted = true
	e.aborts = true
}

// load is the number of sequences that wait or run.
func (e *engine) load() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.pending) + len(e.sched.waiting) + len(e.sched.running)
}

// stop ends the engine and waits for it. Sequences in flight have their channels closed early. It may be called again.
func (e *engine) stop() {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.quit)
	}
	started := e.started
	e.mu.Unlock()
	if started {
		<-e.stopped
	}
}

func (e *engine) run() {
	defer close(e.stopped)
	defer e.giveUp()
	timer := time.NewTimer(0)
	defer timer.Stop()

	var start time.Time // of the step in hand
	for {
		var ok bool
		if start, ok = e.await(start); !ok || !e.sleep(timer, settle) {
			return
		}
		p, length := e.begin(start)
		if len(p.shares) == 0 {
			continue // all its sequences were aborted
		}
		end := start.Add(length)
		if !e.sleep(timer, time.Until(end)) {
			return
		}
		e.finish(p, end)
		start = end
	}
}

// await returns when the next step starts: where the last one ended while there is work, else when the first new
// sequence arrived, or the engine was resumed. It returns false if the engine was stopped.
func (e *engine) await(last time.Time) (time.Time, bool) {
	for {
		e.mu.Lock()
		busy := len(e.sched.running)+len(e.sched.waiting) > 0
		start := last
		if !busy && len(e.pending) > 0 && e.pending[0].arrived.After(last) {
			start = e.pending[0].arrived
		}
		if e.resumed.After(start) {
			start = e.resumed
		}
		busy = busy || len(e.pending) > 0
		if e.paused != nil {
			busy = e.paused.mode != pauseKeep && e.inFlight()
		}
		e.mu.Unlock()

		if busy {
			if now := time.Now(); now.Sub(start) > maxLag {
				start = now
			}
			return start, true
		}
		select {
		case <-e.wake:
		case <-e.quit:
			return last, false
		}
	}
}

// sleep waits for d and returns false if the engine was stopped meanwhile.
func (e *engine) sleep(timer *time.Timer, d time.Duration) bool {
	timer.Reset(d)
	select {
	case <-timer.C:
		return true
	case <-e.quit:
		return false
	}
}

// begin queues the sequences that arrived before the step, drops aborted ones, and plans the step.
func (e *engine) begin(start time.Time) (plan, time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for e.paused == nil && n < len(e.pending) && !e.pending[n].arrived.After(start) {
		n++
	}
	arrived := e.pending[:n]
	slices.SortStableFunc(arrived, func(a, b *sequence) int {
		return cmp.Or(a.arrived.Compare(b.arrived), cmp.Compare(a.key, b.key))
	})
	e.sched.queue(arrived)
	e.pending = slices.Delete(e.pending, 0, n)

	if e.aborts {
		e.dropAborted()
	}
	e.drain()
	p := e.sched.plan()
	for _, s := range p.shares {
		if s.seq.admitted.IsZero() {
			s.seq.admitted, s.seq.cached = start, s.seq.computed
			e.observed.admitted(s.seq)
		}
	}
	return p, e.sched.profile.stepTime(p.load)
}

// dropAborted is called with the lock held. Sequences that are still pending are dropped when their turn comes.
func (e *engine) dropAborted() {
	e.sched.drop(func(seq *sequence) bool {
		if seq.aborted {
			e.giveUpOn(seq)
		}
		return seq.aborted
	})
	e.aborts = slices.ContainsFunc(e.pending, func(seq *sequence) bool { return seq.aborted })
}

// giveUpOn is called with the lock held.
func (e *engine) giveUpOn(seq *sequence) {
	e.observed.ended("abort")
	close(seq.out)
}

// finish hands out the tokens of the step. No send blocks: every channel has room for its whole answer.
func (e *engine) finish(p plan, end time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range p.shares {
		accepted := e.sched.profile.verify(s)
		produced := s.seq.advance(s.tokens, accepted)
		if produced == 0 {
			continue
		}
		if s.drafts > 0 {
			e.observed.speculation.step(s.drafts, accepted)
		}
		e.observed.tokens(s.seq, produced, end)
		if s.seq.firstToken.IsZero() {
			s.seq.firstToken = end
		}
		s.seq.lastToken = end
		s.seq.out <- produced
		if s.seq.done() {
			e.observed.finished(s.seq, end)
			close(s.seq.out)
		}
	}
	e.sched.drop((*sequence).done)
	e.drain()
}

// giveUp closes the channels of all sequences in flight, so that no handler waits for ever.
func (e *engine) giveUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, seq := range slices.Concat(e.pending, e.sched.waiting, e.sched.running) {
		close(seq.out)
	}
	e.pending = nil
	e.sched.drop(func(*sequence) bool { return true })
}

// forgetPrefixes empties the prefix cache, unless a sequence is running.
func (e *engine) forgetPrefixes() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sched.pool.forget()
}
