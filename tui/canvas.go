package tui

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// cell is one place on the screen, eight bytes. A glyph of 0 is the right half of a wide one to its left; a negative
// glyph stands for text of several runes, kept by the surface.
type cell struct {
	glyph rune
	style style
}

var blank = cell{glyph: ' '}

// surface is a screen in memory.
type surface struct {
	w, h     int
	cells    []cell
	clusters []string
	ascii    bool
}

func newSurface(w, h int) *surface {
	s := &surface{w: max(0, w), h: max(0, h)}
	s.cells = make([]cell, s.w*s.h)
	for i := range s.cells {
		s.cells[i] = blank
	}
	return s
}

// canvas is a rectangle of a surface with its own origin. Whatever is drawn beyond its edges is lost, so a panel can
// disturb nobody but itself.
type canvas struct {
	s          *surface
	x, y, w, h int
}

func (s *surface) all() canvas { return canvas{s, 0, 0, s.w, s.h} }

func (c canvas) sub(x, y, w, h int) canvas {
	x0, y0 := min(max(x, 0), c.w), min(max(y, 0), c.h)
	x1, y1 := min(max(x+w, x0), c.w), min(max(y+h, y0), c.h)
	return canvas{c.s, c.x + x0, c.y + y0, x1 - x0, y1 - y0}
}

func (c canvas) in(r rect) canvas { return c.sub(r.x, r.y, r.w, r.h) }

func (c canvas) clear() {
	for y := range c.h {
		for x := range c.w {
			c.set(x, y, ' ', text)
		}
	}
}

// at returns the cell at x, y, nil outside.
func (c canvas) at(x, y int) *cell {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return nil
	}
	return &c.s.cells[(c.y+y)*c.s.w+c.x+x]
}

// set writes one glyph of width 1.
func (c canvas) set(x, y int, glyph rune, st style) {
	p := c.at(x, y)
	if p == nil {
		return
	}
	i := (c.y+y)*c.s.w + c.x + x
	// Half of a wide glyph cannot stay.
	if p.glyph == 0 {
		c.s.cells[i-1].glyph = ' '
	}
	if c.x+x+1 < c.s.w && c.s.cells[i+1].glyph == 0 {
		c.s.cells[i+1].glyph = ' '
	}
	*p = cell{glyph, st}
}

// print writes s from x, y on, cut with an ellipsis at the right edge, and returns the column after it.
func (c canvas) print(x, y int, s string, st style) int {
	if y < 0 || y >= c.h || x >= c.w {
		return x
	}
	s = shorten(s, c.w-x)
	last := -1 // column of the glyph before
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r < 0x7f {
			c.set(x, y, r, st)
			s, last, x = s[n:], x, x+1
			continue
		}
		cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		s = s[len(cluster):]
		switch {
		case w <= 0:
			c.join(last, y, cluster)
			continue
		case x+w > c.w:
			continue
		case x < 0:
			x += w // to the left of the canvas
			continue
		case w == 2:
			c.set(x+1, y, ' ', st)
		}
		c.set(x, y, r, st)
		if len(cluster) > n {
			c.at(x, y).glyph = c.s.cluster(cluster)
		}
		if w == 2 {
			c.at(x+1, y).glyph = 0
		}
		last, x = x, x+w
	}
	return x
}

// join adds marks without a width of their own to the glyph before them, as the terminal will.
func (c canvas) join(x, y int, marks string) {
	p := c.at(x, y)
	switch {
	case p == nil || p.glyph == 0:
	case p.glyph < 0:
		p.glyph = c.s.cluster(c.s.clusters[-p.glyph-1] + marks)
	default:
		p.glyph = c.s.cluster(string(p.glyph) + marks)
	}
}

// cluster keeps text of several runes and returns the glyph that stands for it.
func (s *surface) cluster(t string) rune {
	s.clusters = append(s.clusters, t)
	return rune(-len(s.clusters))
}

// right writes s so that it ends before column x.
func (c canvas) right(x, y int, s string, st style) {
	c.print(x-width(s), y, s, st)
}

// center writes s in the middle of the canvas.
func (c canvas) center(s string, st style) {
	s = shorten(s, c.w)
	c.print((c.w-width(s))/2, c.h/2, s, st)
}

// span is a piece of text in one style.
type span struct {
	text  string
	style style
}

func (c canvas) spans(x, y int, all []span) int {
	for _, s := range all {
		x = c.print(x, y, s.text, s.style)
	}
	return x
}

func spansWidth(all []span) int {
	n := 0
	for _, s := range all {
		n += width(s.text)
	}
	return n
}

// render turns the surface into lines for the terminal, with one escape sequence where the style changes.
func (s *surface) render(p *palette) string {
	b := make([]byte, 0, len(s.cells)*4+64)
	for y := range s.h {
		if y > 0 {
			b = append(b, '\n')
		}
		now := style{}
		for _, c := range s.cells[y*s.w : (y+1)*s.w] {
			if s.ascii {
				c.glyph = s.plain(c.glyph)
			}
			if c.glyph == 0 {
				continue
			}
			want := p.seen(c.style)
			if c.glyph == ' ' && want.bg == now.bg {
				want = now // the colour of a blank cannot be seen
			}
			b = p.change(b, now, want)
			now = want
			if c.glyph < 0 {
				b = append(b, s.clusters[-c.glyph-1]...)
			} else {
				b = utf8.AppendRune(b, c.glyph)
			}
		}
		b = p.change(b, now, style{})
	}
	return string(b)
}
