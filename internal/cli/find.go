package cli

import (
	"context"
	"time"

	"benchtop/internal/steering"
	"benchtop/metrics"
)

const (
	// verdictEvery is how often a search looks at what its load came to.
	verdictEvery = 100 * time.Millisecond
	// patienceFor is the least time that requests of a load get to end before they are judged by what they showed.
	patienceFor = 30 * time.Second
)

// search finds the highest load within the objectives and ends the sending when it was held, or when there is nothing left to
// try. It ends early with ctx, and when the user sets the load.
func (s *session) search(ctx context.Context) {
	if s.trial == nil {
		return
	}
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	h, f := s.helm, steering.NewFinder(*s.plan.Find)
	h.searching(giveUp)
	for step := f.Step(); ; {
		if step.Phase == steering.Done {
			h.found(f, step)
			return
		}
		within, ok := false, h.try(ctx, step)
		if ok {
			within, ok = s.outcomeOf(ctx, step)
		}
		if !ok {
			h.unfinished(step)
			return
		}
		step = f.Next(within)
	}
}

// outcomeOf waits until it is known what a step came to; not ok when ctx ended first.
func (s *session) outcomeOf(ctx context.Context, step steering.Step) (within, ok bool) {
	tick := time.NewTicker(verdictEvery)
	defer tick.Stop()
	began := s.helm.now()
	for {
		select {
		case <-ctx.Done():
			return false, false
		case <-tick.C:
		}
		now := s.helm.now()
		if step.Phase == steering.Draining {
			if now-began >= step.For || s.trial.Waiting() == 0 {
				return true, true
			}
			continue
		}
		if v := s.trial.Verdict(now); v != steering.Open {
			return v == steering.Within, true
		}
	}
}

// searching says that a search has the helm until a hand takes it.
func (h *helm) searching(giveUp context.CancelFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.giveUp = giveUp
}

// try puts the load of a step in force and begins its trial; false when a hand was quicker.
func (h *helm) try(ctx context.Context, step steering.Step) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.giveUp == nil || ctx.Err() != nil {
		return false
	}
	h.state.Search = step.Words
	if step.Phase == steering.Draining {
		h.hold(metrics.BySearch, step.Words)
		return true
	}
	h.set(ctx, step.Load, metrics.BySearch, step.Words, h.words(step.Load))
	from, expected := h.now()+step.Settle, 0.0
	if !h.inUsers {
		expected = step.Load * step.For.Seconds()
	}
	h.session.trial.Begin(from, from+step.For, expected, max(patienceFor, 2*h.session.plan.Find.Step))
	return true
}

// unfinished tells that the run ended before the search did, unless a hand has ended it.
func (h *helm) unfinished(step steering.Step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.giveUp != nil {
		h.giveUp = nil
		h.session.log(metrics.Warn, "search: the run ended before it came to a result; the last it did: "+step.Words)
	}
}

// found tells how the search ended, and ends the sending.
func (h *helm) found(f *steering.Finder, step steering.Step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.giveUp == nil {
		return
	}
	h.giveUp, h.state.Search = nil, step.Words
	h.tellState()
	e := metrics.LogEntry{Level: metrics.Warn, Text: "search: " + step.Words}
	if load, ok := f.Found(); ok {
		e = metrics.LogEntry{Level: metrics.Info, Text: "search: the highest load within the objectives is " + h.words(load), Mark: metrics.FoundMark}
	}
	h.session.stream.Tell(e)
	h.session.engine.StopSending()
}
