package simulator

import (
	"sync"
	"time"
)

// deadline is a moment that can be moved while others wait for it.
type deadline struct {
	mu    sync.Mutex // guards all below; never held while waiting
	timer *time.Timer
	round int           // counts calls of set, so that a timer that was stopped too late does nothing
	past  chan struct{} // closed when the moment has come
	fired bool
}

func newDeadline() *deadline { return &deadline{past: make(chan struct{})} }

// set moves the deadline to t; the zero time means never. Waiters that were told it had come are not called back.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.round++
	wait := time.Until(t)
	if !t.IsZero() && wait <= 0 {
		d.fire()
		return
	}
	if d.fired {
		d.fired = false
		d.past = make(chan struct{})
	}
	if t.IsZero() {
		return
	}
	round := d.round
	d.timer = time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.round == round {
			d.fire()
		}
	})
}

// fire is called with the lock held.
func (d *deadline) fire() {
	if !d.fired {
		d.fired = true
		close(d.past)
	}
}

// expired returns the channel that is closed when the moment has come, as set last.
func (d *deadline) expired() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.past
}
