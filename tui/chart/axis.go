package chart

import (
	"math"
	"time"

	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// axis is a vertical axis: a column of labels and a line.
type axis struct {
	c     screen.Canvas
	style screen.Style
}

// scale maps a value to its place on an axis: 0 at the bottom, 1 at the top.
type scale func(float64) float64

// row is the row of a value among n rows from the top. Values beyond the axis are at its ends.
func (s scale) row(v float64, n int) int {
	part := min(max(s(v), 0), 1)
	if math.IsNaN(part) {
		part = 0
	}
	return int(math.Round((1 - part) * float64(n-1)))
}

// linear draws the axis from 0 to at least top.
func (a axis) linear(top float64) scale {
	step := niceStep(top / float64(max(1, min(5, a.c.H/3))))
	top = max(math.Ceil(top/step*2-1e-9)/2, 1) * step
	a.rule()
	for k := 0; float64(k)*step <= top*1.0001; k++ {
		v := float64(k) * step
		a.put(int(math.Round((1-v/top)*float64(a.c.H-1))), number.Short(v))
	}
	return func(v float64) float64 { return v / top }
}

func (a axis) rule() {
	for row := range a.c.H {
		a.c.Set(a.c.W-1, row, '│', screen.Line)
	}
}

func (a axis) put(row int, name string) { a.c.Right(a.c.W-1, row, name, a.style) }

// shortName stands on an axis for all latencies below ShortLatency.
const shortName = "<.1ms"

// logarithmic draws the axis from low to top, in seconds.
func (a axis) logarithmic(low, top float64) scale {
	lo, hi := roundBelow(number.Seconds(low), tens), roundAbove(number.Seconds(top), tens)
	if lo < ShortLatency && hi >= 10*ShortLatency {
		lo = ShortLatency
		defer a.put(a.c.H-1, shortName)
	}
	if hi <= lo {
		hi = 2 * lo
	}
	span := math.Log(float64(hi) / float64(lo))
	y := scale(func(v float64) float64 {
		if v <= 0 {
			return 0
		}
		return math.Log(v*float64(time.Second)/float64(lo)) / span
	})
	a.latencies(func(close bool) []time.Duration { return roundLatencies(lo, hi, close) }, y)
	return y
}

// latencies labels the rows of round latencies, those close together only where there are few others.
func (a axis) latencies(ticks func(close bool) []time.Duration, at scale) {
	a.rule()
	few := ticks(false)
	if len(few) < enoughTicks {
		few = ticks(true)
	}
	free := a.c.H // labels go upwards and keep a row apart
	for _, d := range few {
		if row := int(math.Round((1 - at(d.Seconds())) * float64(a.c.H-1))); row >= 0 && row < free {
			a.put(row, number.Tick(d))
			free = row - 1
		}
	}
}

// niceStep is the smallest of 1, 2, 2.5 and 5 times a power of ten that is at least v.
func niceStep(v float64) float64 {
	if v <= 1 {
		return 1
	}
	e := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if s := m * e; s >= v*(1-1e-9) && s == math.Trunc(s) {
			return s
		}
	}
	return 10 * e
}

// timeStep is the distance of labels on an axis of time, at most so many.
func timeStep(shown time.Duration, most int) time.Duration {
	for _, s := range []time.Duration{5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400} {
		if shown/(s*time.Second) <= time.Duration(max(1, most)) {
			return s * time.Second
		}
	}
	return 7 * 24 * time.Hour
}

// TimeAxis is the horizontal axis of a chart over time. The zero value has nothing to show.
type TimeAxis struct {
	From, Shown time.Duration // the moments shown, counted from the start of the run
	Back        time.Duration // the axis ends so long before now, or before the end
	Over        bool          // the right edge is the end, not now
	Warm        time.Duration // the end of the warm-up: lines before it are grey
}

// axisWidth is that of a vertical axis: five columns of label and the line.
const axisWidth = 6

// Columns is the number of columns for data in a chart over time on a canvas; 0 if the canvas is too small. An upper chart takes the row
// of the time axis as well, since the chart below it has that axis.
func Columns(c screen.Canvas, upper bool) int { return plotArea(c, upper).W }

// plotArea is the part of a canvas for the data of a chart over time; empty if the canvas is too small.
func plotArea(c screen.Canvas, upper bool) screen.Canvas {
	h := c.H - 1
	if upper {
		h = c.H
	}
	if c.W < 16 || h < 2 {
		return c.Sub(0, 0, 0, 0)
	}
	return c.Sub(axisWidth, 0, c.W-axisWidth, h)
}

// Group is the number of whole seconds that share one of n columns. Groups count from the start of the run, so that a chart does not
// crawl while time goes on.
func (t TimeAxis) Group(n int) int {
	seconds := int(math.Ceil(t.Shown.Seconds()))
	return max(1, (seconds+n-1)/max(n, 1))
}

// Part is where a moment lies, 0 at the left edge, 1 at the right.
func (t TimeAxis) Part(at time.Duration) float64 { return float64(at-t.From) / float64(t.Shown) }

// column is the cell of a moment on an axis of w cells; -1 or w if the moment is not shown.
func (t TimeAxis) column(at time.Duration, w int) int {
	switch part := t.Part(at); {
	case part < 0:
		return -1
	case part > 1:
		return w
	}
	return t.dot(at, w) / 2
}

// dot is the column of dots of a moment, two to a cell.
func (t TimeAxis) dot(at time.Duration, w int) int {
	return int(math.Round(min(max(t.Part(at), -1), 2) * float64(2*w-1)))
}

// warm is the number of columns of the warm-up.
func (t TimeAxis) warm(w int) int {
	if t.Warm <= 0 {
		return 0
	}
	return t.column(t.Warm, w)
}

// draw writes the bottom line of c, the whole chart, with labels such as -30s at their places.
func (t TimeAxis) draw(c screen.Canvas) {
	y, w := c.H-1, c.W-axisWidth
	for x := axisWidth - 1; x < c.W; x++ {
		c.Set(x, y, '─', screen.Line)
	}
	c.Set(axisWidth-1, y, '╰', screen.Line)
	now := "now"
	switch {
	case t.Back > 0:
		now = "-" + number.Coarse(t.Back)
	case t.Over:
		now = "end"
	}
	c.Right(c.W, y, now, screen.Label)
	step := timeStep(t.Shown, w/12)
	free := c.W - len(now) - 2
	for d := step - t.Back%step; d > 0 && d <= t.Shown; d += step { // at round times before now, wherever the chart ends
		x := axisWidth + int(math.Round((1-float64(d)/float64(t.Shown))*float64(w-1)))
		name := "-" + number.Coarse(d+t.Back)
		if x+1+len(name) >= free {
			continue
		}
		c.Set(x, y, '┴', screen.Line)
		c.Print(x+1, y, name, screen.Label)
		free = x - 1
	}
}
