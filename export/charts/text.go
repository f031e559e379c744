package charts

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"benchtop/export/dots"
	"benchtop/internal/text"
)

// TextOptions are the options of Text.
type TextOptions struct {
	// Width is the largest width of a line in columns; 0 means 80, and less than 40 is drawn as 40.
	Width int
	// ASCII draws with plain characters instead of braille.
	ASCII bool
}

const (
	textRows     = 15
	leastColumns = 40
	letters      = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	// textLabel is the width of the labels of a vertical axis.
	textLabel = 7
	// mostTextPanels bounds the text of a figure: more panels are for a picture.
	mostTextPanels = 12
)

// Text draws the figure with characters, its panels one below the other. A letter marks the points of a curve, and a
// legend says which.
func (f *Figure) Text(w io.Writer, o TextOptions) error {
	o.Width = cmp.Or(o.Width, 80)
	o.Width = max(o.Width, leastColumns)
	out := bufio.NewWriter(w)
	if f.Title != "" {
		fmt.Fprintf(out, "%s\n", text.Cut(visible(heading(f.Title)), o.Width))
	}
	signs := map[string]rune{}
	next := 0
	for _, c := range f.legend() {
		switch {
		case !c.Quiet:
			signs[c.Name] = rune(letters[next%len(letters)])
			next++
		case o.ASCII:
			signs[c.Name] = '.'
		default:
			signs[c.Name] = '·'
		}
	}
	columns := o.Width - textLabel - 2
	x, y := f.axes(columns/12, textRows/3)
	for i, p := range f.Panels {
		if i == mostTextPanels {
			fmt.Fprintf(out, "and %d more panels, see the pictures\n", len(f.Panels)-i)
			break
		}
		if p.Title != "" {
			fmt.Fprintf(out, "%s\n", text.Cut(visible(heading(p.Title)), o.Width))
		}
		p.text(out, x, y, columns, o, signs)
	}
	if len(signs) > 1 {
		for _, c := range f.legend() {
			fmt.Fprintf(out, "  %c  %s\n", signs[c.Name], text.Cut(visible(c.Name), o.Width-5))
		}
	}
	for _, note := range f.Notes {
		fmt.Fprintf(out, "%s\n", visible(note))
	}
	return out.Flush()
}

// text draws a panel:
//
//	median TTFT (ms)
//	    100 ┤         a
//	        │    ⣀⠤⠒⠉
//	      0 ┼a────┴─────
//	        0    10
func (p *Panel) text(out *bufio.Writer, x, y axis, columns int, o TextOptions, signs map[string]rune) {
	g, empty := p.dots(x, y, columns, o, signs)
	fmt.Fprintf(out, "%s\n", visible(y.label))
	names := make([]string, textRows)
	for _, t := range y.ticks {
		names[textRows-1-y.place(t.value, textRows)] = text.Cut(visible(t.label), textLabel)
	}
	for row := range textRows {
		edge, line := '│', g.Row(row)
		if names[row] != "" {
			edge = '┤'
		}
		if o.ASCII {
			edge = map[rune]rune{'│': '|', '┤': '+'}[edge]
		}
		if empty && row == textRows/2 {
			line = "  no data"
		}
		fmt.Fprintf(out, "%*s %c%s\n", textLabel, names[row], edge, strings.TrimRight(line, " "))
	}
	axis, labels := x.line(columns, o.ASCII)
	pad := strings.Repeat(" ", textLabel+1)
	fmt.Fprintf(out, "%s%s\n%s%s\n", pad, axis, pad, labels)
	fmt.Fprintf(out, "%s%s\n", strings.Repeat(" ", max(0, textLabel+2+(columns-utf8.RuneCountInString(x.label))/2)),
		visible(x.label))
}

// dots draws the lines of a panel, and its points above them, the quiet ones first. A panel without points is empty.
func (p *Panel) dots(x, y axis, columns int, o TextOptions, signs map[string]rune) (g *dots.Grid, empty bool) {
	g, empty = dots.New(columns, textRows, o.ASCII), true
	at := func(pt Point) (int, int) { return x.place(pt.X, g.Width), y.place(pt.Y, g.Height) }
	for i := range p.Curves {
		c := &p.Curves[i]
		empty = empty && len(c.Points) == 0
		for k := 1; k < len(c.Points) && c.Line; k++ {
			x0, y0 := at(c.Points[k-1])
			x1, y1 := at(c.Points[k])
			g.Line(x0, y0, x1, y1)
		}
	}
	for _, layer := range [2]int{0, 1} {
		for i := range p.Curves {
			c := &p.Curves[i]
			if c.layer() != layer {
				continue
			}
			for _, pt := range c.Points {
				px, py := at(pt)
				g.Put(px, py, cmp.Or(signs[c.Name], rune(letters[0])))
			}
		}
	}
	return g, empty
}

// place is where a value lies among n places of the axis.
func (a *axis) place(v float64, n int) int { return int(math.Round(a.part(v) * float64(n-1))) }

// line is the axis below an area of so many columns, and the labels of its ticks below it.
func (a *axis) line(columns int, ascii bool) (line, labels string) {
	corner, stroke, mark := '└', '─', '┴'
	if ascii {
		corner, stroke, mark = '+', '-', '+'
	}
	cells, below := []rune(strings.Repeat(string(stroke), columns)), []rune(strings.Repeat(" ", columns+1))
	free := 0
	for _, t := range a.ticks {
		at := a.place(t.value, columns)
		cells[at] = mark
		name := []rune(text.Cut(visible(t.label), columns/max(1, len(a.ticks))))
		from := min(max(0, at+1-len(name)/2), columns+1-len(name))
		if from >= free {
			copy(below[from:], name)
			free = from + len(name) + 1
		}
	}
	return string(corner) + string(cells), strings.TrimRight(string(below), " ")
}

// visible is a text in which a terminal and an XML parser find nothing but characters: foreign names may have others.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != utf8.RuneError {
			return r
		}
		return '?'
	}, s)
}
