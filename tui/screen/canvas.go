// Package screen holds the screen in memory: cells with a glyph and a style, and rectangles to draw on. It renders them
// for a terminal with a theme, a number of colours, and UTF-8 or ASCII. It knows neither panels nor data.
//
//	text ──Sanitize──> Canvas.Print ──> Surface: cells ──Render(palette)──> one string with few escape sequences
package screen

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Cell is one place on the screen, eight bytes. A glyph of 0 is the right half of a wide one to its left; a negative
// glyph stands for text of several runes, kept by the surface.
type Cell struct {
	Glyph rune
	Style Style
}

var blank = Cell{Glyph: ' '}

// Terminal describes the abilities of a terminal.
type Terminal struct {
	Mono   bool // no colours: lines carry their names
	Filled bool // enough colours for dim areas below lines
	ASCII  bool // no braille and no blocks
}

// Surface is a screen in memory.
type Surface struct {
	W, H     int
	Terminal Terminal
	cells    []Cell
	clusters []string
}

// NewSurface returns a blank surface of w columns and h lines.
func NewSurface(w, h int) *Surface {
	s := &Surface{W: max(0, w), H: max(0, h)}
	s.cells = make([]Cell, s.W*s.H)
	s.Clear()
	return s
}

// Clear makes the surface blank again.
func (s *Surface) Clear() {
	s.clusters = s.clusters[:0]
	for i := range s.cells {
		s.cells[i] = blank
	}
}

// Canvas is a rectangle of a surface with its own origin. Drawing beyond its edges has no effect, so a panel
// cannot disturb another.
type Canvas struct {
	s          *Surface
	X, Y, W, H int // X and Y on the surface
	over       bool
}

// All is the whole surface.
func (s *Surface) All() Canvas { return Canvas{s, 0, 0, s.W, s.H, false} }

// Sub is a rectangle of the canvas, cut at its edges.
func (c Canvas) Sub(x, y, w, h int) Canvas {
	x0, y0 := min(max(x, 0), c.W), min(max(y, 0), c.H)
	x1, y1 := min(max(x+w, x0), c.W), min(max(y+h, y0), c.H)
	return Canvas{c.s, c.X + x0, c.Y + y0, x1 - x0, y1 - y0, c.over}
}

// Over is the same rectangle for what is drawn over areas: a style without a background keeps the one that is there.
func (c Canvas) Over() Canvas {
	c.over = true
	return c
}

// Terminal describes the terminal that the canvas is drawn for.
func (c Canvas) Terminal() Terminal { return c.s.Terminal }

// Clear makes the canvas blank.
func (c Canvas) Clear() { c.Fill(Text) }

// Fill makes all of the canvas blank in a style.
func (c Canvas) Fill(st Style) {
	for y := range c.H {
		for x := range c.W {
			c.Set(x, y, ' ', st)
		}
	}
}

// Grey takes the colours from what is drawn, as of figures that are not up to date. Areas stay areas.
func (c Canvas) Grey() {
	shade := func(c Color) bool { return c >= areas && c < heats }
	for y := range c.H {
		for x := range c.W {
			p := c.At(x, y)
			switch {
			case p.Style == Line:
			case p.Style.Bg != Plain && p.Style.Bg < named:
				p.Style = Style{Fg: p.Style.Fg, Bg: Dimmed}
			case shade(p.Style.Bg):
				p.Style = Style{Fg: Dimmed, Bg: Shade(Dimmed)}
			case shade(p.Style.Fg):
				p.Style = Style{Fg: Shade(Dimmed)}
			default:
				p.Style = Dim
			}
		}
	}
}

// At returns the cell at x, y, nil outside.
func (c Canvas) At(x, y int) *Cell {
	if x < 0 || y < 0 || x >= c.W || y >= c.H {
		return nil
	}
	return &c.s.cells[(c.Y+y)*c.s.W+c.X+x]
}

// Set writes one glyph of width 1.
func (c Canvas) Set(x, y int, glyph rune, st Style) {
	p := c.At(x, y)
	if p == nil {
		return
	}
	i := (c.Y+y)*c.s.W + c.X + x
	if c.over && st.Bg == Plain {
		st.Bg = p.Style.Bg
	}
	// Overwriting one half of a wide glyph removes the other.
	if p.Glyph == 0 {
		c.s.cells[i-1].Glyph = ' '
	}
	if c.X+x+1 < c.s.W && c.s.cells[i+1].Glyph == 0 {
		c.s.cells[i+1].Glyph = ' '
	}
	*p = Cell{glyph, st}
}

// Print writes s from x, y on, cut with an ellipsis at the right edge, and returns the column after it.
func (c Canvas) Print(x, y int, s string, st Style) int {
	if y < 0 || y >= c.H || x >= c.W {
		return x
	}
	s = Shorten(s, c.W-x)
	last := -1 // column of the glyph before
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r < 0x7f {
			c.Set(x, y, r, st)
			s, last, x = s[n:], x, x+1
			continue
		}
		cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		s = s[len(cluster):]
		switch {
		case w <= 0:
			c.join(last, y, cluster)
			continue
		case x+w > c.W:
			continue
		case x < 0:
			x += w // to the left of the canvas
			continue
		case w == 2:
			c.Set(x+1, y, ' ', st)
		}
		c.Set(x, y, r, st)
		if len(cluster) > n {
			c.At(x, y).Glyph = c.s.cluster(cluster)
		}
		if w == 2 {
			c.At(x+1, y).Glyph = 0
		}
		last, x = x, x+w
	}
	return x
}

