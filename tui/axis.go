package tui

import (
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// axis is a vertical axis: a column of labels and a line.
type axis struct {
	c     screen.Canvas
	style screen.Style
}

// linear draws the axis from 0 to at least top and returns where a value lies: 0 at the bottom, 1 at the upper end.
func (a axis) linear(top float64) func(float64) float64 {
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

// logarithmic draws the axis from low to top, in seconds.
func (a axis) logarithmic(low, top float64) func(float64) float64 {
	lo, hi := tickAtMost(number.Seconds(low)), tickAtLeast(number.Seconds(top))
	if hi <= lo {
		hi = 2 * lo
	}
	span := math.Log(float64(hi) / float64(lo))
	y := func(v float64) float64 {
		if v <= 0 {
			return 0
		}
		return math.Log(v*float64(time.Second)/float64(lo)) / span
	}
	a.rule()
	free := a.c.H // labels go upwards and keep a row apart
	for d := lo; d <= hi && free > 0; d = tickAtLeast(d + 1) {
		if row := int(math.Round((1 - y(d.Seconds())) * float64(a.c.H-1))); row < free {
			a.put(row, number.Tick(d))
			free = row - 1
		}
	}
	return y
}

// longest is the longest latency an axis reaches to, eleven days.
const longest = time.Duration(number.Max)

// tickAtLeast is the next of 1, 2, 5 times a power of ten from 1 µs on.
func tickAtLeast(d time.Duration) time.Duration {
	for e := time.Microsecond; ; e *= 10 {
		for _, m := range [...]time.Duration{1, 2, 5} {
			if m*e >= d || e > longest {
				return m * e
			}
		}
	}
}

func tickAtMost(d time.Duration) time.Duration {
	best := time.Microsecond
	for e := time.Microsecond; e <= longest; e *= 10 {
		for _, m := range [...]time.Duration{1, 2, 5} {
			if m*e > d {
				return best
			}
			best = m * e
		}
	}
	return best
}

// timeAxis draws the bottom line with labels such as -30s at their places.
func timeAxis(v *view, c, area screen.Canvas, shown time.Duration) {
	y := c.H - 1
	for x := axisWidth - 1; x < c.W; x++ {
		c.Set(x, y, '─', screen.Line)
	}
	c.Set(axisWidth-1, y, '╰', screen.Line)
	back := scrolled(v.s, v.span, v.back)
	now := "now"
	switch {
	case back > 0:
		now = "-" + number.Coarse(back)
	case v.s.State == metrics.Finished:
		now = "end"
	}
	c.Right(c.W, y, now, screen.Label)
	step := timeStep(shown, area.W/12)
	free := c.W - len(now) - 2
	for d := step - back%step; d <= shown; d += step { // at round times before now, wherever the chart ends
		x := axisWidth + int(math.Round((1-float64(d)/float64(shown))*float64(area.W-1)))
		name := "-" + number.Coarse(d+back)
		if x+1+len(name) >= free {
			continue
		}
		c.Set(x, y, '┴', screen.Line)
		c.Print(x+1, y, name, screen.Label)
		free = x - 1
	}
}

func timeStep(shown time.Duration, most int) time.Duration {
	for _, s := range []time.Duration{5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400} {
		if shown/(s*time.Second) <= time.Duration(max(1, most)) {
			return s * time.Second
		}
	}
	return 7 * 24 * time.Hour
}
