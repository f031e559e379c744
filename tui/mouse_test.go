package tui

import (
	"fmt"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/tui/panels"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/tui/tuitest"
)

func click(m *model, x, y int) {
	m.Update(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	m.Update(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionRelease, Button: tea.MouseButtonLeft})
}

// Each tab is where its name is, at every width.
func TestClickOnTabs(t *testing.T) {
	for w := 40; w < 200; w += 7 {
		m := open(tuitest.Mid(), w, 30, termenv.Ascii)
		for i := range panels.Pages {
			m.turn(0)
			m.show()
			first, _, _ := strings.Cut(m.View(), "\n")
			digit := string(rune('1' + i))
			at := strings.Index(first, digit)
			click(m, at, 0)
			assert.Equal(t, m.page, i, "%d columns: a click on %s of %q opened page %d", w, digit, first, m.page+1)
		}
		m.turn(2)
		click(m, w-1, 0)
		assert.Equal(t, m.page, 2, "%d columns: a click beside the tabs opened page %d", w, m.page+1)
	}
}

func TestClickOnPanels(t *testing.T) {
	m := open(tuitest.Mid(), 120, 40, termenv.Ascii)
	click(m, 20, 16)
	if m.focus != "load" || m.zoomed {
		t.Errorf("one click: focus %q, zoomed %v", m.focus, m.zoomed)
	}
	click(m, 20, 16)
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
	m := withReport(tuitest.Mid(), 120, 40)
	m.Update(snapshotMsg{tuitest.Done()})
	press(m, "7")
	wheel := func(b tea.MouseButton) { m.Update(tea.MouseMsg{X: 5, Y: 9, Action: tea.MouseActionPress, Button: b}) }
	wheel(tea.MouseButtonWheelDown)
	wheel(tea.MouseButtonWheelDown)
	wheel(tea.MouseButtonWheelUp)
	assert.Equal(t, m.reportTop, 3, "report at line")
}

// A click on a row of the requests chooses it, where it stands, one more opens it.
func TestClickOnRequests(t *testing.T) {
	m := open(tuitest.Full(), 120, 40, termenv.Ascii)
	press(m, "5")
	for _, y := range []int{12, 20, 9} {
		row := strings.Split(m.View(), "\n")[y]
		index := strings.Fields(row)[1]
		click(m, 30, y)
		chosen := strings.Split(m.View(), "\n")[y]
		if got := fmt.Sprint(m.list.Picked - 1); got != index || !strings.Contains(chosen, "→") || m.list.Opened {
			t.Errorf("line %d: request %s chosen, opened %v, clicked on %q, now %q", y, got, m.list.Opened, row, chosen)
		}
	}
	chosen := m.list.Picked
	for _, y := range []int{-1, 0, 3, 4, 38, 39, 60} { // the frame and outside
		click(m, 119, y)
	}
	if m.list.Picked != chosen || m.list.Opened {
		t.Errorf("beside the rows: request %d, opened %v", m.list.Picked-1, m.list.Opened)
	}
	click(m, 30, 9)
	if !m.list.Opened || m.list.Picked != chosen {
		t.Error("two clicks did not open it")
	}
	click(m, 30, 15)
	if !m.list.Opened || m.list.Picked == chosen {
		t.Error("a click on another row did not open that one instead")
	}
}
