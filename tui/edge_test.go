package tui

import (
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// Titles of charts that are scrolled back have the values at their right edge, not those of now.
func TestTitlesScrolledBack(t *testing.T) {
	s := metrics.Snapshot{At: 100 * time.Second, State: metrics.Running, OutputExact: true, ServerKind: "vLLM",
		Plan: &metrics.Plan{}, Held: 903, Waiting: 902, Running: 901}
	s.Plan.Ramp = &metrics.Ramp{Strategy: "linear", From: 1, To: 101, Over: 100 * time.Second}
	for i := range 100 {
		x, at := 100, time.Duration(i)*time.Second
		if i >= 70 { // from there on another load
			x = 900
		}
		w := metrics.Window{Start: at, Sent: x + 1, Done: x + 2, InputTokens: x + 3, OutputTokens: x + 4, Running: x + 5, Waiting: x + 6, Held: x + 7}
		w.TTFT.Add(time.Duration(x) * time.Millisecond)
		s.Windows = append(s.Windows, w)
		f := float64(x)
		s.Server = append(s.Server, metrics.ServerSecond{At: at + time.Second, Took: time.Second, Running: f + 8, Waiting: f + 9, KVUsage: f / 1000,
			OutputTokens: f + 10, PromptTokens: f + 11, TTFT: metrics.ServerLatency{N: 1, Mean: time.Duration(x-10) * time.Millisecond}})
		s.Client = append(s.Client, metrics.ClientSecond{At: at + time.Second, Took: time.Second, CPU: f / 1000, Cores: 1, Sent: 1,
			LateP99: time.Duration(x+12) * time.Millisecond, LateMax: time.Duration(x+13) * time.Millisecond})
	}
	over := s
	over.State = metrics.Finished
	over.Report = &metrics.Report{OutputThroughput: 905, TotalThroughput: 1811, SentRate: 906, RequestThroughput: 907}
	for _, c := range []struct {
		title func(*view, int, int) []screen.Span
		want  string // at the right edge; those of now begin with a 9
	}{
		{tokensTitle, "tokens/s ━ out 104 ━ in 103"},
		{loadTitle, "load ━ running 105 ━ waiting 106 ━ held 107"},
		{rateTitle, "req/s ━ target 71 ━ sent 101 ━ done 102"},
		{latenessTitle, "lateness ━ p99 112ms ━ max 113ms ━ CPU 10%"},
		{serverQueueTitle, "vLLM queue ━ running 108 ━ waiting 109 ━ waiting here 106"},
		{serverTokensTitle, "server tok/s ━ out 110 ━ out here 104 ━ prompt 111"},
		{serverTTFTTitle, "mean TTFT ━ here 100ms ━ server 90.0ms"},
		{kvTitle, "KV cache % ━ used 10% ━ preempted 0"},
	} {
		words := func(s *metrics.Snapshot, back time.Duration) string {
			var out strings.Builder
			for _, part := range c.title(&view{s: s, span: 30 * time.Second, back: back}, 100, 10) {
				out.WriteString(part.Text)
			}
			return out.String()
		}
		for _, s := range []*metrics.Snapshot{&s, &over} {
			if got := words(s, 30*time.Second); got != c.want {
				t.Errorf("%s, scrolled back: %q, want %q", s.State, got, c.want)
			}
			if got := words(s, 0); got == c.want || !strings.Contains(got, "9") {
				t.Errorf("%s, now: %q", s.State, got)
			}
		}
	}
}
