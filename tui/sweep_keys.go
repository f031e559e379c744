package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/metrics/grid"
	"benchtop/tui/panels"
)

func onSweepGrid(m *sweepModel) bool { return m.page == panels.SweepGrid }
func onSweepStart(m *sweepModel) bool {
	return onSweepGrid(m) && m.list.Filter == "" && !m.list.Stays()
}
func onSweepText(m *sweepModel) bool { return m.page == panels.SweepLog }

// Kinds of series.
func startsServer(m *sweepModel) bool { return m.latest.Server.State != grid.ServerForeign }
func parted(m *sweepModel) bool       { return !m.latest.Whole }
func rivals(m *sweepModel) bool       { return !m.latest.Alone() }
func several(m *sweepModel) bool      { return parted(m) && rivals(m) }

var sweepKeymap = keys[*sweepModel]{
	{keys: "j down", do: by((*sweepModel).move, panels.Down)},
	{keys: "k up", show: "j k", what: "Rows: select (or arrows); scroll the log", word: "select",
		do: by((*sweepModel).move, panels.Up)},
	{keys: "pgdown ctrl+f", do: by((*sweepModel).move, panels.PageDown)},
	{keys: "pgup ctrl+b", show: "PgUp PgDn", what: "Rows: the same by pages",
		do: by((*sweepModel).move, panels.PageUp)},
	{keys: "g home", do: by((*sweepModel).move, panels.Top)},
	{keys: "G end", show: "g G", what: "Rows: first, last", do: by((*sweepModel).move, panels.End)},
	{keys: "enter z", show: "Enter", what: "Selected: open",
		word: "open", when: onSweepGrid,
		do: (*sweepModel).open},
	{keys: "o", what: "Screen: dashboard of the run in progress", foot: footDashboard,
		do: (*sweepModel).enterDashboard},
	{keys: "l", what: "Screen: log of the server", with: startsServer, foot: footSwap(onSweepText, "grid", "log"),
		do: (*sweepModel).toggleLog},
	{keys: "esc", show: "Esc", what: "Rows: back; follow the run in progress", foot: footSwap(onSweepStart, "", "back"),
		do: (*sweepModel).escape},
	{keys: "s", what: "Selected: skip what is left", with: parted, foot: footSwap((*sweepModel).over, "", "skip"),
		do: (*sweepModel).askSkip},
	{keys: "r", what: "Selected: repeat", with: several, foot: footSwap((*sweepModel).over, "", "repeat"),
		do: (*sweepModel).repeat},
	{keys: "S", what: "Rows: sort by the next figure", word: "sort", when: onSweepGrid, with: rivals,
		do: func(m *sweepModel) { m.list.NextOrder() }},
	{keys: "/", what: "Rows: filter by name, state, or front", word: "filter", when: onSweepGrid, with: rivals,
		do: (*sweepModel).askFilter},
	{keys: "t", what: "Screen: next theme", do: (*sweepModel).nextTheme},
	{keys: "ctrl+l", what: "Screen: redraw the screen", ask: func(*sweepModel) tea.Cmd { return tea.ClearScreen },
		anywhere: true},
	{keys: "ctrl+z", what: "Screen: does not suspend", do: func(m *sweepModel) { m.stays() }},
	{keys: "?", what: "Screen: this help", word: "help", do: func(m *sweepModel) { m.help.open = true }},
	{keys: "q ctrl+c", show: "q", what: "Screen: stop, quit", foot: footSweepStop, ask: (*sweepModel).stop,
		anywhere: true},
}

func footDashboard(m *sweepModel) string {
	if m.run == nil || m.over() {
		return ""
	}
	return "dashboard"
}

func footSweepStop(m *sweepModel) string {
	switch {
	case m.over():
		return "quit"
	case m.stopping:
		return "quit now"
	}
	return "stop"
}

// onKeys takes one key, or a paste. A dashboard gets all but Ctrl-C, which is the sweep's.
func (m *sweepModel) onKeys(msg tea.KeyMsg) tea.Cmd {
	key := msg.String()
	if m.inside {
		if key != "ctrl+c" {
			return m.tell(msg)
		}
		m.leaveDashboard()
	}
	defer m.show()
	if m.prompt != nil {
		return m.onPrompt(msg, m.stopNow)
	}
	cmd, _ := sweepKeymap.press(m, &m.help, msg)
	return cmd
}

// onMouse scrolls with the wheel. A click on a row chooses it, one more opens it; a click closes the help. A dashboard
// has the mouse for itself.
func (m *sweepModel) onMouse(msg tea.MouseMsg) tea.Cmd {
	if m.inside {
		return m.tell(msg)
	}
	step, wheel := map[tea.MouseButton]panels.Move{tea.MouseButtonWheelUp: panels.Up,
		tea.MouseButtonWheelDown: panels.Down}[msg.Button]
	click := msg.Action == tea.MouseActionPress && msg.Button == tea.MouseButtonLeft
	switch {
	case m.prompt != nil || !click && !wheel:
		return nil
	case click && m.help.open:
		m.help.open = false
	case click:
		m.click(msg.X, msg.Y)
	case !m.help.open:
		m.limiter.Key()
		m.move(step)
	}
	m.show()
	return nil
}

