package tui

import (
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// timeFrame is the place of a chart over time: the area for the data and the moments it shows.
type timeFrame struct {
	v       *view
	c, area screen.Canvas
	windows []metrics.Window // not empty
	end     time.Duration
	ts      timeScale
	warm    int // columns of the warm-up, once there is more than that
	upper   bool
}

const axisWidth = 6 // five columns of label and the axis

// overTime finds the frame in c; false if there is no room for one, or nothing to show. One without an axis of time, which
// another below it has, takes all rows.
func (v *view) overTime(c screen.Canvas, upper bool) (timeFrame, bool) {
	ws := v.selected().closed
	h := c.H - 1
	if upper {
		h = c.H
	}
	if c.W < 16 || h < 2 || len(ws) == 0 {
		return timeFrame{}, false
	}
	last := &ws[len(ws)-1]
	end := min(last.Start+time.Second, max(v.s.At, last.Start+time.Millisecond))
	f := timeFrame{v: v, c: c, area: c.Sub(axisWidth, 0, c.W-axisWidth, h), windows: ws, end: end, upper: upper}
	shown := visible(v.span, end)
	f.ts = timeScale{end - shown, shown, f.area.W}
	if plan := v.s.Plan; plan != nil && plan.Warmup > 0 && plan.Warmup <= v.s.At {
		f.warm = f.ts.column(plan.Warmup)
	}
	return f, true
}

// axis draws the axis of time, if it is here.
func (f timeFrame) axis(v *view) {
	if !f.upper {
		timeAxis(v, f.c, f.area, f.ts.shown)
	}
}

// group is how many whole seconds share one of n columns. Groups are counted from the start of the run, so that a chart does
// not crawl as time goes on.
func (t timeScale) group(n int) int {
	seconds := int(math.Ceil(t.shown.Seconds()))
	return max(1, (seconds+n-1)/max(n, 1))
}

// visible is the time a chart shows: the span, but while the run is younger the next round time that holds it, so that a
// young run does not begin as a speck at the right edge. The whole run always fits exactly.
func visible(span, end time.Duration) time.Duration {
	if span == 0 {
		return max(end, 10*time.Second)
	}
	for _, d := range []time.Duration{10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 450, 600} {
		if d*time.Second >= end {
			return min(d*time.Second, span)
		}
	}
	return span
}
