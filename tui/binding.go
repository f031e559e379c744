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
	what string           // for the help
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

// help are the lines of the help: keys and their effects, those that work here first.
func (all keys[M]) help(m M) [][2]string {
	var here, elsewhere [][2]string
	for _, b := range all {
		if b.what == "" || b.with != nil && !b.with(m) {
			continue
		}
		row := [2]string{b.shown(), b.what}
		if b.when == nil || b.when(m) {
			here = append(here, row)
		} else {
			elsewhere = append(elsewhere, row)
		}
	}
	if len(elsewhere) > 0 {
		here = append(here, [2]string{"", "on other pages"})
	}
	return append(here, elsewhere...)
}

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
			x = c.Spans(x, 0, it)
		}
	}
	for _, it := range must {
		if x+screen.SpansWidth(it) <= c.W+2 {
			x = c.Spans(x, 0, it)
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

const helpGap = 3 // columns between columns

// draw lists the keys, in two columns where one is too high and there is room for two.
func (h *helpBox) draw(c screen.Canvas, rows [][2]string) {
	keys, most := 0, 0
	for _, r := range rows {
		keys, most = max(keys, screen.Width(r[0])), max(most, screen.Width(r[1]))
	}
	column, columns := keys+2+most, 1
	if len(rows) > c.H-2 && 2*column+helpGap+4 <= c.W {
		columns = 2
	}
	high := (len(rows) + columns - 1) / columns
	in := overlay(c, "Help (any key closes)", columns*column+(columns-1)*helpGap, high, false)
	h.top = max(0, min(h.top, high-in.H)) // j and k show the rest
	for i, r := range rows {
		at := in.Sub(i/high*(column+helpGap), i%high-h.top, column, 1)
		if i%high < h.top {
			continue
		}
		if r[0] == "" {
			at.Print(keys+2, 0, r[1], screen.Label)
			continue
		}
		at.Right(keys, 0, r[0], screen.Strong)
		at.Print(keys+2, 0, r[1], screen.Text)
	}
	if high > in.H {
		in.Print(0, 0, "↓", screen.Label)
	}
}
