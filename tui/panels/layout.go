package panels

import (
	"benchtop/tui/screen"
	"slices"
)

// Rect is a place on the screen, in cells.
type Rect struct{ X, Y, W, H int }

// Of is the rectangle of a canvas.
func (r Rect) Of(c screen.Canvas) screen.Canvas { return c.Sub(r.X, r.Y, r.W, r.H) }

// Box is a named rectangle.
type Box struct {
	Name string
	Rect Rect
}

// Areas are the places of everything for one size.
type Areas struct {
	Tiny bool // a few words, nothing else
	// Head holds the two header lines, Figures the key figures, Keys the bottom line. A height of 0 means: not shown.
	Head, Figures, Keys Rect
	// Panels from left to right, top to bottom.
	Panels []Box
}

// Layout turns a size into rectangles that cover it without overlap. It depends on few facts of the view, which hardly change during a run, so panels
// stay in their places.
//
//	┌────────────────────────────┐
//	│ head                       │
//	│ figures                    │
//	│┌──────────┐┌──────────────┐│
//	││ panels   ││              ││
//	│└──────────┘└──────────────┘│
//	│ keys                       │
//	└────────────────────────────┘
func Layout(p Page, w, h int, v *View) Areas {
	if w < 40 || h < 10 {
		return Areas{Tiny: true}
	}
	s := Areas{Head: Rect{0, 0, w, 2}, Figures: Rect{0, 2, w, 1}, Keys: Rect{0, h - 1, w, 1}}
	switch {
	case w >= 110 && h >= 34:
		s.Figures.H = 2
	case w < 80 || h < 24:
		s.Head.H = 1
		s.Figures = Rect{0, 1, w, figureLines(w, h, sloLines(v.Snapshot) > 0)}
	}
	top := s.Figures.Y + s.Figures.H
	s.Panels = p.panels(Rect{0, top, w, h - 1 - top}, v)
	return s
}

// rows cuts r into rows of the given heights; one height may be 0 and takes the rest.
func (r Rect) rows(heights ...int) []Rect {
	rest := r.H
	for _, h := range heights {
		rest -= h
	}
	out := make([]Rect, len(heights))
	y := r.Y
	for i, h := range heights {
		if h == 0 {
			h = max(0, rest)
		}
		h = min(h, r.Y+r.H-y)
		out[i] = Rect{r.X, y, r.W, h}
		y += h
	}
	return out
}

// columns cuts r into columns of the given widths; one width may be 0 and takes the rest.
func (r Rect) columns(widths ...int) []Rect {
	out := r.turned().rows(widths...)
	for i := range out {
		out[i] = out[i].turned()
	}
	return out
}

// even cuts r into n columns of nearly the same width.
func (r Rect) even(n int) []Rect {
	widths := make([]int, n)
	for i := range widths {
		widths[i] = r.W*(i+1)/n - r.W*i/n
	}
	return r.columns(widths...)
}

// evenRows are panels below each other, of nearly the same height.
func (r Rect) evenRows(names []string) []Box {
	out := make([]Box, len(names))
	for i, at := range r.turned().even(len(names)) {
		out[i] = Box{names[i], at.turned()}
	}
	return out
}

// overview lays out the first page. The sizes are those of the area below the header; slo is how many lines the objectives
// and gates need, 0 if there are none.
func overview(r Rect, slo int) []Box {
	switch {
	case r.W >= 180 && r.H >= 40:
		low := max(8, r.H/5, min(slo+2, 12))
		rows := r.rows((r.H-low+1)/2, 0, low)
		a, b := rows[0].even(3), rows[1].even(2)
		out := []Box{{"tokens", a[0]}, {"load", a[1]}, {"ttft over time", a[2]}, {"ttft", b[0]}, {"itl", b[1]}}
		if slo == 0 {
			c := rows[2].columns(tableWidth+2, 0, r.W*2/5)
			return append(out, Box{"latency", c[0]}, Box{"errors", c[1]}, Box{"log", c[2]})
		}
		c := rows[2].columns(tableWidth+2, 52, 0, r.W*3/10)
		return append(out, Box{"latency", c[0]}, Box{"slo", c[1]}, Box{"errors", c[2]}, Box{"log", c[3]})
	case r.W >= 110 && r.H >= 29:
		table, log := max(7, min(slo+2, 10)), 5
		if r.H > 40 {
			log += (r.H - 40) / 3
		}
		rest := r.H - table - log
		rows := r.rows((rest+1)/2, 0, table, log)
		a, b := rows[0].even(2), rows[1].even(2)
		out := []Box{{"tokens", a[0]}, {"load", a[1]}, {"ttft", b[0]}, {"itl", b[1]}}
		if slo == 0 {
			c := rows[2].columns(tableWidth+2, 0)
			return append(out, Box{"latency", c[0]}, Box{"errors", c[1]}, Box{"log", rows[3]})
		}
		free := r.W - tableWidth - 2
		c := rows[2].columns(tableWidth+2, min(free*14/25, 64), 0)
		return append(out, Box{"latency", c[0]}, Box{"slo", c[1]}, Box{"errors", c[2]}, Box{"log", rows[3]})
	case r.W >= 80 && r.H >= 20:
		last, name := max(3, r.H-(r.H+1)/2-7), "errors"
		if slo > 0 { // the errors are in the key figures and on the page of the log
			last, name = max(last, min(slo+2, 5)), "slo"
		}
		rows := r.rows(0, 7+last)
		a, b := rows[0].even(2), rows[1].columns(tableWidth+2, 0)
		c := b[0].rows(7, 0)
		return []Box{{"tokens", a[0]}, {"load", a[1]}, {"latency", c[0]}, {name, c[1]}, {"ttft", b[1]}}
	}
	// A small terminal, or a narrow and high one: the table, then as many charts as fit below each other.
	out := []Box{{"latency", Rect{r.X, r.Y, r.W, min(7, r.H)}}}
	rest := Rect{r.X, r.Y + out[0].Rect.H, r.W, r.H - out[0].Rect.H}
	if need := min(slo, 6) + 2; slo > 0 && (rest.H >= need+8 || rest.H >= need && rest.H < 8) {
		cut := rest.rows(need, 0)
		out, rest = append(out, Box{"slo", cut[0]}), cut[1]
	}
	names := []string{"tokens", "ttft", "load", "itl"}
	n := min(rest.H/8, len(names))
	if n == 0 {
		if rest.H > 0 {
			out = append(out, Box{"log", rest})
		}
		return out
	}
	return append(out, rest.evenRows(names[:n])...)
}

// Neighbour finds the panel in the direction dx, dy from the one named, "" if there is none.
func Neighbour(panels []Box, from string, dx, dy int) string {
	here := slices.IndexFunc(panels, func(b Box) bool { return b.Name == from })
	switch {
	case len(panels) == 0:
		return ""
	case here < 0:
		return panels[0].Name
	}
	best, name := 1<<30, ""
	for _, b := range panels {
		first, second := panels[here].Rect, b.Rect
		if dx == 0 {
			first, second = first.turned(), second.turned()
		}
		off := first.Y - second.Y
		if dx+dy < 0 {
			first, second = second, first
		}
		gap := second.X - (first.X + first.W)
		if d := 1000*gap + max(off, -off); gap >= 0 && b.Name != from && d < best {
			best, name = d, b.Name
		}
	}
	return name
}

// turned swaps rows and columns.
func (r Rect) turned() Rect { return Rect{r.Y, r.X, r.H, r.W} }

// Has reports whether the cell at x, y lies in the rectangle.
func (r Rect) Has(x, y int) bool { return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H }
