package tui

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/tuitest"
)

// A narrow screen keeps the words that change.
func TestPhaseIsKept(t *testing.T) {
	for w := 60; w < 200; w++ {
		s := tuitest.Judge(tuitest.Young())
		if shown := open(s, max(w, 80), 24, termenv.Ascii).View(); !strings.Contains(shown, "stage 1/5 · warm-up") {
			t.Fatalf("at %d columns:\n%s", w, shown)
		}
	}
}

func TestWarmupIsShown(t *testing.T) {
	tuitest.Warming(func(s metrics.Snapshot, _ float64, text, _, _ string) {
		if shown := open(s, 200, 50, termenv.Ascii).View(); !strings.Contains(shown, text) {
			t.Errorf("no %q:\n%s", text, shown)
		}
	})
}
