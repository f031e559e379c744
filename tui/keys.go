package tui

import (
	"fmt"
	"image"

	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/screen"

	tea "github.com/charmbracelet/bubbletea"
)

// Kinds of pages.
func onLog(m *model) bool     { return m.pageNow().Scrolls }
func onList(m *model) bool    { return m.pageNow().Lists }
func onLines(m *model) bool   { return onLog(m) || onList(m) }
func onPanels(m *model) bool  { return !onLines(m) }
func onLatency(m *model) bool { return m.pageNow().Name == "Latency" }
func onFiltered(m *model) bool {
	return onList(m) || onLog(m) && m.pageNow().Name != panels.ReportPage.Name
}

// Kinds of runs and of viewers.
func live(m *model) bool     { return m.Player == nil }
func replayed(m *model) bool { return m.Player != nil }
func changes(m *model) bool  { return m.Player == nil && !m.ReadOnly }
func joined(m *model) bool   { return m.Attached && !m.ReadOnly }
func controls(m *model) bool { return m.controls }
func goesOn(m *model) bool   { return !m.over() }

var keymap = append(pageKeys(), keys[*model]{
	{keys: "tab", show: "Tab", what: "Pages: next page (Shift: previous)", do: by((*model).turnBy, 1)},
	{keys: "shift+tab", do: by((*model).turnBy, -1)},

	{keys: "j down", when: onLines, do: by((*model).move, panels.Down)},
	{keys: "k up", show: "j k", what: "Rows: scroll (or arrows)", word: "scroll", when: onLog,
		do: by((*model).move, panels.Up)},
	{keys: "pgdown ctrl+f", when: onLines, do: by((*model).move, panels.PageDown)},
	{keys: "pgup ctrl+b", show: "PgUp PgDn", what: "Rows: scroll a page", when: onLog,
		do: by((*model).move, panels.PageUp)},
	{keys: "g home", when: onLines, do: by((*model).move, panels.Top)},
	{keys: "G end", show: "g G", what: "Rows: first, last", word: "first, last", when: onLog,
		do: by((*model).move, panels.End)},

	{keys: "k up", show: "j k", what: "Rows: select a request (or arrows)", word: "select", when: onList,
		do: by((*model).move, panels.Up)},
	{keys: "pgup ctrl+b", when: onList, do: by((*model).move, panels.PageUp)},
	{keys: "G end", when: onList, do: by((*model).move, panels.End)},
	{keys: "enter z", show: "Enter", what: "Rows: open the request", foot: footOpen, when: onList,
		do: (*model).openRequest},
	{keys: "S", what: "Rows: change the order", word: "sort", when: onList, do: func(m *model) { m.list.NextOrder() }},
	{keys: "e", what: "Rows: errors, missed", word: "errors", when: onList,
		do: func(m *model) { m.list.NextPart() }},
	{keys: "/", what: "Rows: filter", word: "filter", when: onFiltered, do: (*model).askFilter},

	{keys: "h left", when: onPanels, do: by((*model).moveFocus, image.Pt(-1, 0))},
	{keys: "j down", when: onPanels, do: by((*model).moveFocus, image.Pt(0, 1))},
	{keys: "k up", when: onPanels, do: by((*model).moveFocus, image.Pt(0, -1))},
	{keys: "l right", show: "h j k l", what: "Panels: select a panel (or arrows)", when: onPanels,
		do: by((*model).moveFocus, image.Pt(1, 0))},
	{keys: "m", what: "Panels: next latency", word: "metric", when: onLatency, do: (*model).nextMetric},
	{keys: "enter z", show: "z", what: "Panels: zoom the panel (or Enter)", foot: footZoom, when: onPanels,
		do: (*model).zoom},
	{keys: "esc", show: "Esc", what: "Pages: back", foot: footBack, early: true, ask: (*model).escape},
	{keys: "[", when: onPanels, do: by((*model).spanBy, -1)},
	{keys: "]", show: "[ ]", what: "Time: time window, 30s to all", foot: footSpan, when: onPanels,
		do: by((*model).spanBy, 1)},
	{keys: "space", what: "Time: freeze the screen", foot: footFreeze, with: live,
		do: func(m *model) { m.frozen = !m.frozen }},
	{keys: "c", what: "Load: live control, on or off", foot: footControl, early: true, with: changes,
		do: func(m *model) { m.setControls(!m.controls) }},
	{keys: "+ =", show: "+ -", what: "Load: step up, down", foot: footSwap(controls, "step", ""), early: true,
		with: changes,
		do:   steers(by((*model).step, 1))},
	{keys: "-", with: changes, do: steers(by((*model).step, -1))},
	{keys: "}", show: "{ }", what: "Load: ten steps up, down", foot: footSwap(controls, "ten", ""), early: true,
		with: changes,
		do:   steers(by((*model).step, 10))},
	{keys: "{", with: changes, do: steers(by((*model).step, -10))},
	{keys: "i", what: "Load: set", foot: footSwap(controls, "set", ""), early: true, with: changes,
		do: steers((*model).askLoad)},
	{keys: "P", what: "Load: pause, resume", foot: footPause, early: true, with: changes, do: steers((*model).pause)},
	{keys: "R", what: "Load: ramp", foot: footSwap(controls, "ramp", ""), early: true, with: changes,
		do: steers((*model).askRamp)},
	{keys: "H", what: "Load: hold for a verdict", foot: footSwap(controls, "hold", ""), early: true, with: changes,
		do: steers((*model).hold)},
	{keys: ",", when: onPanels, with: live, do: by((*model).scrollTime, -1)},
	{keys: ".", show: ", .", what: "Time: scroll in time", word: "scroll", when: onPanels, with: live,
		do: by((*model).scrollTime, 1)},

	{keys: "space", what: "Time: play, pause", foot: footPlay, with: replayed, do: (*model).playPause},
	{keys: "<", with: replayed, do: by((*model).playSpeed, 0.5)},
	{keys: ">", show: "< >", what: "Time: slower, faster", word: "speed", with: replayed,
		do: by((*model).playSpeed, 2)},
	{keys: ",", with: replayed, do: by((*model).seekBy, -seekStep)},
	{keys: ".", show: ", .", what: "Time: seek 10s back, forward", word: "10s", with: replayed,
		do: by((*model).seekBy, seekStep)},
	{keys: "home", with: replayed, when: onPanels, do: by((*model).seek, 0)},
	{keys: "end", show: "Home End", what: "Time: start, end", with: replayed, when: onPanels,
		do: func(m *model) { m.seek(m.replay().Length) }},

	{keys: "w", what: "Histograms: window or run", foot: footScope, when: onPanels,
		do: func(m *model) { m.whole = !m.whole }},
	{keys: "g", what: "Histograms: log or linear", foot: footAxis, when: onPanels,
		do: func(m *model) { m.linear = !m.linear }},
	{keys: "o", what: "Run: edit the objectives (SLO)", when: goesOn, with: changes, do: (*model).askObjectives},
	{keys: "s", what: "Run: save an interim result", when: goesOn, with: changes,
		do: by((*model).command, metrics.Command{Do: metrics.Save})},
	{keys: "y", what: "Run: copy the summary", foot: footCopy, ask: (*model).copySummary},
	{keys: "t", what: "Screen: next theme", do: (*model).nextTheme},
	{keys: "D", what: "Run: detach; the run continues", word: "detach", with: joined,
		ask: func(m *model) tea.Cmd { return m.quit }},
	{keys: "ctrl+l", what: "Screen: redraw the screen", ask: func(*model) tea.Cmd { return tea.ClearScreen },
		anywhere: true},
	{keys: "ctrl+z", what: "Screen: does not suspend", do: func(m *model) { m.stays() }},
	{keys: "?", what: "Screen: this help", word: "help", do: func(m *model) { m.help.open = true }},
	{keys: "q ctrl+c", show: "q", what: "Run: leave this screen", foot: footStop, ask: (*model).stop, anywhere: true,
		when: (*model).leaves},
	{keys: "q ctrl+c", show: "q", what: "Run: drain, then abort, quit", foot: footStop, ask: (*model).stop,
		anywhere: true, when: func(m *model) bool { return !m.leaves() }},

	// The keys that change the run say why they cannot, where the run cannot be changed.
	{keys: "c + = - { } i P R H o s", do: (*model).refuse},
}...)

