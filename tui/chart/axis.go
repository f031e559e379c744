package chart

import (
	"fmt"
	"math"
	"time"

	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// axis is a vertical axis: a column of labels.
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

// linear draws the axis from 0 to the next round number above top, in even steps.
func (a axis) linear(top float64) scale {
	top = roundTop(top)
	steps := evenSteps(top, a.c.H/3)
	for k := range steps + 1 {
		part := float64(k) / float64(steps)
		a.put(int(math.Round((1-part)*float64(a.c.H-1))), number.Short(part*top))
	}
	return func(v float64) float64 { return v / top }
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

// names labels bands of the same height from the bottom, each in its middle; of two in one row the upper one.
func (a axis) names(names []string) {
	for i, name := range names {
		a.put(a.c.H-1-(2*i+1)*a.c.H/(2*len(names)), fmt.Sprintf("%*s", axisWidth-1, screen.Shorten(name, axisWidth-1)))
	}
}

// roundTop is the smallest whole number with one digit, or 12, 15 or 25, times a power of ten, that is at least v.
func roundTop(v float64) float64 {
	if v <= 1 {
		return 1
	}
	e := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{10, 12, 15, 20, 25, 30, 40, 50, 60, 80} {
		if s := m * e / 10; s >= v*(1-1e-9) && s == math.Trunc(s) {
			return s
		}
	}
	return 10 * e
}

// evenSteps is the largest number of steps from 0 to top, at most five and so many, that are whole numbers of two
// digits at most but for their zeros; at least one.
func evenSteps(top float64, most int) int {
	for n := min(most, 5); n > 1; n-- {
		step := top / float64(n)
		digits := step / math.Pow(10, max(math.Floor(math.Log10(step))-1, 0))
		if digits == math.Trunc(digits) {
			return n
		}
	}
	return 1
}

// timeStep is the distance of labels on an axis of time, at most so many.
func timeStep(shown time.Duration, most int) time.Duration {
	for _, s := range []time.Duration{1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600,
		43200, 86400} {
		if shown/(s*time.Second) <= time.Duration(max(1, most)) {
			return s * time.Second
		}
	}
	return 7 * 24 * time.Hour
}

// TimeAxis is the horizontal axis of charts over time, in moments of the run. The zero value has nothing to show.
type TimeAxis struct {
	From, Shown time.Duration // the first moment shown, and the time from there to the right edge
	Warm        time.Duration // the end of the warm-up: lines before it are grey
}

// axisWidth is that of a vertical axis: five columns of label and a blank.
const axisWidth = 6

// Columns is the number of columns for data in a chart over time on a canvas; 0 if the canvas is too small.
func Columns(c screen.Canvas) int { return plotArea(c).W }

// plotArea is the part of a canvas for the data of a chart over time; empty if the canvas is too small.
func plotArea(c screen.Canvas) screen.Canvas {
	if c.W < 16 || c.H < 1 {
		return c.Sub(0, 0, 0, 0)
	}
	return c.Sub(axisWidth, 0, c.W-axisWidth, c.H)
}

// Group is the number of whole seconds that share one of n columns, or of whole minutes where it is a third of a minute
// or more. Groups count from the start of the run, so that a chart does not crawl while time goes on.
func (t TimeAxis) Group(n int) int {
	seconds := int(math.Ceil(t.Shown.Seconds()))
	group := max(1, (seconds+n-1)/max(n, 1))
	if group > 20 {
		group = (group + 59) / 60 * 60
	}
	return group
}

// Part is where a moment lies, 0 at the left edge, 1 at the right.
func (t TimeAxis) Part(at time.Duration) float64 { return float64(at-t.From) / float64(t.Shown) }

// Column is the cell of a moment on an axis of w cells; -1 or w if the moment is not shown.
func (t TimeAxis) Column(at time.Duration, w int) int {
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
	return t.Column(t.Warm, w)
}

// Draw writes the axis on the last line of c, below charts as wide as c: a line, moments of the run at their places,
// and signs for events.
//
//	──────┴0:00────────┴0:10──▲─────┴0:20───────0:30
func (t TimeAxis) Draw(c screen.Canvas, events []time.Duration) {
	y, w := c.H-1, c.W-axisWidth
	if w <= 0 || t.Shown <= 0 {
		return
	}
	for x := range c.W {
		c.Set(x, y, '─', screen.Line)
	}
	last := number.RunTime(t.From + t.Shown)
	c.Right(c.W, y, last, screen.Label)
	step := timeStep(t.Shown, w/9)
	free := c.W - len(last) - 1
	for at := t.From.Truncate(step); at < t.From+t.Shown; at += step {
		x, name := axisWidth+t.Column(at, w), number.RunTime(at)
		if at < t.From || x+1+len(name) > free {
			continue
		}
		c.Set(x, y, '┴', screen.Line)
		c.Print(x+1, y, name, screen.Label)
	}
	for _, at := range events {
		x := axisWidth + t.Column(at, w)
		if p := c.At(x, y); p != nil && x >= axisWidth && p.Glyph == '─' { // moments can still be read
			c.Set(x, y, '▲', screen.Text)
		}
	}
}
