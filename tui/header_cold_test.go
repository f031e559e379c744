package tui

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"
)

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
