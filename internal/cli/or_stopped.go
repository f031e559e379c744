package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"benchtop/internal/usage"
)

// orStopped does work that does not hear of ctx, such as opening a pipe or drawing millions of lengths, and returns ctx's error
// if that ends first. The work is then left to itself: this is for programs that are about to end.
func orStopped[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := work()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
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
	if stopped, ok := errors.AsType[stoppedError](err); ok {
		return e.fail(signalCode(stopped.by), err)
	}
	if errors.As(err, new(usage.Error)) {
		return e.fail(exitUsage, err)
	}
	return e.fail(exitFailed, err)
}
