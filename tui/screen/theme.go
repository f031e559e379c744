package screen

import "github.com/muesli/termenv"

// Color is an entry of the palette. Text uses plain, the terminal's own foreground, so that it can be read on any
// background; colour is for data. A colour never carries a meaning alone: a sign or a word stands beside it.
type Color uint8

// The colours that have names; Heat has more.
const (
	Plain Color = iota
	Blue
	Orange
	Green
	Vermilion
	Purple
	Yellow // poor on white: for areas, never for text
	grey   // labels
	Dimmed // lines that are less than data: outlines, marks, what does not count
	faint  // borders and axes
	Black  // marks on top of coloured areas
	shades // the first of the colours of areas, see shades.go
	colors = shades + shadeCount
)

// Style is how a cell looks. The zero value is plain text.
type Style struct {
	Fg, Bg Color
	Bold   bool
}

// Span is a piece of text in the style.
func (s Style) Span(text string) Span { return Span{text, s} }

// What text and lines look like.
var (
	Text    = Style{}
	Label   = Style{Fg: grey}
	Strong  = Style{Bold: true}
	Line    = Style{Fg: faint}
	Dim     = Style{Fg: Dimmed}
	Warning = Style{Fg: Vermilion, Bold: true}
)

// Palette turns styles into escape sequences for one theme on one kind of terminal.
type Palette struct {
	Theme   string
	Profile termenv.Profile
	Mono    bool // no colour at all, so that lines have to carry their names
	Attrs   bool // bold works all the same; without it there are no escape sequences
	few     bool // 16 colours, of which many terminals take the bright ones for bold text
	Filled  bool // there are colours enough for dim areas below lines
	heavy   bool // all but labels is bold
	fg, bg  [colors]string
}

// Terminal is what the terminal can show, in ASCII alone or not.
func (p *Palette) Terminal(ascii bool) Terminal {
	return Terminal{Mono: p.Mono, Filled: p.Filled, ASCII: ascii}
}

// NewPalette is that of the usual theme.
func NewPalette(p termenv.Profile) *Palette { return ThemePalette(ThemeStandard, p) }

// seen is the style as this terminal can show it. Of 16 colours none is bold: bright yellow cannot be read on white.
func (p *Palette) seen(s Style) Style {
	named := s.Fg == grey // labels, which weigh less than what they name
	if p.fg[s.Fg] == "" {
		s.Fg = Plain
	}
	if p.bg[s.Bg] == "" {
		s.Bg = Plain
	}
	if p.heavy && !named {
		s.Bold = true
	}
	if p.few && s.Fg != Plain {
		s.Bold = false
	}
	return s
}

// change appends what turns one style, as it is seen, into another: as few bytes as will do, since a screen has a thousand of them.
func (p *Palette) change(b []byte, from, to Style) []byte {
	if p.Mono && !p.Attrs || from == to {
		return b
	}
	if to == (Style{}) {
		return append(b, "\x1b[m"...)
	}
	b = append(b, "\x1b["...)
	start := len(b)
	part := func(s string) {
		if s == "" {
			return
		}
		if len(b) > start {
			b = append(b, ';')
		}
		b = append(b, s...)
	}
	if from.Bold && !to.Bold || from.Bg != to.Bg && p.bg[to.Bg] == "" || from.Fg != to.Fg && to.Fg == Plain {
		part("0")
		from = Style{}
	}
	if to.Bold && !from.Bold {
		part("1")
	}
	if from.Fg != to.Fg {
		part(p.fg[to.Fg])
	}
	if from.Bg != to.Bg {
		part(p.bg[to.Bg])
	}
	if len(b) == start {
		return b[:start-2]
	}
	return append(b, 'm')
}
