package panels

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/screen"
)

// A line that is too long is cut as little as possible: it uses all of the room.
func TestFitUsesTheRoom(t *testing.T) {
	parts := []string{
		"127.0.0.1:34879", "sim-8b", "ramp 4 to 50 req/s over 30s",
		"random: 192 input tokens after a prefix of 64, 64 output tokens, token ids 1000 to 31999",
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
			t.Fatalf("%d columns: %q quit %d of them unused", w, got, w-screen.Width(got))
		}
	}
	assert.Equal(t, fit(nil, 0, 10), "", "no parts")
}

// The source of token counts and the cold cache are shown on a terminal of ordinary width, not only where the data set
// fits, too.
func TestHeaderSaysWhoCounts(t *testing.T) {
	p := &metrics.Plan{
		BaseURL: "http://127.0.0.1:8000", ModelID: "sim-8b", Load: "10 req/s (Poisson)",
		Cache:   "cold cache (about 13 tokens before each prompt)",
		Dataset: "random: 300 input tokens, 40 output tokens, as text, tokens by the server's tokenizer",
	}
	for by, want := range map[metrics.TokenSource]string{
		metrics.TokensFromTokenizer: "tokens by tokenizer", metrics.TokensFromServer: "tokens by server",
		metrics.TokensFromIDs:      "token ids",
		metrics.TokensFromEstimate: "tokens estimated",
	} {
		p.InputSource = by
		if got, want := fit(planParts(p), 3, 79),
			"127.0.0.1:8000 · sim-8b · cold cache · 10 req/s (Poisson) · "+want; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	p.InputSource, p.Cache = "", ""
	assert.Equal(t, fit(planParts(p), 2, 50), "127.0.0.1:8000 · sim-8b · 10 req/s (Poisson)", "nothing said")
}

// The objectives of a search are whole where its range has no room.
func TestHeaderOfASearch(t *testing.T) {
	p := &metrics.Plan{BaseURL: "http://127.0.0.1:8000", ModelID: "sim-8b", Find: &metrics.Find{},
		Load:    "search 6 to 1000 req/s for ttft:500 tpot:50 (ms), held for 1m",
		Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.TPOT, LimitMS: 50}}}
	for w, want := range map[int]string{61: "search for ttft:500 tpot:50", 120: p.Load} {
		assert.Equal(t, PlanLine(p, w), "127.0.0.1:8000 · sim-8b · "+want, "%d columns", w)
	}
}
