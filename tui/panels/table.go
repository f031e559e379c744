package panels

import (
	"slices"

	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// table is a table on the screen. Its columns from left to right:
//
//	before: flush left   figures: flush right   after: the rest of the line
type table[R any] struct {
	before  []field[R]
	figures columns[R]
	after   field[R]
	order   string // of the rows by what comes first, such as "worst"; "" for their own
}

// field is a column of names, gauges or notes: it draws its cells itself, each on a canvas of w columns and a line.
// plain is the style of a row's plain words and figures.
type field[R any] struct {
	name string
	w    int
	draw func(c screen.Canvas, r R, plain screen.Style)
}

// column is a column of figures: its name and its figure of a row.
type column[R any] struct {
	name  string
	w     int
	of    func(r R) screen.Span
	spare int // where there is little room the highest goes first; 0 stays
}

// columns are the figures of a table from left to right.
type columns[R any] []column[R]

// width is that of all columns.
func (t columns[R]) width() (n int) {
	for _, col := range t {
		n += col.w
	}
	return n
}

// fit leaves out spare columns until the rest take at most w.
func (t columns[R]) fit(w int) columns[R] {
	for t.width() > w {
		i := leastNeeded(t, func(col *column[R]) int { return col.spare })
		if i < 0 {
			break
		}
		t = slices.Delete(slices.Clone(t), i, i+1)
	}
	return t
}

// leastNeeded is the element to leave out first where there is little room, the one with the highest spare; -1 where
// all of them stay.
func leastNeeded[T any](all []T, spare func(*T) int) int {
	least := -1
	for i := range all {
		if n := spare(&all[i]); n > 0 && (least < 0 || n > spare(&all[least])) {
			least = i
		}
	}
	return least
}

// head writes the names of the columns on the first line.
func (t *table[R]) head(c screen.Canvas) {
	x := 0
	for _, p := range t.before {
		c.Print(x, 0, p.name, screen.Label)
		x += p.w
	}
	for _, col := range t.figures {
		x += col.w
		c.Right(x, 0, col.name, screen.Label)
	}
	c.Print(x, 0, t.after.name, screen.Label)
}

// row draws a row on the first line.
func (t *table[R]) row(c screen.Canvas, r R, plain screen.Style) {
	x := 0
	for _, p := range t.before {
		p.draw(c.Sub(x, 0, p.w, 1), r, plain)
		x += p.w
	}
	for _, col := range t.figures {
		x += col.w
		figure := col.of(r)
		if figure.Style == screen.Text {
			figure.Style = plain
		}
		c.Right(x, 0, screen.Shorten(figure.Text, col.w-1), figure.Style)
	}
	if t.after.draw != nil {
		t.after.draw(c.Sub(x, 0, c.W-x, 1), r, plain)
	}
}

// draw draws the head, if there is more than a line, and as many of n rows as there is room for; a line says how many
// are left out.
func (t *table[R]) draw(c screen.Canvas, n int, row func(i int) R, plain func(r R) screen.Style) {
	if c.H > 1 {
		t.head(c)
		c = c.Sub(0, 1, c.W, c.H-1)
	}
	if n > c.H && c.H > 1 {
		rest := "and " + number.Count(n-c.H+1) + " more"
		if t.order != "" {
			rest += "; " + t.order + " first"
		}
		c.Print(0, c.H-1, rest, screen.Label)
		n = c.H - 1
	}
	t.rows(c, n, row, plain)
}

// rows draws as many of n rows as there is room for.
func (t *table[R]) rows(c screen.Canvas, n int, row func(i int) R, plain func(r R) screen.Style) {
	for y := range min(n, c.H) {
		r := row(y)
		t.row(c.Sub(0, y, c.W, 1), r, plain(r))
	}
}

// leastNames is the room for names that figures leave, if names are that long.
const leastNames = 12

// name puts names in front of the figures that fit beside them in w columns, and gives them the room that is left.
func (t *table[R]) name(w int, names field[R]) {
	t.figures = t.figures.fit(w - min(names.w, max(leastNames, w*2/5)))
	names.w = min(names.w, max(0, w-t.figures.width()))
	t.before = append(t.before, names)
}

// rowNames is a column of names as wide as the widest.
func rowNames[R any](n int, row func(i int) R, of func(r R) string) field[R] {
	w := 6
	for i := range n {
		w = max(w, screen.Width(of(row(i))))
	}
	return field[R]{"", w, func(c screen.Canvas, r R, plain screen.Style) {
		c.Print(0, 0, screen.ShortenMiddle(of(r), c.W), plain)
	}}
}

// plainRow is the style of rows that are all alike.
func plainRow[R any](R) screen.Style { return screen.Text }
