package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/tui/screen"
)

// binding ties keys to an action of a model, and to their words on the bottom line and in the help.
type binding[M any] struct {
	keys string           // with blanks between them
	show string           // the keys on the screen, "" for the same
	what string           // for the help, behind its title: "Load: set"
	word string           // for the bottom line; "" leaves it to foot
	foot func(m M) string // for the bottom line; nil or "" keeps it off
	// when says where the keys work; nil: everywhere. Elsewhere the same keys may have another action.
	when func(m M) bool
	// with says which kinds of models have the keys; nil: all.
	with func(m M) bool
	// do is the action; ask is one with a command for Bubble Tea.
	do  func(m M)
	ask func(m M) tea.Cmd
	// early puts the keys before others on the bottom line while they matter: the way back, and the keys that change
	// the load.
	early bool
	// anywhere says that the keys work while the help is open, too.
	anywhere bool
}

// shown are the keys on the screen.
func (b *binding[M]) shown() string { return cmp.Or(b.show, b.keys) }

// works reports whether the keys have this action here.
func (b *binding[M]) works(m M) bool {
	return (b.when == nil || b.when(m)) && (b.with == nil || b.with(m))
}

// by is an action with its argument.
func by[M, T any](do func(M, T), what T) func(M) { return func(m M) { do(m, what) } }

// footSwap names the effect of a key that has two.
func footSwap[M any](m func(M) bool, is, isNot string) func(M) string {
	return func(x M) string {
		if m(x) {
			return is
		}
		return isNot
	}
}

// keys are the bindings of a kind of model; the first that works has a key.
type keys[M any] []binding[M]

// lookup finds the binding of a key; nil if it has none here.
func (all keys[M]) lookup(m M, key string) *binding[M] {
	if key == " " {
		key = "space"
	}
	for i := range all {
		if b := &all[i]; slices.Contains(strings.Fields(b.keys), key) && b.works(m) {
			return b
		}
	}
	return nil
}

// press performs the action of a key, which closes or scrolls the help where that is open. A key without an action
// here is not known.
func (all keys[M]) press(m M, help *helpBox, msg tea.KeyMsg) (cmd tea.Cmd, known bool) {
	key := msg.String()
	b := all.lookup(m, key)
	switch {
	case msg.Paste:
		return nil, false
	case help.open && (b == nil || !b.anywhere):
		help.key(key)
	case b == nil:
		return nil, false
	case b.ask != nil:
		return b.ask(m), true
	default:
		b.do(m)
	}
	return nil, true
}

// items are the keys for the bottom line. The last two, help and the way out, are always shown. place gives the keys as
// shown, and says whether they come before others; nil for no such order.
func (all keys[M]) items(m M, place func(b *binding[M], word string) (show string, first bool)) [][]screen.Span {
	var early, items [][]screen.Span
	for i := range all {
		b := &all[i]
		word := b.word
		if b.foot != nil {
			word = b.foot(m)
		}
		if word == "" || !b.works(m) {
			continue
		}
		show, first := b.shown(), false
		if place != nil {
			show, first = place(b, word)
		}
		item := []screen.Span{screen.Strong.Span(show), screen.Label.Span(" " + word), screen.Text.Span("  ")}
		if first {
			early = append(early, item)
		} else {
			items = append(items, item)
		}
	}
	return append(early, items...)
}

// section is a part of the help under a title.
type section struct {
	title string
	rows  []helpRow
}

// helpRow is keys, or a line of a colour, and its words.
type helpRow struct {
	sign  screen.Span
	words string
}

// help are the keys that do something here and now.
func (all keys[M]) help(m M) (out []section) {
	for i := range all {
		b := &all[i]
		if b.what == "" || !b.works(m) || b.foot != nil && b.foot(m) == "" {
			continue
		}
		title, words, _ := strings.Cut(b.what, ": ")
		at := slices.IndexFunc(out, func(s section) bool { return s.title == title })
		if at < 0 {
			at, out = len(out), append(out, section{title: title})
		}
		out[at].rows = append(out[at].rows, helpRow{screen.Strong.Span(b.shown()), words})
	}
	return out
}

