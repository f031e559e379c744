package tui

import (
	"math"
	"time"
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
	c     canvas
	cells []bool
}

func newTaken(c canvas) *taken { return &taken{c, make([]bool, c.w*c.h)} }

// take marks w cells of the row y.
func (t *taken) take(x, y, w int) {
	for end := x + w; x < end; x++ {
		if x >= 0 && x < t.c.w && y >= 0 && y < t.c.h {
			t.cells[y*t.c.w+x] = true
		}
	}
}

// free: w cells of the row y, all of them on the canvas.
func (t *taken) free(x, y, w int) bool {
	if x < 0 || y < 0 || x+w > t.c.w || y >= t.c.h {
		return false
	}
	for _, used := range t.cells[y*t.c.w+x : y*t.c.w+x+w] {
		if used {
			return false
		}
	}
	return true
}

// drawBounds draws each limit as a horizontal line with its name, as far to the left as there is room for it. A limit whose
// name finds no room is left out, since nobody could tell what the line is.
func (p plot) drawBounds(used *taken, on lane) {
	if p.bounds == "" {
		return
	}
	for _, b := range bounds(p.v.s.Plan, p.bounds) {
		at := on.scale(b.at.Seconds())
		if !(at >= 0 && at <= 1) {
			continue
		}
		y := int(math.Round((1 - at) * float64(used.c.h-1)))
		name := " " + b.name + " "
		x := 1
		for x < used.c.w && !used.free(x, y, width(name)) {
			x++
		}
		if x == used.c.w {
			continue
		}
		for k := range used.c.w {
			if used.free(k, y, 1) {
				used.c.set(k, y, '─', dim)
			}
		}
		used.c.print(x, y, name, strong)
		used.take(x, y, width(name))
	}
}

// drawMarks draws what happened to the load as dotted lines from top to bottom, behind the data, with a few words in the top
// row where there is room for them. Lines too near to the one before are left out.
func (p plot) drawMarks(used *taken, ts timeScale) {
	var columns []int
	var names []string
	last := -2
	for _, e := range p.v.s.Marks {
		if x := ts.column(e.At); x >= last+2 && x > 0 && x < ts.w {
			columns, names = append(columns, x), append(names, sanitize(e.Mark))
			last = x
		}
	}
	for _, x := range columns {
		for y := range used.c.h {
			if used.free(x, y, 1) {
				used.c.set(x, y, '┊', dim)
			}
		}
		used.take(x, 0, 1)
	}
	for i, x := range columns {
		n := width(names[i])
		switch {
		case n == 0:
			continue
		case used.free(x+1, 0, n):
			x++
		case x+1+n > used.c.w && used.free(x-n-1, 0, n+1): // at the right edge it stands before its line, apart from others
			x -= n
		default:
			continue
		}
		used.c.print(x, 0, names[i], label)
		used.take(x, 0, n)
	}
}
