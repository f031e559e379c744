package calibration

import (
	"context"
	"errors"
	"fmt"
	"time"

	"benchtop/internal/telemetry"
	"benchtop/loadgen/pace"
)

// lateArrivals measures how late requests begin: for the pacer alone, and with the work of sending them.
func (c *campaign) lateArrivals(ctx context.Context) {
	for _, rate := range c.Paced {
		if ctx.Err() != nil {
			return
		}
		c.tell(fmt.Sprintf("lateness: %s arrivals/s, nothing sent", count(rate)))
		c.arrived(ctx, LatenessRun{RequestsPerSecond: rate}, func() (Quantiles, error) {
			return c.tools.lateness(ctx, rate, c.ArrivalTime)
		})
	}
	for _, rate := range c.Sent {
		if ctx.Err() != nil {
			return
		}
		c.tell(fmt.Sprintf("lateness: %s requests/s", count(rate)))
		c.arrived(ctx, LatenessRun{RequestsPerSecond: rate, Sent: true}, func() (Quantiles, error) {
			r, err := c.sound(ctx, Load{Streams: c.Users, Rate: rate, Chunks: 1, Duration: c.ArrivalTime, Preconnect: true, Seed: int64(rate)})
			return r.Lateness, err
		})
	}
}

func (c *campaign) arrived(ctx context.Context, run LatenessRun, measure func() (Quantiles, error)) {
	q, err := measure()
	if err != nil {
		c.problem(ctx, fmt.Sprintf("lateness at %s/s", count(run.RequestsPerSecond)), err)
		return
	}
	run.Lateness = q
	c.out.Lateness = append(c.out.Lateness, run)
}

// room reports what the system would not let a load have. The metronome needs as many sockets in its own process.
func room(connections int) error {
	return errors.Join(telemetry.CheckSockets(connections), telemetry.CheckPorts(connections))
}

// pacerLateness is how late the arrivals of a default pacer are without any work.
func pacerLateness(ctx context.Context, perSecond float64, length time.Duration) (Quantiles, error) {
	late, err := pace.Lateness(ctx, "", perSecond, max(1, int(perSecond*length.Seconds())), uint64(perSecond))
	return QuantilesOf(late), err
}