// legend are the colours of data with their meanings.
func legend() (out section) {
	out.title = "Colours"
	for i, meaning := range screen.Legend {
		if meaning != "" {
			out.rows = append(out.rows, helpRow{screen.Style{Fg: screen.Color(i)}.Span("━━"), meaning})
		}
	}
	return out
}

// signs are those of the pages with their meanings.
var signs = section{title: "Signs", rows: []helpRow{
	{screen.Text.Span("✓ !"), "within the objectives, and not"},
	{screen.Text.Span("?"), "not known, with the reason"},
	{screen.Text.Span("~"), "counted by chunks, corrected later"},
	{screen.Text.Span("→"), "beyond the edge of the axis"},
	{screen.Text.Span("▲"), "among the slowest 5 %"},
	{screen.Label.Span("grey"), "of no objective, or not of now"},
}}

// drawKeys draws the bottom line: a notice if there is one, and the keys. The last two are always shown.
func drawKeys(c screen.Canvas, notice string, items [][]screen.Span) {
	c.Clear()
	must := items[len(items)-2:]
	items = items[:len(items)-2]
	room := c.W
	for _, it := range must {
		room -= screen.SpansWidth(it)
	}
	x := 0
	if notice != "" {
		x = c.Print(0, 0, screen.Shorten(notice, max(0, room-1)), screen.Caution) + 2
	}
	for _, it := range items {
		if x+screen.SpansWidth(it) <= room+2 {
			c.Spans(x, 0, it[:len(it)-1]) // its blanks may be behind the edge
			x += screen.SpansWidth(it)
		}
	}
	for _, it := range must {
		if x+screen.SpansWidth(it) <= c.W+2 {
			c.Spans(x, 0, it[:len(it)-1]) // its blanks may be behind the edge
			x += screen.SpansWidth(it)
		}
	}
}

// helpBox is the help above the screen.
type helpBox struct {
	open bool
	top  int // lines above its box
}

// key takes a key while the help is open: it scrolls, or any other key closes it.
func (h *helpBox) key(key string) {
	switch key {
	case "j", "down":
		h.top++
	case "k", "up":
		h.top = max(0, h.top-1)
	default:
		*h = helpBox{}
	}
}

const (
	helpGap     = 3 // columns between columns
	helpColumns = 3 // at most
)

// draw draws the sections in as many columns as there is room for.
func (h *helpBox) draw(c screen.Canvas, all []section) {
	keys, most := 0, 0
	for _, s := range all {
		for _, r := range s.rows {
			keys, most = max(keys, screen.Width(r.sign.Text)), max(most, screen.Width(r.words))
		}
	}
	column := keys + 2 + most
	room, gap := min(max((c.W-4+helpGap)/(column+helpGap), 1), helpColumns), 1
	columns, high := flow(all, room, gap)
	title := "Help (any key closes)"
	if high > c.H-2 {
		gap, title = 0, "Help (j k scroll, other keys close)"
		columns, high = flow(all, room, gap)
	}
	in := overlay(c, title, len(columns)*(column+helpGap)-helpGap, high, false)
	h.top = max(0, min(h.top, high-in.H))
	for i, sections := range columns {
		at, y := in.Sub(i*(column+helpGap), 0, column, in.H), -h.top
		for _, s := range sections {
			at.Print(keys+2, y, s.title, screen.Label)
			for _, r := range s.rows {
				y++
				at.Right(keys, y, r.sign.Text, r.sign.Style)
				at.Print(keys+2, y, r.words, screen.Text)
			}
			y += 1 + gap
		}
	}
}

// flow lays sections into at most so many columns, each in one piece, as low as they can be with a gap between them.
func flow(all []section, most, gap int) (columns [][]section, high int) {
	for high = 1; ; high++ {
		columns = nil
		y, fits := high, true
		for _, s := range all {
			n := gap + 1 + len(s.rows)
			if y+n > high {
				y, columns = -gap, append(columns, nil)
			}
			last := len(columns) - 1
			columns[last] = append(columns[last], s)
			y += n
			fits = fits && y <= high
		}
		if fits && len(columns) <= most {
			return columns, high
		}
	}
}
