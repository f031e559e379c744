package tui

import (
	"math"
	"slices"
	"time"

	"benchtop/tui/screen"
)

// timeScale is the horizontal axis of a chart over time.
type timeScale struct {
	from, shown time.Duration
	w           int // in cells
}

// part is where a moment lies, 0 at the left edge, 1 at the right.
func (t timeScale) part(at time.Duration) float64 { return float64(at-t.from) / float64(t.shown) }

// dot is the column of dots of a part of the axis, two to a cell.
func (t timeScale) dot(part float64) int { return int(math.Round(part * float64(2*t.w-1))) }

// column is the cell of a moment; outside of 0 to w where it is not shown.
func (t timeScale) column(at time.Duration) int {
	part := t.part(at)
	switch {
	case part < 0:
		return -1
	case part > 1:
		return t.w
	}
	return t.dot(part) / 2
}

// taken remembers which cells of a chart nothing may be drawn over: those of lines and of words.
type taken struct {
	c     screen.Canvas
	cells []bool
}

func newTaken(c screen.Canvas) *taken { return &taken{c, make([]bool, c.W*c.H)} }

// take marks w cells of the row y.
func (t *taken) take(x, y, w int) {
	for end := x + w; x < end; x++ {
		if x >= 0 && x < t.c.W && y >= 0 && y < t.c.H {
			t.cells[y*t.c.W+x] = true
		}
	}
}

// free: w cells of the row y, all of them on the canvas.
func (t *taken) free(x, y, w int) bool {
	if x < 0 || y < 0 || x+w > t.c.W || y >= t.c.H {
		return false
	}
	for _, used := range t.cells[y*t.c.W+x : y*t.c.W+x+w] {
		if used {
			return false
		}
	}
	return true
}

// drawBounds draws each limit of a metric as a horizontal line with its name, as far to the left as there is room for it. A
// limit whose name finds no room is left out, since nobody could tell what the line is. scale says where a latency in seconds
// lies, 0 at the bottom, 1 at the top.
func drawBounds(v *view, metric string, used *taken, scale func(float64) float64) {
	if metric == "" {
		return
	}
	for _, b := range v.bounds(metric) {
		at := scale(b.at.Seconds())
		if !(at >= 0 && at <= 1) {
			continue
		}
		y := int(math.Round((1 - at) * float64(used.c.H-1)))
		name := " " + b.name + " "
		x := 1
		for x < used.c.W && !used.free(x, y, screen.Width(name)) {
			x++
		}
		if x == used.c.W {
			continue
		}
		for k := range used.c.W {
			if used.free(k, y, 1) {
				used.c.Set(k, y, '─', screen.Dim)
			}
		}
		used.c.Print(x, y, name, screen.Strong)
		used.take(x, y, screen.Width(name))
	}
}

// drawMarks draws what happened to the load as dotted lines from top to bottom, behind the data, with a few words in the top
// row where there is room for them. Lines too near to others are left out, but never the bend, whose words may stand lower.
func drawMarks(v *view, used *taken, ts timeScale, words bool) {
	type shown struct {
		landmark
		x int
	}
	var all []shown
	busy := func(x int) bool {
		return slices.ContainsFunc(all, func(s shown) bool { return abs(s.x-x) < 2 })
	}
	for _, m := range v.landmarks() {
		if x := ts.column(m.at); x > 0 && x < ts.w && !busy(x) {
			all = append(all, shown{m, x})
		}
	}
	for _, s := range all {
		for y := range used.c.H {
			if used.free(s.x, y, 1) {
				used.c.Set(s.x, y, s.glyph, s.line)
			}
		}
		used.take(s.x, 0, 1)
	}
	if !words {
		return
	}
	for _, s := range all {
		if used.write(s.x, 0, s.name, s.words, false) || !s.telling {
			continue
		}
		for i := range 2 * used.c.H {
			if used.write(s.x, i/2, s.name, s.words, i%2 == 1) {
				break
			}
		}
	}
}

// write puts words beside a line, to its left only at the right edge or if asked to; false if there is no room for them.
func (t *taken) write(x, y int, words string, st screen.Style, left bool) bool {
	n := screen.Width(words)
	switch {
	case n == 0:
		return false
	case !left && t.free(x+1, y, n):
		x++
	case (left || x+1+n > t.c.W) && t.free(x-n-1, y, n+1): // apart from others
		x -= n
	default:
		return false
	}
	t.c.Print(x, y, words, st)
	t.take(x, y, n)
	return true
}
