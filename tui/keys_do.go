package tui

import (
	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/metrics"
)

// onKeys takes a key, or several: what is typed fast arrives in one read over a slow line, and Bubble Tea makes one message
// of it. A paste is no key, but text for a prompt.
func (m *model) onKeys(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || msg.Paste || msg.Alt {
		if m.prompt != nil {
			return m.onPrompt(msg)
		}
		if msg.Paste {
			return nil
		}
		return m.onKey(msg.String())
	}
	var all []tea.Cmd
	for _, r := range msg.Runes {
		if m.prompt != nil { // the rune before may have opened it
			all = append(all, m.onPrompt(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
			continue
		}
		all = append(all, m.onKey(string(r)))
	}
	return tea.Sequence(all...)
}

func (m *model) onKey(key string) tea.Cmd {
	if m.prep != nil {
		return m.prep.key(key)
	}
	b := m.lookup(key)
	if key != "q" && key != "ctrl+c" {
		m.idle = 0
	}
	if m.helping && (b == nil || !b.anywhere) {
		m.onHelp(key)
		return nil
	}
	if b == nil {
		return nil
	}
	cmd := b.do(m, key)
	m.show()
	return cmd
}

// onHelp takes a key while the help is open: it scrolls, or any other key closes it.
func (m *model) onHelp(key string) {
	switch key {
	case "j", "down":
		m.helpTop++
	case "k", "up":
		m.helpTop = max(0, m.helpTop-1)
	default:
		m.helping, m.helpTop = false, 0
	}
	m.show()
}

func turnTo(m *model, key string) tea.Cmd {
	m.turn(int(key[0] - '1'))
	return nil
}

func turnBy(by int) func(*model, string) tea.Cmd {
	return func(m *model, _ string) tea.Cmd {
		n := len(m.pages())
		m.turn((m.page + by + n) % n)
		return nil
	}
}

// move takes the focus to a neighbour; a zoomed panel gives way to it.
func move(dx, dy int) func(*model, string) tea.Cmd {
	return func(m *model, _ string) tea.Cmd {
		m.moveFocus(dx, dy)
		return nil
	}
}

func (m *model) moveFocus(dx, dy int) {
	if to := beside(m.layout().panels, m.focus, dx, dy); to != "" {
		m.focus = to
	}
}

func zoom(m *model, _ string) tea.Cmd {
	if m.focus == "" {
		m.moveFocus(1, 0)
	}
	m.zoomed = m.focus != ""
	return nil
}

// escape goes back one step: out of what is open, then of what is set.
func escape(m *model, _ string) tea.Cmd {
	switch {
	case onList(m) && m.actOnList(listClose):
	case m.zoomed:
		m.zoomed = false
	case onList(m) && m.list.filter != "":
		m.list.setFilter("")
	case onFiltered(m) && m.filter != "":
		m.setLogFilter("")
	case m.until > 0 && onPanels(m):
		m.until = 0
	default:
		m.focus = ""
	}
	return nil
}

func list(do listAction) func(*model, string) tea.Cmd {
	return func(m *model, _ string) tea.Cmd {
		m.actOnList(do)
		return nil
	}
}

// actOnList says whether there was something to do.
func (m *model) actOnList(do listAction) bool {
	l := m.layout()
	if l.tiny {
		return false
	}
	return m.list.act(do, m.choices(m.body), m.below(l))
}

func freeze(m *model, _ string) tea.Cmd    { m.frozen = !m.frozen; return nil }
func swapScope(m *model, _ string) tea.Cmd { m.whole = !m.whole; return nil }
func swapAxis(m *model, _ string) tea.Cmd  { m.linear = !m.linear; return nil }
func openHelp(m *model, _ string) tea.Cmd  { m.helping = true; return nil }
func redraw(*model, string) tea.Cmd        { return tea.ClearScreen }
func detach(*model, string) tea.Cmd        { return tea.Quit }
func save(m *model, _ string) tea.Cmd      { m.save(); return nil }
func nextMetric(m *model, _ string) tea.Cmd {
	m.latency = next(m.latest, shown(m.latest, m.latency))
	return nil
}
func swapControls(m *model, _ string) tea.Cmd { m.setControls(!m.controls); return nil }

func nextTheme(m *model, _ string) tea.Cmd {
	if m.palette.Profile == termenv.Ascii { // all themes look alike
		m.say("there are no colours to change here; --color sets how many")
		return nil
	}
	m.palette = m.palette.Next()
	m.say("theme: " + m.palette.Theme)
	return nil
}

// save asks for a result of the run so far, and says how that went.
func (m *model) save() {
	if m.over() {
		m.say("the run is over; what is on the bottom line was done with its result")
		return
	}
	m.command(metrics.Command{Do: metrics.Save})
}

// command asks something of the run, and says what comes of it.
func (m *model) command(c metrics.Command) {
	said, _ := m.control.Command(c)
	m.say(said)
}

// leaves says that the way out leaves the run as it is: it is over, or this screen does not control it.
func (m *model) leaves() bool {
	return m.over() || m.readOnly || m.player != nil || m.attached && !m.controls && m.stops == 0
}

// stop: the first time drain, the second time abort, the third time leave without waiting. Who only looks on leaves at once.
func stop(m *model, _ string) tea.Cmd {
	if m.leaves() {
		return tea.Quit
	}
	m.stops++
	m.helping, m.controls = false, false
	switch m.stops {
	case 1:
		m.control.Command(metrics.Command{Do: metrics.Drain})
	case 2:
		m.control.Command(metrics.Command{Do: metrics.Abort})
	default:
		return tea.Quit
	}
	return nil
}
