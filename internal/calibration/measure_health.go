package calibration

import (
	"context"
	"time"

	"benchtop/internal/telemetry"
	"benchtop/metrics"
)

// health tells the recorder once a second how the process is doing, as in a real run, until ctx ends.
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
		p, now := process.Sample(), c.connections.Stats()
		c.recorder.Client(metrics.ClientSecond{
			At: time.Since(start).Round(time.Microsecond), Took: p.Took,
			CPU: p.CPU, CPUWait: p.CPUWait, Cores: p.Cores, Sched: p.Sched, Stall: p.Stall,
			GCs: p.GCs, GCPause: p.GCPause, Memory: p.Memory,
			Sockets: now.Open, Dialled: now.Dialled - before.Dialled, ClockStep: now.ClockSteps > before.ClockSteps,
		})
		before = now
	}
}
