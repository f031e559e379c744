package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"benchtop/metrics"
)

// handleSignals makes every signal that would kill the process end the run in order instead. It returns a function that
// restores the defaults.
//
//	SIGINT    as the key q: drain; again: abort; a third time: leave at once
//	SIGTERM   leave the screen, drain for 2 s; again: abort
//	SIGHUP    the terminal is gone: the same, unless --on-hangup continue says that the run goes on
//
// Once the run is over any of them only leaves the screen. Signals that were ignored when we were started, as nohup does,
// stay ignored.
func (s *session) handleSignals() func() {
	signals := make(chan os.Signal, 8)
	done := make(chan struct{})
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
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
	select {
	case <-s.over:
		s.withoutScreen()
		s.goNow()
		return
	default:
	}
	switch sig {
	case syscall.SIGHUP:
		s.goNow()
		s.hangUp()
	case syscall.SIGTERM:
		s.goNow()
		s.withoutScreen()
		s.end("SIGTERM", exitTerminated)
	default:
		s.interrupt()
	}
}

// goNow says that the way out must not wait for a terminal that takes no output.
func (s *session) goNow() { s.tell.Do(func() { close(s.told) }) }

// interrupt is one more Ctrl-C.
func (s *session) interrupt() {
	s.mu.Lock()
	stage := s.stage
	s.mu.Unlock()
	switch stage {
	case 0:
		s.Drain()
	case 1:
		s.Abort()
	default:
		s.withoutScreen()
		s.leaveNow()
	}
}

// hangUp ends the run after the terminal was lost.
func (s *session) hangUp() {
	s.withoutScreen()
	s.mu.Lock()
	known := s.lost
	s.lost = true
	s.mu.Unlock()
	switch {
	case known: // it shows twice: as a signal, and as a screen that cannot be written
	case s.screen.onHangup == hangupContinue:
		s.log(metrics.Warn, "the terminal was lost: the run goes on without it")
	default:
		s.end("the terminal was lost", exitHangup)
	}
}

// end is a request to end soon that does not come from the user: a short drain, whatever was going on, and the second time
// the end.
func (s *session) end(reason string, code int) {
	s.mu.Lock()
	again := s.code == code
	s.mu.Unlock()
	switch {
	case again:
		s.abort(reason, code)
	case s.stop(reason, code, sigtermDrain):
	default: // it is draining already, with more patience than there is now
		s.mu.Lock()
		s.reason, s.code = reason, code
		s.mu.Unlock()
		s.recorder.SetState(metrics.Draining, time.Since(s.load.Start)+sigtermDrain)
		s.log(metrics.Warn, reason+": waiting no longer than 2s for requests in flight")
		time.AfterFunc(sigtermDrain, s.engine.Abort)
	}
}

// withoutScreen ends the dashboard but not the run.
func (s *session) withoutScreen() {
	s.mu.Lock()
	s.noUI = true
	closeUI := s.closeUI
	s.mu.Unlock()
	closeUI()
}
