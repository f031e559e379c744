package tui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// A baseline without requests gets no legend for lines that are not there, but a word.
func TestBaselineWithoutRequests(t *testing.T) {
	s := tuitest.Mid()
	for _, c := range []struct {
		report *metrics.Report
		empty  bool
	}{
		{&metrics.Report{Timeline: []*metrics.Window{{}, {}, {}, {}, {}}, Ended: 5 * time.Second}, true},
		{&metrics.Report{}, true},
		{&metrics.Report{Counts: metrics.Counts{Completed: 3}}, false},
		{&metrics.Report{Timeline: s.Windows, Ended: s.At}, false},
	} {
		m := newModel(Options{Baseline: &Baseline{Name: "old.json", Report: c.report}},
			screen.NewPalette(termenv.Ascii))
		m.next, m.tick = func() tea.Msg { return nil }, func() tea.Cmd { return nil }
		m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
		m.Update(snapshotMsg{s})
		got := m.View()
		if said := strings.Contains(got, "old.json has no requests"); said != c.empty ||
			(m.Baseline == nil) != c.empty {
			t.Errorf("%+v: said %v, kept %v", c, said, m.Baseline != nil)
		}
	}
}
