package tui

import (
	"fmt"

	"benchtop/tui/screen"
)

// fitTabs are the name and the tabs as they fit beside the right part, which loses its times if need be: first the name goes,
// then the names of the pages that are not shown.
func (h header) fitTabs(w int, right []screen.Span, must int) (tabs, kept []screen.Span) {
	for _, t := range [][]screen.Span{h.tabs(true, true), h.tabs(false, true)} {
		if screen.SpansWidth(t)+screen.SpansWidth(right)+1 <= w {
			return t, right
		}
	}
	tabs = h.tabs(true, false)
	for len(right) > must && screen.SpansWidth(tabs)+screen.SpansWidth(right)+1 > w {
		right = right[:len(right)-1]
	}
	if screen.SpansWidth(tabs)+screen.SpansWidth(right)+1 > w {
		tabs = h.tabs(false, false)
	}
	return tabs, right
}

// tabs are a piece for each page, before them the program's name. Without the name they stand as close as can be.
func (h header) tabs(named, long bool) []screen.Span {
	out := make([]screen.Span, 1, len(h.pages)+1)
	if named {
		out[0] = screen.Style{Fg: screen.Blue, Bold: true}.Span("benchtop ")
	}
	for i, name := range h.pages {
		tab, st := fmt.Sprint(i+1), screen.Label
		if long || i == h.page {
			tab += " " + name
		}
		switch {
		case i == h.page:
			tab, st = "["+tab+"]", screen.Strong
		case named:
			tab = " " + tab + " "
		}
		if !named && i > 0 {
			tab = " " + tab
		}
		out = append(out, st.Span(tab))
	}
	return out
}

// tabAt is the page whose tab lies at x on a line of a width.
func (h header) tabAt(x, w int) (page int, ok bool) {
	right, must := h.states()
	tabs, _ := h.fitTabs(w, right, must)
	at := 0
	for i, t := range tabs {
		if at += screen.Width(t.Text); x < at {
			return i - 1, i > 0
		}
	}
	return 0, false
}
