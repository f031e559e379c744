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
	colors
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

// swatches give each colour for terminals of 16 million, 256 and 16 colours. The first eight are Okabe and Ito's, which
// people with any colour vision can tell apart. Of the 16 only those are used that can be read on black, on white and on
// Solarized, whose bright black is its background: so labels are plain there, and only borders may be lost.
var swatches = [colors]struct{ rgb, ansi256, ansi string }{
	blue:      {"#56B4E9", "74", "12"},
	orange:    {"#E69F00", "172", "3"},
	green:     {"#009E73", "36", "2"},
	vermilion: {"#D55E00", "166", "1"},
	purple:    {"#CC79A7", "175", "5"},
	yellow:    {"#F0E442", "221", "3"},
	grey:      {"#8A8A8A", "245", ""},
	dimmed:    {"#8A8A8A", "245", "8"},
	faint:     {"#6C6C6C", "242", "8"},
	black:     {"#101010", "233", "0"},
}

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

// palette turns styles into escape sequences for one kind of terminal.
type palette struct {
	mono   bool // no colour at all: no escape sequences, bold included
	few    bool // 16 colours, of which many terminals take the bright ones for bold text
	filled bool // there are colours enough for dim areas below lines
	fg, bg [colors]string
}

func newPalette(p termenv.Profile) *palette {
	out := &palette{mono: p == termenv.Ascii, filled: p == termenv.TrueColor || p == termenv.ANSI256, few: p == termenv.ANSI}
	if out.mono {
		return out
	}
	for i, s := range swatches {
		name := s.rgb
		switch p {
		case termenv.ANSI256:
			name = s.ansi256
		case termenv.ANSI:
			name = s.ansi
		}
		if c := p.Color(name); name != "" && c != nil {
			out.fg[i], out.bg[i] = c.Sequence(false), c.Sequence(true)
		}
	}
	return out
}

// seen is the style as this terminal can show it. Of 16 colours none is bold: bright yellow cannot be read on white.
func (p *palette) seen(s style) style {
	if p.fg[s.fg] == "" {
		s.fg = plain
	}
	if p.few && s.fg != plain {
		s.attr = 0
	}
	return s
}

// change appends what turns one style into another: as few bytes as will do, since a screen has a thousand of them.
func (p *palette) change(b []byte, from, to style) []byte {
	if from, to = p.seen(from), p.seen(to); p.mono || from == to {
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
