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

// logarithmic draws the axis from low to top, in seconds.
func (a axis) logarithmic(low, top float64) scale {
	lo, hi := tickAtMost(number.Seconds(low)), tickAtLeast(number.Seconds(top))
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
	a.latencies(lo, hi, func(d time.Duration) time.Duration { return tickAtLeast(d + 1) }, y)
	return y
}

// latencies labels the rows of round latencies from lo to hi.
func (a axis) latencies(lo, hi time.Duration, next func(time.Duration) time.Duration, at scale) {
	a.rule()
	free := a.c.H // labels go upwards and keep a row apart
	for d := lo; d > 0 && d <= hi && free > 0; d = next(d) {
		if row := int(math.Round((1 - at(d.Seconds())) * float64(a.c.H-1))); row >= 0 && row < free {
			a.put(row, number.Tick(d))
			free = row - 1
		}
	}
}
