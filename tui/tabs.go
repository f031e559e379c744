package tui

import "fmt"

// fitTabs are the name and the tabs as they fit beside the right part, which loses its times if need be: first the name goes,
// then the names of the pages that are not shown.
func (h header) fitTabs(w int, right []span, must int) (tabs, kept []span) {
	for _, t := range [][]span{h.tabs(true, true), h.tabs(false, true)} {
		if spansWidth(t)+spansWidth(right)+1 <= w {
			return t, right
		}
	}
	tabs = h.tabs(true, false)
	for len(right) > must && spansWidth(tabs)+spansWidth(right)+1 > w {
		right = right[:len(right)-1]
	}
	if spansWidth(tabs)+spansWidth(right)+1 > w {
		tabs = h.tabs(false, false)
	}
	return tabs, right
}

// tabs are a piece for each page, before them the program's name. Without the name they stand as close as can be.
func (h header) tabs(named, long bool) []span {
	out := make([]span, 1, len(h.pages)+1)
	if named {
		out[0] = span{"benchtop ", style{fg: blue, attr: bold}}
	}
	for i, name := range h.pages {
		tab, st := fmt.Sprint(i+1), label
		if long || i == h.page {
			tab += " " + name
		}
		switch {
		case i == h.page:
			tab, st = "["+tab+"]", strong
		case named:
			tab = " " + tab + " "
		}
		if !named && i > 0 {
			tab = " " + tab
		}
		out = append(out, span{tab, st})
	}
	return out
}

// tabAt is the page whose tab lies at x on a line of a width.
func (h header) tabAt(x, w int) (page int, ok bool) {
	right, must := h.states()
	tabs, _ := h.fitTabs(w, right, must)
	at := 0
	for i, t := range tabs {
		if at += width(t.text); x < at {
			return i - 1, i > 0
		}
	}
	return 0, false
}
