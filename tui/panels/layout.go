package panels

import (
	"cmp"
	"slices"

	"benchtop/tui/screen"
)

// Rect is a place on the screen, in cells.
type Rect struct{ X, Y, W, H int }

// Of is the rectangle of a canvas.
func (r Rect) Of(c screen.Canvas) screen.Canvas { return c.Sub(r.X, r.Y, r.W, r.H) }

// Box is a named rectangle. Two boxes of one frame share the line of border between them: the upper one Opens below,
// the lower one Joins above. A Bare box has no border.
type Box struct {
	Name               string
	Rect               Rect
	Joins, Opens, Bare bool
}

// Areas are the places of everything for one size.
type Areas struct {
	Tiny bool // a few words, nothing else
	// Head holds the header lines, Verdict what is known of the run so far, Keys the bottom line.
	Head, Verdict, Keys Rect
	// Panels from left to right, top to bottom.
	Panels []Box
}

// Layout turns a size into rectangles that cover it. It depends on few facts of the view, which hardly change during a
// run, so panels stay in their places.
//
//	┌────────────────────────────┐
//	│ head                       │
//	│ verdict                    │
//	│┌──────────┐┌──────────────┐│
//	││ panels   ││              ││
//	│├──────────┤├──────────────┤│
//	││          ││              ││
//	│└──────────┘└──────────────┘│
//	│ keys                       │
//	└────────────────────────────┘
func Layout(p Page, w, h int, v *View) Areas {
	s := Lines(w, h)
	switch {
	case s.Tiny:
		return s
	case p.Concludes && v.Report != nil:
		s.Verdict.H = v.cardHeight(w, h)
	}
	s.Panels = p.panels(s.Below(), v)
	return s
}

// Lines are the areas of every screen: its header, a line of verdict, and the keys.
func Lines(w, h int) Areas {
	if w < 40 || h < 10 {
		return Areas{Tiny: true}
	}
	head := 2
	if w < 80 || h < 24 {
		head = 1
	}
	return Areas{Head: Rect{0, 0, w, head}, Verdict: Rect{0, head, w, 1}, Keys: Rect{0, h - 1, w, 1}}
}

// Below is the place of the panels.
func (a *Areas) Below() Rect {
	y := a.Verdict.Y + a.Verdict.H
	return Rect{0, y, a.Keys.W, a.Keys.Y - y}
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
		h = cmp.Or(h, max(0, rest))
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

// share is a panel of a frame: its name, and the lines inside it, 0 for an even share of the rest, below 0 for so many
// halves of one.
type share struct {
	name  string
	lines int
}

// halves are those of an even share, 0 for a panel of fixed lines.
func (s share) halves() int {
	if s.lines == 0 {
		return 2
	}
	return max(-s.lines, 0)
}

// charts are panels with even shares of the lines.
func charts(names ...string) []share {
	out := make([]share, len(names))
	for i, name := range names {
		out[i].name = name
	}
	return out
}

// framed stacks panels in one frame. Where a chart would have less than two lines, the last panels are left out.
func (r Rect) framed(parts ...share) []Box {
	const least = 2
	for n := len(parts); n > 0; n-- {
		free, halves := r.H-n-1, 0
		for _, p := range parts[:n] {
			free -= max(p.lines, 0)
			halves += p.halves()
		}
		if n > 1 && (2*free < least*halves || free < 0) {
			continue
		}
		out, y := make([]Box, 0, n), r.Y
		for i, p := range parts[:n] {
			lines := p.lines
			switch {
			case lines <= 0:
				lines = (free*p.halves() + halves - 1) / halves
				free, halves = free-lines, halves-p.halves()
			case n == 1:
				lines = r.H - 2
			}
			if i == n-1 { // without a chart the last one takes what is left
				lines = max(0, r.Y+r.H-y-2)
			}
			out = append(out, Box{Name: p.name, Rect: Rect{r.X, y, r.W, lines + 2}, Joins: i > 0, Opens: i < n-1})
			y += lines + 1
		}
		return out
	}
	return nil
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
		gap := second.X - (first.X + first.W) + 1 // panels of a frame share a line
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
