package tui

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// What is too long is cut by no more than it must be: a line that is shortened uses the room there is.
func TestFitUsesTheRoom(t *testing.T) {
	parts := []string{
		"127.0.0.1:34879", "sim-8b", "ramp 4 to 50 req/s over 30s",
		"random: 192 tokens in after a prefix of 64, 64 out, token ids 1000 to 31999",
	}
	whole := strings.Join(parts, between)
	for w := screen.Width(whole) + 5; w >= 0; w-- {
		got := fit(parts, 2, w)
		if screen.Width(got) > w {
			t.Fatalf("%d columns: %q takes %d", w, got, screen.Width(got))
		}
		switch n := strings.Count(got, between); {
		case w >= screen.Width(whole) && got != whole:
			t.Fatalf("%d columns: %q was cut without need", w, got)
		case w < screen.Width(whole) && n == len(parts)-1 && screen.Width(got) < w-1:
			t.Fatalf("%d columns: %q leaves %d of them unused", w, got, w-screen.Width(got))
		}
	}
	if got := fit(nil, 0, 10); got != "" {
		t.Errorf("no parts: %q", got)
	}
}

// Who counts tokens, and that the cache is cold, is said on a terminal of ordinary width, not only where the data set fits, too.
func TestHeaderSaysWhoCounts(t *testing.T) {
	p := &metrics.Plan{
		BaseURL: "http://127.0.0.1:8000", ModelID: "sim-8b", Load: "10 req/s (Poisson)", Cache: "cold cache (about 13 tokens before each prompt)",
		Dataset: "random: 300 tokens in after a prefix of 0, 40 tokens out, as text, tokens by the server's tokenizer",
	}
	for by, want := range map[metrics.TokenSource]string{
		metrics.TokensFromTokenizer: "tokens by tokenizer", metrics.TokensFromServer: "tokens by server", metrics.TokensFromIDs: "token ids",
		metrics.TokensFromEstimate: "tokens estimated",
	} {
		p.InputSource = by
		if got, want := fit(planParts(p), 3, 79), "127.0.0.1:8000 · sim-8b · cold cache · 10 req/s (Poisson) · "+want; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	p.InputSource, p.Cache = "", ""
	if got := fit(planParts(p), 2, 50); got != "127.0.0.1:8000 · sim-8b · 10 req/s (Poisson)" {
		t.Errorf("nothing said: got %q", got)
	}
}

// The word and the colour of a run that is over say what came out of it, in the header and below a run that is not saved.
func TestStateOfAnEndedRun(t *testing.T) {
	for _, c := range []struct {
		conclusion  metrics.Conclusion
		interrupted bool
		want        string
		color       screen.Color
	}{
		{metrics.Fine, false, "✓ DONE", screen.Green},
		{metrics.Fine, true, "✓ DONE early", screen.Orange},
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
		if got := stateSign(&s, s.State); got.Text != c.want || got.Style.Fg != c.color {
			t.Errorf("got %q in %v, want %q in %v", got.Text, got.Style.Fg, c.want, c.color)
		}
		m := open(s, 120, 40, termenv.Ascii)
		below := m.outcome(80)[0]
		if want := c.want[:len("✓")] + " the run is over, not saved"; below.Text != want || below.Style.Fg != c.color {
			t.Errorf("%s: got %q in %v below, want %q", c.want, below.Text, below.Style.Fg, want)
		}
	}
}

func TestOneEvent(t *testing.T) {
	for n, want := range map[int]string{0: " 0 events", 1: " 1 event", 2: " 2 events"} {
		v := &view{s: &metrics.Snapshot{Log: make([]metrics.LogEntry, n)}}
		if got := eventsTitle(v, 80, 24)[1].Text; got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// A cold cache changes what is measured, so on a terminal of 80 columns its two words come before the length of the model's name
// and of the file's, which the end of the run and the log say whole.
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
