package screen

import "github.com/muesli/termenv"

// Color is an entry of the palette. Text is Plain, the terminal's own foreground, which is readable on any
// background; colours are for data. A colour never carries a meaning alone: a sign or a word stands beside it.
type Color uint8

// The named colours. Heat has more.
const (
	Plain Color = iota
	Blue
	Orange
	Green
	Vermilion
	Purple
	Yellow // poor on white: for areas, never for text
	grey   // labels
	Dimmed // lines that support data: outlines, marks, the warm-up
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

// Span returns a piece of text in the style.
func (s Style) Span(text string) Span { return Span{text, s} }

// The styles of text and lines.
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
	Mono    bool // no colours
	attrs   bool // bold works; without it there are no escape sequences
	few     bool // 16 colours: many terminals show bold text in the bright ones
	Filled  bool // enough colours for dim areas below lines
	heavy   bool // all text but labels is bold
	fg, bg  [colors]string
}

// Terminal describes the terminal of the palette.
func (p *Palette) Terminal(ascii bool) Terminal {
	return Terminal{Mono: p.Mono, Filled: p.Filled, ASCII: ascii}
}

// NewPalette returns the palette of the standard theme.
func NewPalette(p termenv.Profile) *Palette { return ThemePalette(themeStandard, p) }

// seen is the style as this terminal can show it. With 16 colours none is bold: bright yellow is unreadable on white.
func (p *Palette) seen(s Style) Style {
	named := s.Fg == grey // labels, which weigh less than their values
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

// change appends the escape sequence from one style, as it is seen, to another, in as few bytes as possible: a screen has a
// thousand of them.
func (p *Palette) change(b []byte, from, to Style) []byte {
	if p.Mono && !p.attrs || from == to {
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
