package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"benchtop/internal/usage"
)

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
