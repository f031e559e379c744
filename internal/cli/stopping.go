package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"benchtop/metrics"
	"benchtop/tui"
)

// Command does what the dashboard, or a viewer, asks for; signals use the same ways.
func (s *session) Command(c metrics.Command) (said string, ok bool) {
	switch c.Do {
	case metrics.Drain:
		s.Drain()
		return "", true
	case metrics.Abort:
		s.Abort()
		return "", true
	case metrics.SetObjectives:
		return s.SetObjectives(c.Objectives), true
	case metrics.Save:
		return s.Save(), true
	}
	return s.Steer(c)
}

// Drain sends nothing new and lets what is in flight finish.
func (s *session) Drain() { s.stop(metrics.StoppedByUser, s.load.Drain) }

// Abort cuts what is in flight.
func (s *session) Abort() { s.abort(metrics.AbortedByUser) }

func (s *session) abort(reason string) {
	s.mu.Lock()
	s.stage = max(s.stage, 2)
	if s.measured() {
		s.mu.Unlock()
		s.hurry()
		return // it ran to its end; only the saving is still on
	}
	s.because(reason)
	s.stream.Tell(metrics.Phase{State: metrics.Aborting, DrainBy: metrics.Never})
	s.mu.Unlock()
	s.endStages()
	s.log(metrics.Warn, reason+": cutting what is in flight")
	go s.engine.Abort()
}

// stop drains the run; the first reason counts, and only that returns true.
func (s *session) stop(reason string, limit time.Duration) bool {
	s.mu.Lock()
	if s.stage > 0 {
		s.mu.Unlock()
		return false
	}
	s.stage = 1
	if s.measured() {
		s.mu.Unlock()
		s.hurry()
		return true
	}
	s.because(reason)
	s.stream.Tell(metrics.Phase{State: metrics.Draining, DrainBy: time.Since(s.load.Start) + limit})
	s.mu.Unlock()
	s.endStages()
	s.log(metrics.Info, fmt.Sprintf("%s: sending no more, waiting up to %s for requests in flight", reason, limit))
	go s.engine.Drain(limit)
	return true
}

// because notes why the run ends, unless it is known to end for a reason of higher rank. The caller holds mu.
func (s *session) because(reason string) {
	if metrics.ConclusionOf(reason) >= metrics.ConclusionOf(s.reason) {
		s.reason = reason
	}
}

// measured says that the load is over, though the result may not be saved yet.
func (s *session) measured() bool {
	select {
	case <-s.ran:
		return true
	default:
		return false
	}
}

// endStages keeps stages that were still to come from being announced.
func (s *session) endStages() { s.stopped.Do(func() { close(s.noMore) }) }

// untilStopped is a context that also ends when nothing more is to be sent.
func (s *session) untilStopped(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		select {
		case <-s.noMore:
		case <-ctx.Done():
		}
	}()
	return ctx
}

// leftScreen decides what the end of the dashboard means for the run.
func (s *session) leftScreen(err error) {
	select {
	case <-s.over:
		return
	default:
	}
	s.mu.Lock()
	stage, noUI := s.stage, s.noUI
	s.mu.Unlock()
	switch {
	case noUI:
		// A signal closed it and has said already how the run ends.
	case err != nil && errors.Is(err, tui.ErrTerminal):
		s.hangUp()
	case err != nil:
		// The dashboard broke; the run is worth more than the picture.
		fmt.Fprintf(s.env.stderr, "benchtop: the dashboard broke, the run goes on without it: %s\n", err)
	case stage >= 2:
		s.leaveNow()
	}
}
