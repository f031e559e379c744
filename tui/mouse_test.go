package tui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
)

func click(m *model, x, y int) {
	m.Update(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	m.Update(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionRelease, Button: tea.MouseButtonLeft})
}

// Each tab is where its name is, at every width.
func TestClickOnTabs(t *testing.T) {
	for w := 40; w < 200; w += 7 {
		m := open(mid(), w, 30, termenv.Ascii)
		for i := range pages {
			m.turn(0)
			m.show()
			first, _, _ := strings.Cut(m.View(), "\n")
			digit := string(rune('1' + i))
			at := strings.Index(first, digit)
			click(m, at, 0)
			if m.page != i {
				t.Errorf("%d columns: a click on %s of %q opened page %d", w, digit, first, m.page+1)
			}
		}
		m.turn(2)
		click(m, w-1, 0)
		if m.page != 2 {
			t.Errorf("%d columns: a click beside the tabs opened page %d", w, m.page+1)
		}
	}
}

func TestClickOnPanels(t *testing.T) {
	m := open(mid(), 120, 40, termenv.Ascii)
	click(m, 80, 10)
	if m.focus != "load" || m.zoomed {
		t.Errorf("one click: focus %q, zoomed %v", m.focus, m.zoomed)
	}
	click(m, 80, 10)
	if !m.zoomed {
		t.Error("two clicks did not zoom")
	}
	click(m, 3, 30)
	if m.zoomed || m.focus != "load" {
		t.Errorf("a click on the zoomed panel: focus %q, zoomed %v", m.focus, m.zoomed)
	}
	click(m, 3, 39)
	click(m, -1, -1)
	click(m, 300, 300)
}

func TestWheel(t *testing.T) {
	m := withReport(mid(), 120, 40)
	m.Update(snapshotMsg{done()})
	if m.pageNow().name != "Report" {
		t.Fatal("no report")
	}
	wheel := func(b tea.MouseButton) { m.Update(tea.MouseMsg{X: 5, Y: 9, Action: tea.MouseActionPress, Button: b}) }
	wheel(tea.MouseButtonWheelDown)
	wheel(tea.MouseButtonWheelDown)
	wheel(tea.MouseButtonWheelUp)
	if m.reportTop != 3 {
		t.Errorf("report at line %d, want 3", m.reportTop)
	}
}
