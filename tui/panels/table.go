package panels

import "benchtop/tui/screen"

// column is a column of a table, flush right: its name and its figure of a row.
type column[R any] struct {
	name  string
	w     int
	of    func(r R) screen.Span
	spare int // where there is little room the highest goes first; 0 stays
}

// table are the columns of a table from left to right.
type table[R any] []column[R]

// width is that of all columns.
func (t table[R]) width() (n int) {
	for _, col := range t {
		n += col.w
	}
	return n
}

// fit leaves out spare columns until the rest take at most w.
func (t table[R]) fit(w int) table[R] {
	for t.width() > w {
		least := 0
		for i := range t {
			if t[i].spare > t[least].spare {
				least = i
			}
		}
		if t[least].spare == 0 {
			break
		}
		t = append(t[:least:least], t[least+1:]...)
	}
	return t
}

// names writes the names of the columns from x on.
func (t table[R]) names(c screen.Canvas, x, y int) {
	for _, col := range t {
		x += col.w
		c.Right(x, y, col.name, screen.Label)
	}
}

// row writes a row from x on, its plain figures in a style.
func (t table[R]) row(c screen.Canvas, x, y int, r R, plain screen.Style) {
	for _, col := range t {
		x += col.w
		figure := col.of(r)
		if figure.Style == screen.Text {
			figure.Style = plain
		}
		c.Right(x, y, screen.Shorten(figure.Text, col.w-1), figure.Style)
	}
}

// dash stands for a figure that is not known.
const dash = "–"

// orDash writes a figure, or a dash where it is not known.
func orDash[T any](known bool, write func(T) string, figure T) string {
	if known {
		return write(figure)
	}
	return dash
}

// cell is a figure for a column, a label where it is not known.
func cell(figure string) screen.Span {
	if figure == dash {
		return screen.Label.Span(dash)
	}
	return screen.Text.Span(figure)
}
