package tui

import (
	"math"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/tuitest"
)

// TestHelpScrolls: j and k move through a help that is higher than the screen, any other key closes it.
func TestHelpScrolls(t *testing.T) {
	m := open(tuitest.Mid(), 60, 12, termenv.Ascii)
	press(m, "?")
	first := m.View()
	press(m, "j", "j")
	if m.View() == first {
		t.Error("j did not scroll the help")
	}
	press(m, "k", "k", "k")
	assert.Equal(t, m.View(), first, "k did not scroll back")
	m.Update(tea.MouseMsg{Action: tea.MouseActionPress, Button: tea.MouseButtonWheelDown})
	if m.View() == first {
		t.Error("the wheel did not scroll the help")
	}
	m.Update(tea.MouseMsg{Action: tea.MouseActionPress, Button: tea.MouseButtonWheelUp})
	assert.Equal(t, m.View(), first, "the wheel did not scroll back")
	m.Update(tea.MouseMsg{Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	if m.help.open {
		t.Error("a click did not close the help")
	}
	press(m, "?", "x")
	if m.help.open {
		t.Error("x did not close the help")
	}
}

// TestEscapeGoesBackOneStep: each Esc takes one thing back, the last one the focus.
func TestEscapeGoesBackOneStep(t *testing.T) {
	s := tuitest.Listed(tuitest.Mid())
	m := open(s, 120, 40, termenv.Ascii)
	press(m, "5", "enter")
	m.list.Filter = "503"
	press(m, "esc")
	if m.list.Opened {
		t.Error("the request is still open")
	}
	press(m, "esc", "esc")
	if m.list.Filter != "" || m.list.Picked != 0 {
		t.Errorf("the list still has %+v", m.list)
	}
	press(m, "6")
	m.filter = "warn"
	if press(m, "esc"); m.filter != "" {
		t.Error("the filter of the log stays")
	}
	press(m, "1", "[", "[", "[", "[", "l", "z", ",")
	if m.until == 0 || !m.zoomed {
		t.Fatalf("until %v, zoomed %v", m.until, m.zoomed)
	}
	if press(m, "esc"); m.zoomed || m.until == 0 {
		t.Error("the zoom goes first")
	}
	if press(m, "esc"); m.until != 0 || m.focus == "" {
		t.Error("then the time")
	}
	if press(m, "esc"); m.focus != "" {
		t.Error("then the focus")
	}
}

func TestScrollingEndsWithTheRun(t *testing.T) {
	m := open(tuitest.Mid(), 120, 40, termenv.Ascii)
	press(m, "]", ",")
	assert.Has(t, lastLine(m), "the whole run is shown")
	press(m, "[", "[", ",")
	if m.until != 0 || !strings.Contains(lastLine(m), "start of the run") {
		t.Errorf("until %v, bottom line %q", m.until, lastLine(m))
	}
}

func TestSaveAndObjectivesOfARunThatIsOver(t *testing.T) {
	m := open(tuitest.Done(), 120, 40, termenv.Ascii)
	for key, want := range map[string]string{"s": "the run is over", "o": "the run is over"} {
		m.notice = notice{}
		press(m, key)
		if !strings.Contains(m.notice.text, want) || m.prompt != nil {
			t.Errorf("%s: %q", key, m.notice.text)
		}
	}
	m = open(tuitest.Mid(), 120, 40, termenv.Ascii)
	press(m, "o", "enter")
	if c := m.Control.(*control); len(c.objectives) != 1 {
		t.Errorf("objectives %v", c.objectives)
	}
	press(m, "s")
	if c := m.Control.(*control); c.saves != 1 {
		t.Errorf("%d saves", c.saves)
	}
	press(m, "o")
	m.Update(snapshotMsg{tuitest.Done()})
	press(m, "enter")
	assert.Has(t, m.notice.text, "the run is over")
}

func TestNoControlRefuses(t *testing.T) {
	m := newModel(Options{}, open(tuitest.Mid(), 80, 24, termenv.Ascii).palette)
	m.Control.Inspect(metrics.Inspection{})
	if said, ok := m.Control.Command(metrics.Command{Do: metrics.Drain}); ok || said == "" {
		t.Errorf("%q, %v", said, ok)
	}
	if cmd := m.copySummary(); cmd != nil || m.notice.text == "" {
		t.Error("copied without a terminal")
	}
}

func TestParseLoadAndRamp(t *testing.T) {
	for _, c := range []struct {
		text, why string
		unit      metrics.Unit
	}{
		{"", "enter a number of req/s", 0}, {"x", "not a number of users", metrics.Users}, {"NaN", "not a number", 0},
		{"1.5", "whole number", metrics.Users}, {"0.0001", "at least 0.001", 0}, {"1e9", "at most", 0},
		{"12", "", metrics.Users},
	} {
		if _, why := parseLoad(c.text, c.unit); (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%q: %q, want %q", c.text, why, c.why)
		}
	}
	for text, want := range map[string]string{
		"40": "expected a load and a time", "x in 5s": "not a number", "40 in x": "is not a duration",
		"40 in 0.1s": "between 1s and 24h", "40 in 60": "",
	} {
		if _, over, why := parseRamp(text, 0); (why == "") != (want == "") || !strings.Contains(why, want) ||
			want == "" && over != time.Minute {
			t.Errorf("%q: %v, %q, want %q", text, over, why, want)
		}
	}
}

// TestTinyPrompt: a prompt has one line on a screen too small for more.
func TestTinyPrompt(t *testing.T) {
	for _, w := range []int{10, 20, 39} {
		m := open(steered(34), w, 5, termenv.Ascii)
		press(m, "c", "i", "7")
		if got := lastLine(m); !strings.Contains(got, "7│") {
			t.Errorf("%d columns: %q", w, got)
		}
		press(m, "x", "enter")
		if got := lastLine(m); !strings.Contains(got, `"7x`) {
			t.Errorf("%d columns: %q", w, got)
		}
		press(m, "esc", "R", "4", "0", " ", "9", "enter")
		if got := lastLine(m); m.prompt == nil || m.prompt.yes == nil || strings.TrimSpace(got) == "" {
			t.Errorf("%d columns: %q", w, got)
		}
		tuitest.Exact(t, m.View(), w, 5, "tiny prompt")
	}
}

func TestSpeedThatMakesNoSense(t *testing.T) {
	m, p := replayOf(tuitest.Mid(), true, math.NaN())
	press(m, ">")
	if len(p.asked) != 1 || p.asked[0] != "speed 2" {
		t.Errorf("asked %v", p.asked)
	}
	s := tuitest.Mid()
	s.Replay = &metrics.Replay{Playing: true, Speed: 2, Length: time.Minute}
	m.Update(snapshotMsg{s})
	if m.pendingSpeed.known {
		t.Error("the speed is still pending")
	}
}

func TestPreparationTakesFewKeys(t *testing.T) {
	m := open(tuitest.Bad(), 120, 40, termenv.Ascii)
	m.Update(tea.MouseMsg{Action: tea.MouseActionPress, Button: tea.MouseButtonRight})
	m.prep = &preparationScreen{of: NewPreparation("a step")}
	if _, cmd := m.Update(tea.MouseMsg{Action: tea.MouseActionPress, Button: tea.MouseButtonLeft}); cmd != nil {
		t.Error("a click on a preparation did something")
	}
	if cmd := m.onPreparation("x"); cmd != nil {
		t.Error("x does something to a preparation")
	}
	if cmd := m.onPreparation("ctrl+l"); cmd == nil {
		t.Error("ctrl+l does not draw anew")
	}
}
