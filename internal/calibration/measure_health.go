package calibration

import (
	"context"
	"time"

	"benchtop/internal/telemetry"
)

// health tells the live view once a second how the process is doing, as in a real run, until ctx ends.
func (c *ownClient) health(ctx context.Context, start time.Time) {
	process := telemetry.WatchProcess()
	defer process.Close()
	before := c.connections.Stats()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		second, now := process.Sample().Second(time.Since(start).Round(time.Microsecond)), c.connections.Stats()
		second.Sockets, second.Dialled, second.ClockStep = now.Open, now.Dialled-before.Dialled, now.ClockSteps > before.ClockSteps
		c.view.Client(c.view.Counted(second))
		before = now
	}
}
