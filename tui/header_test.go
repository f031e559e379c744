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

// The word and the colour of a run that is over show its conclusion, in the header and on the card.
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
		s := tuitest.Done()
		r := *s.Report
		r.Conclusion, r.Interrupted = c.conclusion, nil
		if c.interrupted {
			r.Interrupted = &metrics.Interrupted{}
		}
		s.Report, s.SavePath = &r, ""
		if got := panels.StateSign(&s, s.State); got.Text != c.want || got.Style.Fg != c.color {
			t.Errorf("got %q in %v, want %q in %v", got.Text, got.Style.Fg, c.want, c.color)
		}
		if got := open(s, 120, 40, termenv.Ascii).View(); strings.Count(got, c.want) != 2 {
			t.Errorf("%s does not stand in the header and on the card:\n%s", c.want, got)
		}
	}
}

// A cold cache changes the figures, so on a terminal of 80 columns the name of the model is shortened for it. The log has it in full.
func TestColdCacheFits(t *testing.T) {
	for _, c := range []struct {
		model, client string
		recent        []string
	}{
		{"sim-8b", "client ok", nil},
		{"sim-8b", "client under pressure", tuitest.Late},
		{"meta-llama/Llama-3.1-8B-Instruct", "client ok", nil},
	} {
		s := tuitest.Sampled(tuitest.Mid(), nil, c.recent)
		p := *s.Plan
		p.BaseURL, p.ModelID, p.Cache = "http://127.0.0.1:18080", c.model, "cold cache (about 11 tokens before each prompt)"
		s.Plan = &p
		for _, w := range []int{80, 100, 120, 200} {
			line := strings.Split(open(s, w, 24, termenv.Ascii).View(), "\n")[1]
			for _, want := range []string{":18080 · " + c.model[:3], " · cold cache", "  " + c.client} {
				if !strings.Contains(line, want) {
					t.Errorf("%d columns: %q lacks %q", w, line, want)
				}
			}
		}
	}
}
