package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/tuitest"
)

// TestDrawingTicks: the header follows every tick, the panels every second one, and nothing is drawn in between.
func TestDrawingTicks(t *testing.T) {
	m := open(tuitest.Mid(), 120, 40, termenv.Ascii)
	first := m.View()
	next := tuitest.Bad()
	next.At += 5 * time.Second
	m.Update(snapshotMsg{next})
	if m.stale || m.View() != first {
		t.Error("a snapshot alone changed the screen")
	}
	m.Update(tickMsg{})
	if second := m.View(); second != first {
		t.Errorf("after a tick:\n%s", second)
	}
	m.Update(tickMsg{})
	if third := m.View(); !strings.Contains(third, "errors 26") {
		t.Errorf("after two ticks:\n%s", third)
	}
}

func TestFreeze(t *testing.T) {
	m := open(tuitest.Mid(), 120, 40, termenv.Ascii)
	press(m, " ")
	next := tuitest.Bad()
	next.At += 12 * time.Second
	m.Update(snapshotMsg{next})
	m.Update(tickMsg{})
	got := m.View()
	if !strings.Contains(got, "FROZEN 12s behind") || strings.Contains(got, "errors 26") {
		t.Errorf("frozen:\n%s", got)
	}
	press(m, " ")
	if got := m.View(); strings.Contains(got, "FROZEN") || !strings.Contains(got, "errors 26") {
		t.Errorf("thawed:\n%s", got)
	}
}

// TestOnlyOwnPressesAbort: a run that drains by itself is not cut by the first q.
func TestOnlyOwnPressesAbort(t *testing.T) {
	s := tuitest.Mid()
	s.State = metrics.Draining
	m := open(s, 80, 24, termenv.Ascii)
	c := m.Control.(*control)
	press(m, "q")
	if c.drains != 1 || c.aborts != 0 {
		t.Errorf("after q: %d drains, %d aborts", c.drains, c.aborts)
	}
	press(m, "ctrl+c")
	if c.aborts != 1 {
		t.Errorf("after q and ctrl+c: %d aborts", c.aborts)
	}
	if cmd := press(m, "q"); cmd == nil || cmd() != (tea.QuitMsg{}) {
		t.Error("the third time did not leave")
	}
}

func TestScrolledLogStandsStill(t *testing.T) {
	s := tuitest.Mid()
	for i := range 100 {
		s.Log = append(s.Log, metrics.LogEntry{At: time.Duration(i) * time.Second, Text: fmt.Sprintf("event %d", i)})
	}
	m := open(s, 80, 24, termenv.Ascii)
	press(m, "6")
	if !strings.Contains(m.View(), "event 99") {
		t.Errorf("the newest is not shown:\n%s", m.View())
	}
	press(m, "pgup")
	before := m.View()
	later := s
	later.Log = append(later.Log[:len(later.Log):len(later.Log)],
		metrics.LogEntry{At: 200 * time.Second, Text: "event 100"})
	m.Update(snapshotMsg{later})
	m.show()
	if strings.Contains(before, "event 99") || m.View() != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, m.View())
	}
	press(m, "G")
	if !strings.Contains(m.View(), "event 100") {
		t.Errorf("after G:\n%s", m.View())
	}
	press(m, "g")
	if !strings.Contains(m.View(), "GET /v1/models") {
		t.Errorf("after g:\n%s", m.View())
	}
}

// TestEveryKeyIsShown: no key works that the help does not know, and none is shown that does nothing.
func TestEveryKeyIsShown(t *testing.T) {
	for kind, change := range map[string]func(*model){
		"live":      func(*model) {},
		"read only": func(m *model) { m.ReadOnly = true },
		"attached":  func(m *model) { m.Attached = true },
		"replay":    func(m *model) { m.Player = &player{} },
	} {
		for page := range panels.Pages {
			m := open(tuitest.Mid(), 120, 60, termenv.Ascii)
			change(m)
			press(m, fmt.Sprint(page+1), "?")
			got := m.View()
			for _, b := range keymap {
				there := b.with == nil || b.with(m)
				if b.what != "" && there != strings.Contains(got, b.what) {
					t.Errorf("%s, page %d: %q is in the help: %v, want %v:\n%s", kind, page+1, b.what, !there, there,
						got)
				}
				if b.do == nil && b.ask == nil || b.show != "" && b.what == "" {
					t.Errorf("%v: no action or no words", b.keys)
				}
			}
		}
	}
}

// Keys that arrive in one read count one by one; a paste counts as none.
func TestKeysInOneRead(t *testing.T) {
	for _, c := range []struct {
		msg           tea.KeyMsg
		drains, abort int
	}{
		{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q")}, 1, 0},
		{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("qq")}, 1, 1},
		{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("2?q")}, 1, 0},
		{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("qq"), Paste: true}, 0, 0},
		{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q"), Alt: true}, 0, 0},
	} {
		m := open(tuitest.Mid(), 100, 30, termenv.Ascii)
		m.Update(c.msg)
		if x := m.Control.(*control); x.drains != c.drains || x.aborts != c.abort {
			t.Errorf("%v: %d drains, %d aborts; want %d and %d", c.msg, x.drains, x.aborts, c.drains, c.abort)
		}
	}
}

// Gaps of nothing, from chunks that came in one read, still make a histogram.
func TestHistogramOfZeros(t *testing.T) {
	s := tuitest.Mid()
	s.Histograms[metrics.ITL], s.Windows = metrics.Histogram{}, s.Windows[:1]
	for range 26 {
		s.Histograms[metrics.ITL].Add(0)
	}
	s.Windows[0].Histograms[metrics.ITL] = s.Histograms[metrics.ITL]
	m := open(s, 120, 40, termenv.Ascii)
	if shown := m.View(); strings.Contains(shown, "no second token yet") || !strings.Contains(shown, "█") {
		t.Errorf("no histogram:\n%s", shown)
	}
}

// A run of less than a second has charts once it is over.
func TestShortRunHasCharts(t *testing.T) {
	s := tuitest.Mid()
	s.Windows, s.At, s.State = s.Windows[:1], 300*time.Millisecond, metrics.Finished
	if shown := open(s, 120, 40, termenv.Ascii).View(); strings.Contains(shown, "no full second yet") {
		t.Errorf("no charts:\n%s", shown)
	}
}
