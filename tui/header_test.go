package tui

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
)

// The word and the colour of a run that is over show its conclusion, in the header and on the bottom line of a run that is not saved.
func TestStateOfAnEndedRun(t *testing.T) {
	for _, c := range []struct {
		conclusion  metrics.Conclusion
		interrupted bool
		want        string
		color       screen.Color
	}{
		{metrics.Fine, false, "✓ DONE", screen.Good},
		{metrics.Fine, true, "✓ DONE early", screen.Caution.Fg},
		{metrics.GateMissed, false, "✗ GATE MISSED", screen.Warning.Fg},
		{metrics.RunFailed, true, "✗ FAILED", screen.Warning.Fg},
		{metrics.HungUp, true, "■ TERMINAL LOST", screen.Warning.Fg},
		{metrics.Terminated, true, "■ TERMINATED", screen.Warning.Fg},
		{metrics.Aborted, true, "■ ABORTED", screen.Warning.Fg},
	} {
		s := done()
		r := *s.Report
		r.Conclusion, r.Interrupted = c.conclusion, nil
		if c.interrupted {
			r.Interrupted = &metrics.Interrupted{}
		}
		s.Report, s.SavePath = &r, ""
		if got := panels.StateSign(&s, s.State); got.Text != c.want || got.Style.Fg != c.color {
			t.Errorf("got %q in %v, want %q in %v", got.Text, got.Style.Fg, c.want, c.color)
		}
		m := open(s, 120, 40, termenv.Ascii)
		below := m.outcome(80)[0]
		if want := c.want[:len("✓")] + " the run is over, not saved"; below.Text != want || below.Style.Fg != c.color {
			t.Errorf("%s: got %q in %v below, want %q", c.want, below.Text, below.Style.Fg, want)
		}
	}
}

// A cold cache changes the figures, so on a terminal of 80 columns the names of the model and of the file are shortened for it. The end of the run and
// the log have them in full.
func TestColdCacheFits(t *testing.T) {
	for _, c := range []struct {
		model, client string
		recent        []string
	}{
		{"sim-8b", "client ok", nil},
		{"sim-8b", "client strained", late},
		{"meta-llama/Llama-3.1-8B-Instruct", "client ok", nil},
	} {
		s := sampled(mid(), nil, c.recent)
		p := *s.Plan
		p.BaseURL, p.ModelID, p.Cache = "http://127.0.0.1:18080", c.model, "cold cache (about 11 tokens before each prompt)"
		s.Plan, s.SavePath = &p, "benchtop-results/openai-20.0qps-sim-8b-20261122-080123.json"
		for _, w := range []int{80, 100, 120, 200} {
			line := strings.Split(open(s, w, 24, termenv.Ascii).View(), "\n")[1]
			for _, want := range []string{":18080 · " + c.model[:3], " · cold cache", "  " + c.client, " · saving ", "3.json"} {
				if !strings.Contains(line, want) {
					t.Errorf("%d columns: %q lacks %q", w, line, want)
				}
			}
		}
	}
}
