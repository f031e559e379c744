package tui

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/tuitest"
)

// The limit of the objective stands in the histogram and in the chart over time.
func TestLimitsAreDrawn(t *testing.T) {
	m := open(tuitest.Judge(tuitest.Bad()), 200, 50, termenv.Ascii)
	shown := m.View()
	if n := strings.Count(shown, "SLO 500ms"); n != 2 {
		t.Errorf("%d times, want 2:\n%s", n, shown)
	}
	if strings.Contains(open(tuitest.Bad(), 200, 50, termenv.Ascii).View(), "SLO") {
		t.Error("there are no objectives")
	}
}

// The panel appears only if there is something to show.
func TestPanelOnlyWithObjectives(t *testing.T) {
	for _, size := range sizes[2:] {
		w, h := size[0], size[1]
		shown := open(tuitest.Mid(), w, h, termenv.Ascii).View()
		if strings.Contains(shown, "SLO") || strings.Contains(shown, "good") {
			t.Errorf("without objectives:\n%s", shown)
		}
		m := open(tuitest.Judge(tuitest.Mid()), w, h, termenv.Ascii)
		if shown = m.View(); !strings.Contains(shown, " good ") {
			t.Errorf("with objectives:\n%s", shown)
		}
		press(m, "3")
		for _, part := range []string{"─ SLO whole run", "goodput", "FAILED"} {
			if shown = m.View(); !strings.Contains(shown, part) {
				t.Errorf("with objectives, no %q:\n%s", part, shown)
			}
		}
	}
	s := tuitest.Mid()
	plan := *s.Plan
	plan.Gates = []metrics.Gate{{Metric: "failed", Op: ">", Limit: 0}}
	s.Plan = &plan
	m := open(s, 120, 40, termenv.Ascii)
	press(m, "3")
	shown := m.View()
	if !strings.Contains(shown, "failed > 0") || strings.Contains(shown, "goodput") {
		t.Errorf("with a gate only:\n%s", shown)
	}
}