// join adds marks without a width of their own to the glyph before them, as the terminal will.
func (c Canvas) join(x, y int, marks string) {
	p := c.At(x, y)
	switch {
	case p == nil || p.Glyph == 0:
	case p.Glyph < 0:
		p.Glyph = c.s.cluster(c.s.clusters[-p.Glyph-1] + marks)
	default:
		p.Glyph = c.s.cluster(string(p.Glyph) + marks)
	}
}

// cluster keeps text of several runes and returns the glyph that stands for it.
func (s *Surface) cluster(t string) rune {
	s.clusters = append(s.clusters, t)
	return rune(-len(s.clusters))
}

// Right writes s so that it ends before column x.
func (c Canvas) Right(x, y int, s string, st Style) {
	c.Print(x-Width(s), y, s, st)
}

// Center writes s in the middle of the canvas.
func (c Canvas) Center(s string, st Style) {
	s = Shorten(s, c.W)
	c.Print((c.W-Width(s))/2, c.H/2, s, st)
}

// Safely draws, and keeps a panic to the canvas.
func (c Canvas) Safely(draw func(c Canvas)) {
	defer func() {
		if recover() != nil {
			c.Clear()
			c.Center("display error", Warning)
		}
	}()
	draw(c)
}

// Span is a piece of text in one style.
type Span struct {
	Text  string
	Style Style
}

// Spans writes pieces of text one after the other and returns the column after them.
func (c Canvas) Spans(x, y int, all []Span) int {
	for _, s := range all {
		x = c.Print(x, y, s.Text, s.Style)
	}
	return x
}

// SpansWidth is the number of columns that they take.
func SpansWidth(all []Span) int {
	n := 0
	for _, s := range all {
		n += Width(s.Text)
	}
	return n
}

// Render turns the surface into lines for the terminal, with one escape sequence where the style changes.
func (s *Surface) Render(p *Palette) string {
	b := make([]byte, 0, len(s.cells)*4+64)
	for y := range s.H {
		if y > 0 {
			b = append(b, '\n')
		}
		now := Style{}
		for _, c := range s.cells[y*s.W : (y+1)*s.W] {
			if s.Terminal.ASCII {
				c.Glyph = s.plain(c.Glyph)
			}
			if c.Glyph == 0 {
				continue
			}
			want := p.seen(c.Style)
			if c.Glyph == ' ' && want.Bg == now.Bg {
				want = now // the colour of a blank cannot be seen
			}
			b = p.change(b, now, want)
			now = want
			if c.Glyph < 0 {
				b = append(b, s.clusters[-c.Glyph-1]...)
			} else {
				b = utf8.AppendRune(b, c.Glyph)
			}
		}
		b = p.change(b, now, Style{})
	}
	return string(b)
}

// Border draws a box along the edges of the canvas, in the colour of text if it stands out. A box that joins another
// has its upper edge in common with the one above; one that opens leaves its lower edge to the one below.
func (c Canvas) Border(standsOut, joins, opens bool) {
	st := Line
	if standsOut {
		st = Text
	}
	left, right := '╭', '╮'
	if joins {
		left, right = '├', '┤'
	}
	for x := 1; x < c.W-1; x++ {
		c.Set(x, 0, '─', st)
		if !opens {
			c.Set(x, c.H-1, '─', st)
		}
	}
	for y := 1; y < c.H-1; y++ {
		c.Set(0, y, '│', st)
		c.Set(c.W-1, y, '│', st)
	}
	c.Set(0, 0, left, st)
	c.Set(c.W-1, 0, right, st)
	if !opens {
		c.Set(0, c.H-1, '╰', st)
		c.Set(c.W-1, c.H-1, '╯', st)
	}
}

// plain is the ASCII character that stands for a glyph of the surface, one for each column. Foreign letters become
// question marks; both halves of a wide one do.
func (s *Surface) plain(glyph rune) rune {
	switch {
	case glyph < 0: // a letter with marks on it stays without them
		first, _ := utf8.DecodeRuneInString(s.clusters[-glyph-1])
		return s.plain(first)
	case glyph >= 0x20 && glyph <= 0x7e:
		return glyph
	}
	return asciiFor(glyph)
}

// signs are the signs of the dashboard, asciiSigns the characters that stand for them.
const (
	signs      = "─▁·┄–━╸╺┊│‖╭╮╰╯┴┤├┬┼┌┐└┘●○◆★◐■✓↓↑▲°…→←▶≤≥×✗µ▂▃▄▅▆▇█\u2800"
	asciiSigns = "-----===:||+++++++++++++*o#***vv^^ ~><><>xxu...:::# "
)

// plainSigns are the characters by their signs.
var plainSigns = func() map[rune]rune {
	out := map[rune]rune{}
	for i, sign := range []rune(signs) {
		out[sign] = rune(asciiSigns[i])
	}
	return out
}()

// asciiFor is the character for a sign of the dashboard.
func asciiFor(r rune) rune {
	switch plain, ok := plainSigns[r]; {
	case ok:
		return plain
	case r > 0x2800 && r <= 0x28ff: // plots in the report; charts draw letters
		return '*'
	}
	return '?'
}
