package tui

import "github.com/muesli/termenv"

// color is an entry of the palette. Text uses plain, the terminal's own foreground, so that it can be read on any
// background; colour is for data. A colour never carries a meaning alone: a sign or a word stands beside it.
type color uint8

const (
	plain color = iota
	blue
	orange
	green
	vermilion
	purple
	yellow // poor on white: for areas, never for text
	grey   // labels
	dimmed // lines that are less than data: outlines, marks, what does not count
	faint  // borders and axes
	black  // marks on top of coloured areas
	shades // the first of the colours of areas, see shades.go
	colors = shades + shadeCount
)

// What the colours stand for, everywhere.
const (
	colorOutput  = blue
	colorInput   = purple
	colorRunning = green
	colorWaiting = purple
	colorHeld    = orange
	colorError   = vermilion
)

type attr uint8

const bold attr = 1

type style struct {
	fg, bg color
	attr   attr
}

var (
	text    = style{}
	label   = style{fg: grey}
	strong  = style{attr: bold}
	line    = style{fg: faint}
	dim     = style{fg: dimmed}
	warning = style{fg: vermilion, attr: bold}
)

// palette turns styles into escape sequences for one theme on one kind of terminal.
type palette struct {
	theme   string
	profile termenv.Profile
	mono    bool // no colour at all, so that lines have to carry their names
	attrs   bool // bold works all the same; without it there are no escape sequences
	few     bool // 16 colours, of which many terminals take the bright ones for bold text
	filled  bool // there are colours enough for dim areas below lines
	heavy   bool // all but labels is bold
	fg, bg  [colors]string
}

// newPalette is that of the usual theme.
func newPalette(p termenv.Profile) *palette { return themed(themeStandard, p) }

// seen is the style as this terminal can show it. Of 16 colours none is bold: bright yellow cannot be read on white.
func (p *palette) seen(s style) style {
	named := s.fg == grey // labels, which weigh less than what they name
	if p.fg[s.fg] == "" {
		s.fg = plain
	}
	if p.bg[s.bg] == "" {
		s.bg = plain
	}
	if p.heavy && !named {
		s.attr |= bold
	}
	if p.few && s.fg != plain {
		s.attr = 0
	}
	return s
}

// change appends what turns one style, as it is seen, into another: as few bytes as will do, since a screen has a thousand of them.
func (p *palette) change(b []byte, from, to style) []byte {
	if p.mono && !p.attrs || from == to {
		return b
	}
	if to == (style{}) {
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
	if from.attr&^to.attr != 0 || from.bg != to.bg && p.bg[to.bg] == "" || from.fg != to.fg && to.fg == plain {
		part("0")
		from = style{}
	}
	if to.attr&^from.attr != 0 {
		part("1")
	}
	if from.fg != to.fg {
		part(p.fg[to.fg])
	}
	if from.bg != to.bg {
		part(p.bg[to.bg])
	}
	if len(b) == start {
		return b[:start-2]
	}
	return append(b, 'm')
}
