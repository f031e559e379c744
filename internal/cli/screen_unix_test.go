//go:build unix

package cli

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"

	"benchtop/internal/session"
	"benchtop/tui"
)

// A broken dashboard is an error; one that ended by a signal or the loss of the terminal is not.
func TestOnTerminal(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		show func(context.Context) error
		left os.Signal
		err  error
	}{
		{"its end", func(context.Context) error { return nil }, nil, nil},
		{"a bug", func(context.Context) error { return broken }, nil, broken},
		{"no terminal", func(context.Context) error { return tui.ErrTerminal }, syscall.SIGHUP, nil},
		{"a signal", func(ctx context.Context) error {
			_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
			<-ctx.Done()
			return context.Cause(ctx)
		}, syscall.SIGTERM, nil},
		{"another signal", func(ctx context.Context) error {
			_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
			<-ctx.Done()
			return context.Cause(ctx)
		}, syscall.SIGINT, nil},
	} {
		if left, err := session.OnTerminal(c.show); left != c.left || !errors.Is(err, c.err) {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, left, err, c.left, c.err)
		}
	}
}
