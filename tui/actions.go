package tui

import (
	"image"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"benchtop/metrics"
	"benchtop/tui/panels"
)

// eachKey takes the keys of a message one by one: keys typed fast over a slow line arrive in one read, and Bubble Tea
// makes one message of them. A paste stays whole.
func eachKey(msg tea.KeyMsg, take func(tea.KeyMsg) tea.Cmd) tea.Cmd {
	if msg.Type != tea.KeyRunes || msg.Paste || msg.Alt {
		return take(msg)
	}
	all := metrics.Each(msg.Runes, func(r rune) tea.Cmd {
		return take(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	})
	return tea.Sequence(all...)
}

// onKeys takes one key, or a paste, which is text for a prompt.
func (m *model) onKeys(msg tea.KeyMsg) tea.Cmd {
	if m.prompt != nil {
		defer m.show()
		return m.onPrompt(msg, m.stop)
	}
	if m.prep != nil {
		return m.onPreparation(msg.String())
	}
	cmd, known := keymap.press(m, &m.help, msg)
	if known {
		m.show()
	}
	return cmd
}

// onPreparation takes a key before the run has begun.
func (m *model) onPreparation(key string) tea.Cmd {
	switch sweep := m.Within != ""; {
	case key == "ctrl+l":
		return tea.ClearScreen
	case sweep && key == "esc":
		return m.quit
	case key != "q" && key != "ctrl+c":
	case sweep || m.prep.of.leave():
		return m.quit
	default:
		m.prep.stops++
	}
	return nil
}

func (m *model) turnBy(by int) {
	n := len(m.pages())
	m.turn((m.page + by + n) % n)
}

// moveFocus takes the focus to a neighbour; a zoomed panel gives way to it.
func (m *model) moveFocus(by image.Point) {
	if to := panels.Neighbour(m.layout().Panels, m.focus, by.X, by.Y); to != "" {
		m.focus = to
	}
}

func (m *model) zoom() {
	if m.focus == "" {
		m.moveFocus(image.Pt(1, 0))
	}
	m.zoomed = m.focus != ""
}

// escape goes back one step: out of what is open, then of what is set, then to the sweep around the run.
func (m *model) escape() tea.Cmd {
	switch {
	case onList(m) && m.list.Close():
	case m.zoomed:
		m.zoomed = false
	case onList(m) && m.list.Filter != "":
		m.list.Filter = ""
	case onFiltered(m) && m.filter != "":
		m.setLogFilter("")
	case m.until > 0 && onPanels(m):
		m.until = 0
	case m.focus != "":
		m.focus = ""
	case m.Within != "":
		return m.quit
	}
	return nil
}

func (m *model) openRequest() {
	if l := m.layout(); !l.Tiny {
		m.list.Open(m.choices(m.shown), l.Below())
	}
}

func (m *model) nextMetric() {
	m.latency = panels.NextLatency(m.latest, panels.ShownLatency(m.latest, m.latency))
}

// command gives a command to the run and shows its result.
func (m *model) command(c metrics.Command) {
	said, _ := m.Control.Command(c)
	m.notify(said)
}

// leaves reports whether the way out leaves the run as it is: the run is over, or this screen does not control it.
func (m *model) leaves() bool {
	return m.over() || m.ReadOnly || m.Player != nil || m.Attached && !m.controls && m.stops == 0
}

// stop drains the run the first time, aborts it the second time, and leaves without waiting the third time. A viewer
// without control leaves at once.
func (m *model) stop() tea.Cmd {
	if m.leaves() {
		return m.quit
	}
	m.stops++
	m.help.open, m.controls = false, false
	if m.stops > 2 {
		return m.quit
	}
	m.Control.Command(metrics.Command{Do: [...]metrics.CommandKind{metrics.Drain, metrics.Abort}[m.stops-1]})
	return nil
}

// spanBy shows more or less time.
func (m *model) spanBy(by int) { m.span = min(max(m.span+by, 0), len(spans)-1) }

// scrollTime moves the charts by half of what they show. Scrolled back they stand still while the run goes on.
func (m *model) scrollTime(by time.Duration) {
	span, end := spans[m.span], panels.ClosedEnd(m.shown)
	if span == 0 {
		m.notify("the whole run is shown")
		return
	}
	to := end - m.back(m.shown) + by*span/2
	if to >= end {
		m.until = 0
		return
	}
	if m.until = max(to, span); m.until >= end {
		m.until = 0
		m.notify("start of the run")
	}
}

// move goes through the list of requests, the report or the log. The report counts lines from its top, the log from its
// end: while it is scrolled back the log stands still, and back at the end it goes on.
func (m *model) move(to panels.Move) {
	l := m.layout()
	if l.Tiny || len(l.Panels) == 0 {
		return
	}
	r := l.Panels[0].Rect
	high := max(1, r.H-2)
	switch {
	case onList(m):
		m.list.Move(to, m.choices(m.shown), l.Below())
	case m.pageNow().Name == panels.ReportPage.Name:
		last := max(0, len(m.reportLines(r.W-2))-high)
		m.reportTop = to.From(min(m.reportTop, last), high, last)
	default:
		if m.pinned == nil {
			m.pinned = m.latest.Log
			if m.frozen {
				m.pinned = m.shown.Log
			}
		}
		m.scroll = to.FromEnd(m.scroll, high, max(0, len(panels.LogLines(m.logShown(), r.W-2))-high))
		if m.scroll == 0 {
			m.pinned = nil
		}
	}
}

// setLogFilter leaves only events with the words.
func (m *model) setLogFilter(words string) {
	m.filter, m.scroll, m.pinned = words, 0, nil
}

// wheelLines is how far one step of the wheel scrolls.
const wheelLines = 3

// onMouse takes a click or a step of the wheel. A click on a tab turns the page, one on a panel chooses it, one more
// zooms it or lets it go; on the list of requests it chooses a row, one more opens the row. While the help is open any
// click closes it. The wheel scrolls.
func (m *model) onMouse(e tea.MouseEvent) tea.Cmd {
	switch {
	case m.prompt != nil || e.Action != tea.MouseActionPress:
		return nil
	case m.help.open:
		m.help.key(map[tea.MouseButton]string{tea.MouseButtonWheelUp: "up", tea.MouseButtonWheelDown: "down"}[e.Button])
	case e.Button == tea.MouseButtonWheelUp:
		m.wheel(panels.Up)
	case e.Button == tea.MouseButtonWheelDown:
		m.wheel(panels.Down)
	case e.Button == tea.MouseButtonLeft:
		m.click(e.X, e.Y)
	default:
		return nil
	}
	m.show()
	return nil
}

func (m *model) wheel(to panels.Move) {
	for range wheelLines {
		if onLines(m) {
			m.move(to)
		}
	}
}

func (m *model) click(x, y int) {
	l := m.layout()
	if l.Tiny {
		return
	}
	if y == l.Head.Y {
		if page, ok := m.header().TabAt(x, l.Head.W); ok {
			m.turn(page)
		}
		return
	}
	if m.zoomed {
		if l.Below().Has(x, y) {
			m.zoomed = false
		}
		return
	}
	for _, b := range slices.Backward(l.Panels) { // a line that two panels share has the title of the lower one
		switch {
		case !b.Rect.Has(x, y):
			continue
		case onPanels(m):
			m.zoomed = b.Name == m.focus
			m.focus = b.Name
		case b.Name == "requests":
			m.list.Point(m.choices(m.shown), l.Below(), y-b.Rect.Y-2) // below the border and the names of the columns
		}
		return
	}
}
