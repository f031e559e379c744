package watch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"benchtop/internal/telemetry"
	"benchtop/loadgen/conn"
	"benchtop/metrics"
	"benchtop/metrics/live"
)

// Client samples this process once a second, and logs when it limits what is measured.
type Client struct {
	start       time.Time
	part        int // of the run, 0 for all
	connections conn.Pools
	view        *live.View
	before      conn.Stats // a second ago
	limited     hysteresis
	told        int
}

// mostTold bounds the lines of a verdict that goes to and fro.
const mostTold = 20

// NewClient watches the client of a run that begins now. Connections that were dialled before, and steps of the clock,
// are not the run's.
func NewClient(start time.Time, part int, connections conn.Pools, view *live.View) *Client {
	return &Client{start: start, part: part, connections: connections, view: view, before: connections.Stats()}
}

// Watch samples until ctx ends, and then a last time.
func (c *Client) Watch(ctx context.Context, tell Tell) {
	process := telemetry.WatchProcess()
	defer process.Close()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		c.sample(process, tell)
	}
}

func (c *Client) sample(process *telemetry.Process, tell Tell) {
	second, now := process.Sample(time.Since(c.start).Round(time.Microsecond)), c.connections.Stats()
	second.Sockets, second.Dialled = c.connections.Peak(), now.Dialled-c.before.Dialled
	second.Part, second.ClockStep = c.part, now.ClockSteps > c.before.ClockSteps
	c.before = now
	second = c.view.Counted(second)
	tell(second)
	if second.Stall >= metrics.StallFrom {
		tell.mark(metrics.Warn, fmt.Sprintf("client stalled %s; timings in this window may be late",
			metrics.Duration(second.Stall.Round(time.Millisecond))), "stall")
	}
	if second.ClockStep {
		tell.log(metrics.Warn, "system clock set; chunks around this moment have the time of their read")
	}
	c.judge(tell)
}

// judge logs each change of the verdict on the client.
func (c *Client) judge(tell Tell) {
	v := c.view.Verdict()
	switch {
	case !c.limited.turns(v.Limited()) || c.told >= mostTold:
		return
	case c.limited.on:
		tell.log(metrics.Warn, "client overloaded: "+strings.Join(v.Why, "; "))
	default:
		tell.log(metrics.Info, "client recovered")
	}
	c.told++
}

// hysteresis turns on at once, and off after offAfter seconds in a row, so that a figure close to its threshold does
// not fill the log.
type hysteresis struct {
	on   bool
	fine int // seconds in a row
}

const offAfter = 10

// turns takes the state of a second and reports whether that is a change to tell.
func (h *hysteresis) turns(on bool) bool {
	if on {
		h.fine = 0
	} else {
		h.fine++
	}
	if on == h.on || !on && h.fine < offAfter {
		return false
	}
	h.on = on
	return true
}
