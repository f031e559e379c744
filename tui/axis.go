package tui

import (
	"math"
	"time"

	"benchtop/metrics"
)

// axis is a vertical axis: a column of labels and a line.
type axis struct {
	c     canvas
	style style
}

// linear draws the axis from 0 to at least top and returns where a value lies: 0 at the bottom, 1 at the upper end.
func (a axis) linear(top float64) func(float64) float64 {
	step := niceStep(top / float64(max(1, min(5, a.c.h/3))))
	top = max(math.Ceil(top/step*2-1e-9)/2, 1) * step
	a.rule()
	for k := 0; float64(k)*step <= top*1.0001; k++ {
		v := float64(k) * step
		a.put(int(math.Round((1-v/top)*float64(a.c.h-1))), short(v))
	}
	return func(v float64) float64 { return v / top }
}

func (a axis) rule() {
	for row := range a.c.h {
		a.c.set(a.c.w-1, row, '│', line)
	}
}

func (a axis) put(row int, name string) { a.c.right(a.c.w-1, row, name, a.style) }

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
	lo, hi := tickAtMost(seconds(low)), tickAtLeast(seconds(top))
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
	free := a.c.h // labels go upwards and keep a row apart
	for d := lo; d <= hi && free > 0; d = tickAtLeast(d + 1) {
		if row := int(math.Round((1 - y(d.Seconds())) * float64(a.c.h-1))); row < free {
			a.put(row, tickLabel(d))
			free = row - 1
		}
	}
	return y
}

func seconds(v float64) time.Duration {
	return time.Duration(min(sane(v), 1e6) * float64(time.Second))
}

// longest is the longest latency an axis reaches to, eleven days.
const longest = time.Duration(limit)

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
func timeAxis(v *view, c, area canvas, shown time.Duration) {
	y := c.h - 1
	for x := axisWidth - 1; x < c.w; x++ {
		c.set(x, y, '─', line)
	}
	c.set(axisWidth-1, y, '╰', line)
	back := scrolled(v.s, v.span, v.back)
	now := "now"
	switch {
	case back > 0:
		now = "-" + coarse(back)
	case v.s.State == metrics.Finished:
		now = "end"
	}
	c.right(c.w, y, now, label)
	step := timeStep(shown, area.w/12)
	free := c.w - len(now) - 2
	for d := step - back%step; d <= shown; d += step { // at round times before now, wherever the chart ends
		x := axisWidth + int(math.Round((1-float64(d)/float64(shown))*float64(area.w-1)))
		name := "-" + coarse(d+back)
		if x+1+len(name) >= free {
			continue
		}
		c.set(x, y, '┴', line)
		c.print(x+1, y, name, label)
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
