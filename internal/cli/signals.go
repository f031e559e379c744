package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"benchtop/internal/usage"
)

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

// stoppedError says that a signal ended the work.
type stoppedError struct{ by os.Signal }

func (e stoppedError) Error() string { return fmt.Sprintf("stopped (%s)", e.by) }

// untilStopped does work that a signal ends; the error is then a stoppedError.
func untilStopped(work func(ctx context.Context) error) error {
	signals := watchSignals()
	defer signal.Stop(signals)
	ctx, stop := untilSignal(signals, false)
	err := work(ctx)
	if sig, _ := stop(); sig != nil && err != nil {
		return stoppedError{sig}
	}
	return err
}

// failed prints an error and returns the exit code that its kind has.
func (e *environment) failed(err error) int {
	if err == nil {
		return exitFine
	}
	if stopped, ok := errors.AsType[stoppedError](err); ok {
		return e.fail(signalCode(stopped.by), err)
	}
	if errors.As(err, new(usage.Error)) {
		return e.fail(exitUsage, err)
	}
	return e.fail(exitFailed, err)
}
