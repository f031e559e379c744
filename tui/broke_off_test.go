package tui

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// The header shows that a run was killed, also in control, after a key that stops, and on a frozen screen.
func TestBrokeOff(t *testing.T) {
	for _, keys := range [][]string{{"c"}, {"q"}, {"q", "q"}, {"c", " "}} {
		m := open(steered(34), 160, 40, termenv.Ascii)
		press(m, keys...)
		m.Update(endMsg{})
		got := firstLines(m)
		for _, not := range []string{"CONTROL", "RUN", "DRAINING", "ABORTING", " -0"} {
			if strings.Contains(got, not) {
				t.Errorf("%q: %q in\n%s", keys, not, got)
			}
		}
		if !strings.Contains(got, "■ INCOMPLETE") || !strings.Contains(m.View(), "run incomplete") {
			t.Errorf("%q: the screen is\n%s\n%s", keys, got, lastLine(m))
		}
		if s := (panels.StateSign(m.shown, m.state(m.shown))); s.Style != screen.Warning {
			t.Errorf("%q: the style is %+v", keys, s.Style)
		}
	}
	m := open(tuitest.Mid(), 160, 40, termenv.Ascii)
	press(m, " ") // the rest of the screen is of the moment before the end
	m.Update(snapshotMsg{tuitest.Done()})
	m.Update(endMsg{})
	if m.state(m.latest) != metrics.Finished || strings.Contains(firstLines(m), "INCOMPLETE") {
		t.Errorf("a run that ended:\n%s", firstLines(m))
	}
}
