package chart

import (
	"slices"
	"strings"
	"time"

	"benchtop/tui/screen"
)

// Annotation is an event, drawn as a vertical line on a chart over time. Earlier annotations of a list take precedence.
type Annotation struct {
	At          time.Duration
	Name        string
	Glyph       rune
	Line, Words screen.Style
	Prominent   bool // its words may stand lower; those of others are left out if the top row is full
}

// Limit is a latency drawn as a line with its name.
type Limit struct {
	Name string
	At   time.Duration
}

// Underline is a list of moments underlined on the lowest row of a chart over time, with a name before the first.
type Underline struct {
	Name  string
	Color screen.Color
	At    []time.Duration
}

// usedCells holds the cells of a chart that are not overwritten: those of lines and of words.
type usedCells struct {
	c     screen.Canvas
	cells []bool
	above int // the rows above the data
}

func newTaken(c screen.Canvas) *usedCells {
	return &usedCells{c: c.Over(), cells: make([]bool, c.W*c.H)}
}

// cell marks one cell.
func (t *usedCells) cell(x, y int) { t.cells[y*t.c.W+x] = true }

// take marks w cells of the row y.
func (t *usedCells) take(x, y, w int) {
	for end := x + w; x < end; x++ {
		if x >= 0 && x < t.c.W && y >= 0 && y < t.c.H {
			t.cell(x, y)
		}
	}
}

// free reports whether w cells of the row y are on the canvas and not taken.
func (t *usedCells) free(x, y, w int) bool {
	if x < 0 || y < 0 || x+w > t.c.W || y >= t.c.H {
		return false
	}
	return !slices.Contains(t.cells[y*t.c.W+x:y*t.c.W+x+w], true)
}

// limits draws each limit as a horizontal line with its name, as far to the left as possible. A limit without room for
// its name is left out, since a line alone is not understood.
func (t *usedCells) limits(all []Limit, at scale) {
	for _, l := range all {
		if part := at(l.At.Seconds()); !(part >= 0 && part <= 1) {
			continue
		}
		y := t.above + at.row(l.At.Seconds(), t.c.H-t.above)
		name := " " + l.Name + " "
		n := screen.Width(name)
		x := 1
		for x < t.c.W && !t.free(x, y, n) {
			x++
		}
		if x == t.c.W {
			continue
		}
		for k := range t.c.W {
			if t.free(k, y, 1) {
				t.c.Set(k, y, '┄', screen.Dim)
			}
		}
		t.c.Print(x, y, name, screen.Strong)
		t.take(x, y, n)
	}
}

// annotate draws annotations as lines from top to bottom, behind the data. With words, their names stand in the top row
// if there is room. A line next to another is left out.
func (t *usedCells) annotate(all []Annotation, on TimeAxis, words bool) {
	type placed struct {
		Annotation
		x int
	}
	var shown []placed
	for _, m := range all {
		x := on.Column(m.At, t.c.W)
		busy := slices.ContainsFunc(shown, func(s placed) bool { return s.x-x < 2 && x-s.x < 2 })
		if x > 0 && x < t.c.W && !busy {
			shown = append(shown, placed{m, x})
		}
	}
	for _, m := range shown {
		for y := range t.c.H {
			if t.free(m.x, y, 1) {
				t.c.Set(m.x, y, m.Glyph, m.Line)
			}
		}
		t.take(m.x, 0, 1)
	}
	for _, m := range shown {
		if words {
			t.name(m.x, &m.Annotation)
		}
	}
}

// name writes the name of an annotation in the top row, without the unit of its number if need be, or that of a
// prominent one in the next row that has room for it.
func (t *usedCells) name(x int, m *Annotation) {
	if t.write(x, 0, m.Name, m.Words, false) {
		return
	}
	if number, _, _ := strings.Cut(m.Name, " "); !m.Prominent {
		if strings.ContainsAny(number, "0123456789") {
			t.write(x, 0, number, m.Words, false)
		}
		return
	}
	for i := range 2 * t.c.H {
		if t.write(x, i/2, m.Name, m.Words, i%2 == 1) {
			return
		}
	}
}

// write puts words to the right of a line, or to its left at the right edge or on request; false if there is no room.
func (t *usedCells) write(x, y int, words string, st screen.Style, left bool) bool {
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

// underline underlines moments.
func (t *usedCells) underline(all Underline, on TimeAxis) {
	y, first := t.c.H-1, t.c.W
	for _, at := range all.At {
		if x := on.Column(at, t.c.W); x >= 0 && x < t.c.W {
			t.c.Set(x, y, '━', screen.Style{Fg: all.Color})
			first = min(first, x)
		}
	}
	if name := all.Name + " "; first < t.c.W && first >= screen.Width(name) {
		t.c.Right(first, y, name, screen.Label)
	}
}
