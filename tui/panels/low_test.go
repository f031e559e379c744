package panels

import (
	"strings"
	"testing"

	"benchtop/metrics"
)

// Figures without names cannot be told apart: a table too low for a row of names has them in its title.
func TestLowTableNamesItsColumns(t *testing.T) {
	s := mid()
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

// The address at the start of a system's error must not push out what went wrong.
func TestShortErrorSaysHowTheConnectionFailed(t *testing.T) {
	s := mid()
	s.Totals.Failed = 37
	s.Failures = []metrics.FailureCount{{Kind: metrics.FailedConnect, Count: 37,
		Examples: []string{"dial tcp 127.0.0.1:8000: connect: connection refused", "dial tcp [::1]:8000: connect: connection refused"}}}
	if got := drawn("errors", &s, 60, 3); !strings.Contains(got, "no connection: connection refused") {
		t.Errorf("without room for the whole error:\n%s", got)
	}
	if got := drawn("errors", &s, 110, 4); !strings.Contains(got, "127.0.0.1:8000: connect: connection refused") {
		t.Errorf("with room for it:\n%s", got)
	}
}
