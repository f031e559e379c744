package loadgen

// SetLimit changes how many requests may be in flight, 0 for no limit.
func (e *Engine) SetLimit(n int) { e.limiter.setLimit(n) }

// SetRate leaves the plan's schedule for good: from now on requests arrive at a rate per second, with gaps that
// Options.Steered draws. What is no rate, 0 included, stops the arrivals until the next call. A pause stays one. It returns
// false where there is nothing to set: nothing more is sent, or the load is a closed loop, which SetLimit steers.
func (e *Engine) SetRate(perSecond float64) bool {
	if e.options.ClosedLoop || e.stopping.Err() != nil {
		return false
	}
	return e.pacer.SetRate(e.clock.Now(), perSecond)
}

// Pause stops the arrivals. What waits for a slot still gets one, but in a closed loop and with Options.HoldPaused. The
// clock that ends the sending goes on. False when nothing more is sent anyway.
func (e *Engine) Pause() bool { return e.setPaused(true) }

// Resume ends a pause. The arrivals go on where they stood, so nothing comes all at once.
func (e *Engine) Resume() bool { return e.setPaused(false) }

func (e *Engine) setPaused(paused bool) bool {
	sending := e.pacer.SetPaused(e.clock.Now(), paused) && e.stopping.Err() == nil
	if e.options.ClosedLoop || e.options.HoldPaused {
		e.limiter.setPaused(paused)
		// The last of what is held back may wait here when all has been dispatched.
		sending = sending || e.stopping.Err() == nil && e.limiter.backlog(1) != nil
	}
	return sending
}

// Sending says that something new may still be sent: only then does it make sense to steer.
func (e *Engine) Sending() bool {
	return e.stopping.Err() == nil && (!e.pacer.Closed() || e.limiter.backlog(1) != nil)
}

// Dispatched is how many requests have been handed over so far, those that are held back included.
func (e *Engine) Dispatched() int { return int(e.dispatched.Load()) }

// StopSending starts nothing new and drops what is held back, as the end of a duration does. What is in flight goes on.
func (e *Engine) StopSending() { e.halt() }
