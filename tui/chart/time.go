package chart

import (
	"math"
	"time"

	"benchtop/tui/number"
	"benchtop/tui/screen"
)

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
