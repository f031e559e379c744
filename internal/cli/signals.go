package cli

import (
	"os"
	"os/signal"
	"syscall"

	"benchtop/metrics"
)

// handleSignals makes every signal that would kill the process end the run in order instead. It returns a function that
// restores the defaults.
//
//	SIGINT    as the key q: drain; again: abort; a third time: leave at once
//	SIGTERM   drain for 2 s; again: abort
//	SIGHUP    the terminal is gone: drain for 2 s without a screen
func (s *session) handleSignals() func() {
	signals := make(chan os.Signal, 8)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A reader of our output that went away must not kill the run.
	signal.Ignore(syscall.SIGPIPE)
	go func() {
		defer close(done)
		for sig := range signals {
			s.handle(sig)
		}
	}()
	return func() {
		signal.Stop(signals)
		signal.Reset(syscall.SIGPIPE)
		close(signals)
		<-done
	}
}

func (s *session) handle(sig os.Signal) {
	s.mu.Lock()
	stage := s.stage
	s.mu.Unlock()
	switch {
	case sig == syscall.SIGHUP:
		s.hangUp()
	case stage == 0 && sig == syscall.SIGTERM:
		s.withoutScreen()
		s.stop("SIGTERM", exitTerminated, sigtermDrain)
	case stage == 0:
		s.Drain()
	case stage == 1:
		s.Abort()
	default:
		s.withoutScreen()
		s.leaveNow()
	}
}

// hangUp ends the run after the terminal was lost.
func (s *session) hangUp() {
	s.withoutScreen()
	s.stop("the terminal was lost", exitHangup, sigtermDrain)
	s.log(metrics.Warn, "the terminal was lost")
}

// withoutScreen ends the dashboard but not the run.
func (s *session) withoutScreen() {
	s.mu.Lock()
	s.noUI = true
	closeUI := s.closeUI
	s.mu.Unlock()
	closeUI()
}
