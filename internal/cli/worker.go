package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"benchtop/internal/argv"
	"benchtop/internal/session"
)

const workerText = `
Loads a server as one of several machines: sends a part of the run that 'benchtop serve --workers' leads on another
machine, and keeps the journal of it. It needs no other flags, since it gets those of the run. It ends with its part of
the run, also without the machine that leads; then 'benchtop report' joins the journals of all parts.

The join string is a secret: with it a machine takes part in the run, and gets the keys of the server that is loaded.`

func runWorker(env *session.Environment, args []string) int {
	flags := argv.Flags{Synopsis: "worker [--join STRING|@FILE|'$NAME']", Text: workerText}
	join := flags.Group("Run").String("join", "",
		"join string of the run: @FILE, '$NAME' of a variable, or the string (default: a line of standard input)")
	rest, err := env.Parse(&flags, args)
	if len(rest) > 0 {
		err = errors.Join(err, fmt.Errorf("worker takes no arguments, got %q", rest))
	}
	if err != nil {
		return env.Fail(session.ExitUsage, err)
	}
	j, err := env.JoinString(*join)
	if err != nil {
		return env.Failed(err)
	}
	return env.Failed(session.UntilStopped(func(ctx context.Context) error {
		led := ctx
		if *join == "" { // the machine that leads has started this process, and holds the other end
			var stop context.CancelCauseFunc
			led, stop = context.WithCancelCause(ctx)
			go func() {
				_, _ = io.Copy(io.Discard, env.Stdin) // until its end, however that comes
				stop(errors.New("the machine that leads the run has gone"))
			}()
		}
		return env.Work(ctx, led, j)
	}))
}
