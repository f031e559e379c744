package tui

import (
	"fmt"
	"strings"

	"benchtop/tui/screen"
)

func footWhen(when func(*model) bool, word string) func(*model) string {
	return func(m *model) string {
		if when(m) {
			return word
		}
		return ""
	}
}

// footSwap names what the key would do: one of two things.
func footSwap(m func(*model) bool, is, isNot string) func(*model) string {
	return func(x *model) string {
		if m(x) {
			return is
		}
		return isNot
	}
}

var (
	footZoom   = footSwap(func(m *model) bool { return m.zoomed }, "", "zoom")
	footFreeze = footSwap(func(m *model) bool { return m.frozen }, "go on", "freeze")
	footScope  = footSwap(func(m *model) bool { return m.whole }, "window", "whole run")
	footAxis   = footSwap(func(m *model) bool { return m.linear }, "log", "linear")
	footPlay   = footSwap(func(m *model) bool { return m.replay().Playing }, "pause", "play")
	footOpen   = footSwap(func(m *model) bool { return m.list.opened }, "", "open")
)

func footSpan(m *model) string { return spanName(spans[m.span]) }

func footBack(m *model) string {
	if m.zoomed || onList(m) && m.list.opened {
		return "back"
	}
	return ""
}

func footPause(m *model) string {
	_, paused := m.load()
	switch {
	case !m.controls:
		return ""
	case paused:
		return "go on"
	}
	return "pause"
}

func footControl(m *model) string {
	switch {
	case m.controls:
		return "off"
	case m.unsteerable() != "":
		return ""
	}
	return "control"
}

func footCopy(m *model) string {
	if m.over() {
		return "copy"
	}
	return ""
}

func footStop(m *model) string {
	switch {
	case m.leaves():
		return "leave"
	case m.stops == 0:
		return "drain & report"
	case m.stops == 1:
		return "abort"
	}
	return "leave now"
}

// keyItems are the keys worth showing on the bottom line; the last two, help and the way out, have to be there.
func (m *model) keyItems() [][]screen.Span {
	var early, items [][]screen.Span
	for _, b := range keymap {
		if b.foot == nil || b.when != nil && !b.when(m) || b.with != nil && !b.with(m) {
			continue
		}
		if word := b.foot(m); word != "" {
			show := b.show
			if word == "page" {
				show = "1-" + fmt.Sprint(len(m.pages()))
			}
			item := []screen.Span{screen.Strong.Span(show), screen.Label.Span(" " + word), screen.Text.Span("  ")}
			if b.early && (m.controls || word == "back") {
				early = append(early, item)
				continue
			}
			items = append(items, item)
		}
	}
	return append(early, items...)
}

// drawKeys is the bottom line: a notice if there is one, else the keys. Once the run is over it begins with where the result
// is. The way out is always shown.
func (m *model) drawKeys(c screen.Canvas) {
	c.Clear()
	items := m.keyItems()
	must := items[len(items)-2:]
	items = items[:len(items)-2]
	if m.over() && m.player == nil {
		items, must = nil, [][]screen.Span{{screen.Strong.Span("q"), screen.Label.Span(" leaves")}, {screen.Strong.Span("  ?"), screen.Label.Span(" help")}}
		if m.hasReport() && m.pageNow().name != reportPage.name {
			must = append([][]screen.Span{{screen.Strong.Span(fmt.Sprint(len(m.pages()))), screen.Label.Span(" report  ")}}, must...)
		}
	}
	room := c.W
	for _, it := range must {
		room -= screen.SpansWidth(it)
	}
	x := 0
	switch {
	case m.notice.text != "":
		x = c.Print(0, 0, screen.Shorten(m.notice.text, max(0, room-1)), screen.Style{Fg: screen.Orange, Bold: true}) + 2
		items = nil
	case m.over() && m.player == nil:
		x = c.Sub(0, 0, max(0, room-2), 1).Spans(0, 0, m.outcome(room-2)) + 2
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

// outcome is the banner of a run that is over, in at most w columns.
func (m *model) outcome(w int) []screen.Span {
	s := m.body
	w = max(0, w)
	switch {
	case s.SaveError != "":
		return []screen.Span{screen.Warning.Span(screen.Shorten("! NOT SAVED: "+screen.Sanitize(s.SaveError), w))}
	case m.brokeOff():
		return []screen.Span{screen.Warning.Span(screen.Shorten("■ the run broke off", w))}
	case s.SavePath == "":
		end := conclusionSign(s.Report)
		sign, _, _ := strings.Cut(end.Text, " ")
		return []screen.Span{end.Style.Span(screen.Shorten(sign+" the run is over, not saved", w))}
	}
	return []screen.Span{screen.Style{Fg: screen.Green, Bold: true}.Span("✓ saved "), screen.Strong.Span(screen.ShortenMiddle(screen.Sanitize(s.SavePath), max(0, w-8)))}
}

// helpLines are the help's lines: keys and what they do, those of this page first.
func (m *model) helpLines() [][2]string {
	var here, elsewhere [][2]string
	for _, b := range keymap {
		if b.show == "" || b.what == "" || b.with != nil && !b.with(m) {
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
		here = append(here, [2]string{"", "on other pages"})
	}
	return append(here, elsewhere...)
}
