package tui

import (
	"fmt"
	"strings"

	"benchtop/metrics"
)

// action is what a key does.
type action int

const (
	none action = iota
	pageNumber
	pageNext
	pageBefore
	moveLeft
	moveDown
	moveUp
	moveRight
	scrollUp
	scrollDown
	scrollPageUp
	scrollPageDown
	scrollTop
	scrollEnd
	zoomIn
	back
	spanShorter
	spanLonger
	freeze
	swapScope
	swapAxis
	help
	redraw
	stop
)

// binding ties keys to an action and says so on the bottom line and in the help. It is the only list of keys there is.
type binding struct {
	do   action
	keys []string
	show string                // the keys as a person knows them
	what string                // for the help
	foot func(m *model) string // for the bottom line; nil keeps it off
	when func(m *model) bool   // nil: always
}

func always(s string) func(*model) string { return func(*model) string { return s } }

func onLog(m *model) bool    { return m.pageNow().scrolls }
func onPanels(m *model) bool { return !m.pageNow().scrolls }

var keymap = []binding{
	{do: pageNumber, keys: digits(len(pages)), show: "1-" + fmt.Sprint(len(pages)), what: "page", foot: always("page")},
	{do: pageNext, keys: []string{"tab"}, show: "Tab", what: "next page"},
	{do: pageBefore, keys: []string{"shift+tab"}, show: "Shift-Tab", what: "page before"},
	{do: scrollDown, keys: []string{"j", "down"}, when: onLog},
	{do: scrollUp, keys: []string{"k", "up"}, show: "j k ↑ ↓", what: "scroll the log", foot: always("scroll"), when: onLog},
	{do: scrollPageDown, keys: []string{"pgdown", "ctrl+f"}, when: onLog},
	{do: scrollPageUp, keys: []string{"pgup", "ctrl+b"}, show: "PgUp PgDn", what: "scroll a page", when: onLog},
	{do: scrollTop, keys: []string{"g", "home"}, when: onLog},
	{do: scrollEnd, keys: []string{"G", "end"}, show: "g G", what: "first, newest", foot: always("first, newest"), when: onLog},
	{do: moveLeft, keys: []string{"h", "left"}, when: onPanels},
	{do: moveDown, keys: []string{"j", "down"}, when: onPanels},
	{do: moveUp, keys: []string{"k", "up"}, when: onPanels},
	{do: moveRight, keys: []string{"l", "right"}, show: "h j k l", what: "choose a panel (or arrows)", when: onPanels},
	{do: zoomIn, keys: []string{"enter", "z"}, show: "z", what: "zoom the panel (or Enter)", foot: func(m *model) string {
		if m.zoomed {
			return ""
		}
		return "zoom"
	}, when: onPanels},
	{do: back, keys: []string{"esc"}, show: "Esc", what: "back", foot: func(m *model) string {
		if m.zoomed {
			return "back"
		}
		return ""
	}},
	{do: spanShorter, keys: []string{"["}, when: onPanels},
	{do: spanLonger, keys: []string{"]"}, show: "[ ]", what: "time shown: 30s to whole run", foot: func(m *model) string {
		return spanName(spans[m.span])
	}, when: onPanels},
	{do: freeze, keys: []string{" "}, show: "space", what: "freeze the screen, not the run", foot: func(m *model) string {
		if m.frozen {
			return "go on"
		}
		return "freeze"
	}},
	{do: swapScope, keys: []string{"w"}, show: "w", what: "histograms, table: window or run", foot: func(m *model) string {
		if m.whole {
			return "window"
		}
		return "whole run"
	}, when: onPanels},
	{do: swapAxis, keys: []string{"g"}, show: "g", what: "histograms: log or linear", foot: func(m *model) string {
		if m.linear {
			return "log"
		}
		return "linear"
	}, when: onPanels},
	{do: redraw, keys: []string{"ctrl+l"}, show: "ctrl+l", what: "draw the screen anew"},
	{do: help, keys: []string{"?"}, show: "?", what: "this help", foot: always("help")},
	{do: stop, keys: []string{"q", "ctrl+c"}, show: "q", what: "drain and report; again: abort; again: leave", foot: func(m *model) string {
		switch {
		case m.over():
			return "leave"
		case m.stops == 0:
			return "drain & report"
		case m.stops == 1:
			return "abort"
		}
		return "leave now"
	}},
}

func digits(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(i + 1)
	}
	return out
}

// lookup finds what a key does now.
func (m *model) lookup(key string) action {
	for _, b := range keymap {
		if b.when != nil && !b.when(m) {
			continue
		}
		for _, k := range b.keys {
			if k == key {
				return b.do
			}
		}
	}
	return none
}

// drawKeys is the bottom line. Once the run is over it begins with where the result is. The way out is always shown.
func (m *model) drawKeys(c canvas) {
	c.clear()
	var items [][]span
	for _, b := range keymap {
		if b.foot == nil || b.when != nil && !b.when(m) {
			continue
		}
		if word := b.foot(m); word != "" {
			items = append(items, []span{{b.show, strong}, {" " + word, label}, {"  ", text}})
		}
	}
	// The way out and the help stay to the last.
	must := items[len(items)-2:]
	items = items[:len(items)-2]
	if m.over() {
		c = c.sub(c.spans(0, 0, m.outcome(c.w))+2, 0, c.w, 1)
		items, must = nil, [][]span{{{"q", strong}, {" leaves", label}}, {{"  ?", strong}, {" help", label}}}
	}
	room := c.w
	for _, it := range must {
		room -= spansWidth(it)
	}
	x := 0
	for _, it := range items {
		if x+spansWidth(it) <= room+2 {
			x = c.spans(x, 0, it)
		}
	}
	for _, it := range must {
		if x+spansWidth(it) <= c.w+2 {
			x = c.spans(x, 0, it)
		}
	}
}

// outcome is the banner of a run that is over.
func (m *model) outcome(w int) []span {
	s := m.body
	w = max(0, w-10) // q leaves
	switch {
	case s.SaveError != "":
		return []span{{shorten("! NOT SAVED: "+sanitize(s.SaveError), w), warning}}
	case m.latest.State != metrics.Finished:
		return []span{{shorten("■ the run broke off", w), warning}}
	case s.SavePath == "":
		return []span{{shorten("✓ the run is over, not saved", w), style{fg: green, attr: bold}}}
	}
	return []span{{"✓ saved ", style{fg: green, attr: bold}}, {shortenMiddle(sanitize(s.SavePath), max(0, w-8)), strong}}
}

// helpLines are the help's lines: keys and what they do, those of this page first.
func (m *model) helpLines() [][2]string {
	var here, elsewhere [][2]string
	for _, b := range keymap {
		if b.show == "" || b.what == "" {
			continue
		}
		row := [2]string{b.show, b.what}
		if b.when == nil || b.when(m) {
			here = append(here, row)
		} else {
			elsewhere = append(elsewhere, row)
		}
	}
	if len(elsewhere) > 0 {
		var names []string
		for _, p := range pages {
			if p.name != m.pageNow().name {
				names = append(names, p.name)
			}
		}
		here = append(here, [2]string{"", "on " + strings.Join(names, ", ")})
	}
	return append(here, elsewhere...)
}
