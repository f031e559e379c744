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
	faint  // borders and axes
	black  // marks on top of coloured areas
	blueFill
	greenFill
	yellowFill
	vermilionFill
	purpleFill
	shade // an area that hides what is behind it
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
// people with any colour vision can tell apart. Fills have no place in 16 colours and are left out there.
var swatches = [colors]struct{ rgb, ansi256, ansi string }{
	blue:          {"#56B4E9", "74", "12"},
	orange:        {"#E69F00", "172", "3"},
	green:         {"#009E73", "36", "2"},
	vermilion:     {"#D55E00", "166", "1"},
	purple:        {"#CC79A7", "175", "5"},
	yellow:        {"#F0E442", "221", "11"},
	grey:          {"#8A8A8A", "245", "8"},
	faint:         {"#6C6C6C", "242", "8"},
	black:         {"#101010", "233", "0"},
	blueFill:      {"#2A5F80", "24", ""},
	greenFill:     {"#0B5A45", "23", ""},
	yellowFill:    {"#6B6420", "58", ""},
	purpleFill:    {"#6E4159", "96", ""},
	vermilionFill: {"#7A3A12", "94", ""},
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
	warning = style{fg: vermilion, attr: bold}
)

// palette turns styles into escape sequences for one kind of terminal.
type palette struct {
	mono   bool // no colour at all: no escape sequences, bold included
	filled bool // there are colours enough for dim areas below lines
	fg, bg [colors]string
}

func newPalette(p termenv.Profile) *palette {
	out := &palette{mono: p == termenv.Ascii, filled: p == termenv.TrueColor || p == termenv.ANSI256}
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

// change appends what turns one style into another: as few bytes as will do, since a screen has a thousand of them.
func (p *palette) change(b []byte, from, to style) []byte {
	if p.mono || from == to {
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
	if from.attr&^to.attr != 0 || from.bg != to.bg && p.bg[to.bg] == "" || from.fg != to.fg && p.fg[to.fg] == "" {
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
