package cli

import (
	"context"
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
//	SIGQUIT   abort
//	SIGTERM   leave the screen, drain for 2 s; again: abort
//	SIGHUP    the terminal is gone: the same, unless --on-hangup continue says that the run goes on
//
// Once the load is over the result is saved whatever comes; then any of them only leaves the screen. Signals that were ignored when we were started, as nohup does,
// stay ignored.
func (s *session) handleSignals() func() {
	if s.signals == nil {
		s.signals = watchSignals()
	}
	done := make(chan struct{})
	// A reader of our output that went away must not kill the run.
	signal.Ignore(syscall.SIGPIPE)
	go func() {
		defer close(done)
		for sig := range s.signals {
			s.handle(sig)
		}
	}()
	return func() {
		signal.Stop(s.signals)
		signal.Reset(syscall.SIGPIPE)
		close(s.signals)
		<-done
	}
}

// watchSignals hears the signals that would kill the process. Those that were ignored when we were started stay ignored,
// so it must come before any other word with the signal package.
func watchSignals() chan os.Signal {
	signals := make(chan os.Signal, 8)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	return signals
}

// untilSignal returns a context that ends with the first signal, and a function that stops listening and returns that
// signal, nil for none. With goOn the loss of the terminal does not end it; lost says that it came.
func untilSignal(signals chan os.Signal, goOn bool) (ctx context.Context, stop func() (sig os.Signal, lost bool)) {
	ctx, cancel := context.WithCancel(context.Background())
	over, done := make(chan struct{}), make(chan struct{})
	var first os.Signal
	var lost bool
	go func() {
		defer close(done)
		for {
			select {
			case sig := <-signals:
				if sig == syscall.SIGHUP && goOn {
					lost = true
					continue
				}
				first = sig
				cancel()
				return
			case <-over:
				return
			}
		}
	}()
	return ctx, func() (os.Signal, bool) {
		close(over)
		<-done
		cancel()
		return first, lost
	}
}

// signalCode is the exit code of a program that a signal ended.
func signalCode(sig os.Signal) int {
	switch sig {
	case syscall.SIGTERM:
		return exitTerminated
	case syscall.SIGHUP:
		return exitHangup
	}
	return exitAborted
}

func (s *session) handle(sig os.Signal) {
	if sig == syscall.SIGTERM || sig == syscall.SIGHUP {
		s.goNow()
	}
	select {
	case <-s.over:
		s.goNow()
		s.withoutScreen()
		return
	default:
	}
	switch sig {
	case syscall.SIGHUP:
		s.hangUp()
	case syscall.SIGTERM:
		s.withoutScreen()
		s.end(metrics.EndedBySIGTERM)
	case syscall.SIGQUIT:
		s.Abort()
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
		s.end(metrics.TerminalLost)
	}
}

// end is a request to end soon that does not come from the user: a short drain, whatever was going on, and the second time
// the end.
func (s *session) end(reason string) {
	s.mu.Lock()
	again := s.reason == reason
	s.mu.Unlock()
	switch {
	case s.measured(): // it is only being saved
		s.hurry()
	case again:
		s.abort(reason)
	case s.stop(reason, sigtermDrain):
	default: // it is draining already, with more patience than there is now
		s.mu.Lock()
		s.because(reason)
		s.mu.Unlock()
		s.stream.Tell(metrics.Phase{State: metrics.Draining, DrainBy: time.Since(s.load.Start) + sigtermDrain})
		s.log(metrics.Warn, reason+": waiting no longer than 2s for requests in flight")
		time.AfterFunc(sigtermDrain, s.engine.Abort)
	}
}

// withoutScreen ends the dashboard but not the run.
func (s *session) withoutScreen() {
	s.mu.Lock()
	s.noUI = true
	s.mu.Unlock()
	if d := s.env.display(); d != nil {
		d.leave()
	}
}
