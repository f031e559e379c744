package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"benchtop/internal/sweep"
	"benchtop/internal/usage"
)

// WatchSignals hears the signals that would kill the process. Those that were ignored when we were started stay
// ignored, so it must come before any other word with the signal package.
func WatchSignals() chan os.Signal {
	signals := make(chan os.Signal, 8)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	return signals
}

// UntilSignal returns a context that ends with the first signal, and a function that stops listening and returns that
// signal, nil for none. With goOn the loss of the terminal does not end it; lost says that it came.
func UntilSignal(signals chan os.Signal, goOn bool) (ctx context.Context, stop func() (sig os.Signal, lost bool)) {
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

// SignalCode is the exit code of a program that a signal ended.
func SignalCode(sig os.Signal) int {
	switch sig {
	case syscall.SIGTERM:
		return ExitTerminated
	case syscall.SIGHUP:
		return ExitHangup
	}
	return ExitAborted
}

// StoppedError says that a signal ended the work.
type StoppedError struct{ By os.Signal }

func (e StoppedError) Error() string { return fmt.Sprintf("stopped (%s)", e.By) }

// UntilStopped does work that a signal ends; the error is then a StoppedError.
func UntilStopped(work func(ctx context.Context) error) error {
	signals := WatchSignals()
	defer signal.Stop(signals)
	ctx, stop := UntilSignal(signals, false)
	err := work(ctx)
	if sig, _ := stop(); sig != nil && err != nil {
		return StoppedError{sig}
	}
	return err
}

// Failed prints an error and returns the exit code that its kind has.
func (e *Environment) Failed(err error) int {
	if err == nil {
		return ExitFine
	}
	if stopped, ok := errors.AsType[StoppedError](err); ok {
		return e.Fail(SignalCode(stopped.By), err)
	}
	if errors.Is(err, sweep.ErrStopped) {
		return e.Fail(ExitAborted, err)
	}
	if errors.As(err, new(usage.Error)) {
		return e.Fail(ExitUsage, err)
	}
	return e.Fail(ExitFailed, err)
}
