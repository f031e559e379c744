package panels

import (
	"strings"
	"testing"

	"benchtop/tui/tuitest"
)

func older() *Baseline { return &Baseline{Name: "2026-11-20-0915.json", Report: tuitest.Older()} }

// Figures without names cannot be told apart: a table too low for a row of names has them in its title.
func TestLowTableNamesItsColumns(t *testing.T) {
	s := tuitest.Mid()
	for _, c := range []struct {
		w, h int
		want string
	}{
		{36, 4, "mean p50 p99"}, {36, 5, "mean p50 p99"}, {45, 4, "mean p50 p90 p95 p99"},
	} {
		if got := drawn("latency", &s, c.w, c.h); !strings.Contains(got, "latency whole run "+c.want) {
			t.Errorf("%dx%d: %q lacks %q", c.w, c.h, got, c.want)
		}
	}
	if high := drawn("latency", &s, 46, 8); strings.Count(high, "p99") != 1 {
		t.Errorf("the names of the columns are there more than once, or not:\n%s", high)
	}
}