func (m *sweepModel) click(x, y int) {
	v := m.view()
	a := v.Layout(m.page, m.w, m.h)
	for _, b := range a.Panels {
		if b.Name != "grid" || !b.Rect.Has(x, y) {
			continue
		}
		list, again := v.Point(y-b.Rect.Y-2, a.GridLines()) // below the border and the names of the columns
		if m.list = list; again {
			m.open()
		}
	}
}

// part is what the row of a combination is: all runs where it is the only one.
func (m *sweepModel) part() string {
	if m.latest.Alone() {
		return m.latest.Word
	}
	return m.latest.Part
}

// move goes through the combinations, or scrolls the log of the server.
func (m *sweepModel) move(to panels.Move) {
	v := m.view()
	a := v.Layout(m.page, m.w, m.h)
	if m.page != panels.SweepLog || a.Tiny {
		m.list = v.Choose(to, a.GridLines())
		return
	}
	r := a.Panels[0].Rect
	high := max(1, r.H-2)
	m.scroll = to.FromEnd(m.scroll, high, max(0, len(v.LogLines(r.W-2))-high))
}

// chosen is the combination that keys are for, and its index; nil for none.
func (m *sweepModel) chosen() (*grid.Cell, int) {
	at := m.view().Chosen()
	if at < 0 {
		m.notify("no " + m.part() + " is chosen")
		return nil, -1
	}
	return &m.shown.Cells[at], at
}

func (m *sweepModel) open() {
	c, at := m.chosen()
	switch {
	case c == nil:
	case at == m.shown.Current && m.run != nil && !m.over():
		m.enterDashboard()
	default:
		m.page = panels.SweepDetail
	}
}

func (m *sweepModel) toggleLog() {
	if m.page == panels.SweepLog {
		m.page = panels.SweepGrid
	} else {
		m.page, m.scroll = panels.SweepLog, 0
	}
}

// escape goes back one step: to the grid, to all of its rows, to the combination in progress.
func (m *sweepModel) escape() {
	switch {
	case m.page != panels.SweepGrid:
		m.page = panels.SweepGrid
	case m.list.Filter != "":
		m.list.Filter = ""
	default:
		m.list.Release()
	}
}

// askSkip skips the chosen combination, after a question if a run of it is on.
func (m *sweepModel) askSkip() {
	c, at := m.chosen()
	switch {
	case c == nil:
	case m.over():
		m.notify("the " + m.latest.Word + " is over")
	case c.State.Over():
		m.notify(fmt.Sprintf("%s %d is over; r repeats it", m.part(), at+1))
	case c.State == grid.Running:
		hint := "begin no run after this one? It ends as planned, and finished runs are kept."
		if rivals(m) {
			hint = fmt.Sprintf("cut the run in progress and skip %s %d?", m.part(), at+1)
		}
		m.prompt = &prompt{title: "Skip", hint: hint + " y skip, other keys cancel",
			yes: func() { m.notify(m.control.Skip(at)) }}
	default:
		m.notify(m.control.Skip(at))
	}
}

func (m *sweepModel) repeat() {
	c, at := m.chosen()
	switch {
	case c == nil:
	case m.over():
		m.notify("the " + m.latest.Word + " is over" + m.whereKept("; --resume measures what is missing"))
	case !c.State.Over():
		m.notify(fmt.Sprintf("%s %d is not over yet", m.part(), at+1))
	case c.State == grid.Linked:
		m.notify(fmt.Sprintf("%s %d is left out by --link-vars", m.part(), at+1))
	default:
		m.notify(m.control.Repeat(at))
	}
}

// askFilter filters the combinations.
func (m *sweepModel) askFilter() {
	set := func(words string) { m.list.Filter = words }
	m.askWords("Filter "+m.part()+"s", "words of a name, a state, or front; ", m.list.Filter, set)
}

// stop asks whether to stop the sweep; once it is stopping, or over, it leaves.
func (m *sweepModel) stop() tea.Cmd {
	if m.over() || m.stopping {
		return tea.Quit
	}
	m.help.open = false
	kept := "Finished runs are kept" + m.whereKept("; --resume continues") + "."
	m.prompt = &prompt{title: "Stop the " + m.latest.Word,
		hint: "cut the run in progress and stop? " + kept + " y stop, other keys cancel",
		yes:  func() { m.stopNow() }}
	return nil
}

// whereKept are words about a directory of results, "" where there is none.
func (m *sweepModel) whereKept(words string) string {
	if m.latest.Dir == "" {
		return ""
	}
	return words
}

// stopNow stops the sweep; the screen ends with it.
func (m *sweepModel) stopNow() tea.Cmd {
	if m.over() || m.stopping {
		return tea.Quit
	}
	m.stopping = true
	m.notify(m.control.Stop())
	return nil
}
