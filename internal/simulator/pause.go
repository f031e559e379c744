package simulator

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// pause is a time in which the engine starts no sequence.
type pause struct {
	mode    pauseMode
	clear   bool          // the prefix cache, when nothing is in flight
	drained chan struct{} // closed when nothing is in flight
	done    bool          // drained is closed
}

// pauseMode says what a pause does with the sequences in flight.
type pauseMode string

const (
	pauseAbort pauseMode = "abort" // they end with an error
	pauseWait  pauseMode = "wait"  // they go on to their ends
	pauseKeep  pauseMode = "keep"  // they stop, and go on after the pause
)

// pause answers when the engine is paused. As in vLLM, a new request is accepted and waits until the engine is resumed.
func (s *Server) pause(w http.ResponseWriter, r *http.Request) *apiError {
	query := r.URL.Query()
	mode := pauseMode(cmp.Or(query.Get("mode"), string(pauseAbort)))
	if mode != pauseAbort && mode != pauseWait && mode != pauseKeep {
		return &apiError{status: http.StatusBadRequest, param: "query.mode", framework: true,
			message: "mode must be 'abort', 'wait' or 'keep'"}
	}
	p := s.engine.pause(mode, query.Get("clear_cache") != "false")
	select {
	case <-p.drained:
	case <-r.Context().Done():
		return nil
	case <-s.engine.quit:
		return unavailable(errStopped)
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "paused"})
	return nil
}

func (s *Server) resume(w http.ResponseWriter, _ *http.Request) *apiError {
	s.engine.resume()
	writeJSON(w, http.StatusOK, map[string]string{"status": "resumed"})
	return nil
}

func (s *Server) isPaused(w http.ResponseWriter, _ *http.Request) *apiError {
	e := s.engine
	e.mu.Lock()
	paused := e.paused != nil
	e.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]bool{"is_paused": paused})
	return nil
}

// sleep is a pause by another name: level 0 frees no memory, and no other is simulated. A partial waking wakes the
// scheduler, since nothing else sleeps.
func (s *Server) sleep(w http.ResponseWriter, r *http.Request) *apiError {
	if level := r.URL.Query().Get("level"); level != "0" {
		return &apiError{status: http.StatusBadRequest, param: "query.level", framework: true,
			message: "only level 0 is simulated"}
	}
	return s.pause(w, r)
}

// pause starts no sequence from now on. The step in hand goes to its end.
func (e *engine) pause(mode pauseMode, clear bool) *pause {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := &pause{mode: mode, clear: clear && mode != pauseKeep, drained: make(chan struct{})}
	e.end() // the new one takes its place
	e.paused = p
	switch mode {
	case pauseKeep:
		p.end()
	case pauseAbort:
		for _, seq := range slices.Concat(e.pending, e.sched.waiting, e.sched.running) {
			seq.aborted, e.aborts = true, true
		}
		for _, seq := range e.pending {
			e.giveUpOn(seq)
		}
		e.pending = nil
	}
	e.drain()
	e.nudge()
	return p
}

func (e *engine) resume() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.end()
	e.nudge()
}

// end ends a pause, if there is one. It is called with the lock held.
func (e *engine) end() {
	if e.paused == nil {
		return
	}
	if !e.paused.done {
		e.paused.end()
	}
	e.paused, e.resumed = nil, time.Now()
}

// drain tells those who wait for a pause when nothing is in flight. It is called with the lock held.
func (e *engine) drain() {
	if e.paused == nil || e.paused.done || e.inFlight() {
		return
	}
	if e.paused.clear {
		e.sched.pool.forget()
	}
	e.paused.end()
}

func (p *pause) end() {
	p.done = true
	close(p.drained)
}

// inFlight is called with the lock held. Sequences that wait for the end of a pause do not count.
func (e *engine) inFlight() bool { return len(e.sched.running)+len(e.sched.waiting) > 0 }