// pageKeys are the digits of the pages, that of the report among them.
func pageKeys() keys[*model] {
	all := make(keys[*model], len(panels.Pages)+1)
	for i := range all {
		all[i] = binding[*model]{keys: fmt.Sprint(i + 1), do: by((*model).turn, i)}
	}
	all[0].show, all[0].what, all[0].word = "1-"+fmt.Sprint(len(panels.Pages)), "Pages: page", "page"
	report := &all[len(panels.Pages)]
	report.what = "Pages: report"
	report.foot, report.early = footSwap((*model).readsReport, "report", ""), true
	return all
}

// steers is an action that changes the load, where it may be changed.
func steers(do func(*model)) func(*model) {
	return func(m *model) {
		if m.mayLoad() {
			do(m)
		}
	}
}

var (
	footZoom   = footSwap(func(m *model) bool { return m.zoomed }, "", "zoom")
	footFreeze = footSwap(func(m *model) bool { return m.frozen }, "resume", "freeze")
	footScope  = footSwap(func(m *model) bool { return m.whole }, "window", "whole run")
	footAxis   = footSwap(func(m *model) bool { return m.linear }, "log", "linear")
	footPlay   = footSwap(func(m *model) bool { return m.replay().Playing }, "pause", "play")
	footCopy   = footSwap((*model).over, "copy", "")
	footOpen   = footSwap(func(m *model) bool { return m.list.Opened }, "", "open")
)

func footBack(m *model) string {
	if m.zoomed || m.focus != "" || m.Within != "" || m.until > 0 && onPanels(m) || onFiltered(m) && m.filter != "" ||
		onList(m) && (m.list.Opened || m.list.Picked != 0 || m.list.Filter != "") {
		return "back"
	}
	return ""
}

func footSpan(m *model) string {
	if spans[m.span] == 0 {
		return panels.SpanName(0)
	}
	return "last " + panels.SpanName(spans[m.span])
}

func footPause(m *model) string {
	_, paused := m.load()
	switch {
	case !m.controls:
		return ""
	case paused:
		return "resume"
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

func footStop(m *model) string {
	switch {
	case m.Within != "":
		return m.Series
	case m.leaves():
		return "quit"
	case m.stops == 0:
		return "drain & report"
	case m.stops == 1:
		return "abort"
	}
	return "quit now"
}

// keyItems are the keys for the bottom line.
func (m *model) keyItems() [][]screen.Span {
	return keymap.items(m, func(b *binding[*model], word string) (string, bool) {
		show := b.shown()
		if word == "page" {
			show = "1-" + fmt.Sprint(len(m.pages()))
		}
		return show, b.early && (m.controls || m.over() || word == "back")
	})
}
