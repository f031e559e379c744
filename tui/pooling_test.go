package tui

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"benchtop/tui/tuitest"
)

// Where answers come in one piece the screen shows E2EL and the tokens of the prompts, on every page and at every size,
// and no figure of tokens that never come.
func TestPooling(t *testing.T) {
	for _, finished := range []bool{false, true} {
		for _, size := range sizes {
			m := open(tuitest.Pooled(finished), size[0], size[1], termenv.Ascii)
			for p := range m.pages() {
				m.turn(p)
				screen := m.View()
				for _, word := range []string{"NaN", "TTFT p99", "ITL p99", "out tok/s", "TTFT by second", "why TTFT",
					"p99 TTFT", "TTFT p50", "mean TTFT"} {
					if strings.Contains(screen, word) {
						t.Errorf("%v, finished %v, page %d: %q is on\n%s", size, finished, p, word, screen)
					}
				}
			}
			m.turn(0)
			if got := m.View(); size[0] >= 80 &&
				(!strings.Contains(got, "E2EL ━ ") || !strings.Contains(got, "tokens/s ━ in")) {
				t.Errorf("%v:\n%s", size, got)
			}
		}
	}
	whole := tuitest.Pooled(false)
	plan := *whole.Plan
	plan.Pooling, plan.Whole = false, true
	whole.Plan = &plan
	for _, size := range sizes {
		m := open(whole, size[0], size[1], termenv.Ascii)
		for p := range 2 { // no panel or row of what is not measured
			m.turn(p)
			if got := m.View(); strings.Contains(got, "ITL") || strings.Contains(got, "TPOT") ||
				size[0] >= 80 && p == 0 && !strings.Contains(got, "tokens/s ━ out") {
				t.Errorf("%v, page %d:\n%s", size, p, got)
			}
		}
	}
	m := open(tuitest.Pooled(false), 120, 40, termenv.Ascii)
	if got := m.summary(); !strings.Contains(got, "input tokens/s") || strings.Contains(got, "TTFT") {
		t.Errorf("copied:\n%s", got)
	}
}
