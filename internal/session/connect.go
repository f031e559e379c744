package session

import (
	"context"
	"fmt"
	"time"

	"benchtop/internal/text"
	"benchtop/loadgen"
)

// connectMost limits the time for opening connections before the run.
const connectMost = 10 * time.Second

// connect opens connections ahead. A failure is a warning, since the run opens missing ones.
func connect(ctx context.Context, env *Environment, load *loadgen.Options, n int) (notes []string) {
	if n > 0 {
		env.Step(stepConnections)
		env.Show(fmt.Sprintf("%d ahead of need", n))
	}
	limited, cancel := context.WithTimeout(ctx, connectMost)
	defer cancel()
	if err := load.Connect(limited, load.Timestamps, n); err != nil && ctx.Err() == nil {
		notes = []string{fmt.Sprintf("connections ahead of need: %s; requests open the missing ones",
			text.Clean(load.Target.Hide(err.Error())))}
		env.Warn(notes)
	}
	return notes
}
