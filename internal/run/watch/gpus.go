package watch

import (
	"context"
	"fmt"
	"time"

	"benchtop/internal/telemetry"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// GPUs listens to the tool of this machine's accelerators.
type GPUs struct {
	// Off says why nothing is watched, "" if something is.
	Off string
	// Only are the indices to watch, nil for all. Asked: the user asked for them, so that their absence is a warning.
	Only  []int
	Asked bool
}

// noGPUYet is why there are no figures before the first ones.
const noGPUYet = "no data from the GPU tool yet"

// Watch tells what the tool says until ctx ends, and why there is nothing, or nothing more.
func (g *GPUs) Watch(ctx context.Context, start time.Time, tell Tell) {
	source := func(absent string) { tell(metrics.Source{Name: metrics.Accelerators, Absent: absent}) }
	if g.Off != "" {
		source(g.Off)
		return
	}
	w, err := telemetry.WatchGPUs(ctx, telemetry.GPUOptions{Only: g.Only, Start: start})
	if err != nil {
		absent := text.Clean(err.Error())
		source(absent)
		if g.Asked {
			tell.log(metrics.Warn, "no GPU data: "+absent)
		}
		return
	}
	defer w.Close()
	source(noGPUYet)
	for first := true; ; {
		select {
		case second, more := <-w.Seconds():
			if !more {
				if err := w.Err(); err != nil && ctx.Err() == nil {
					absent := text.Clean(err.Error())
					source(absent)
					tell.log(metrics.Warn, fmt.Sprintf("no more GPU data: %s", absent))
				}
				return
			}
			if first {
				source("")
				first = false
			}
			tell(second)
		case <-ctx.Done():
			return
		}
	}
}
