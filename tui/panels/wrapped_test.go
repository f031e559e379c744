package panels

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/tuitest"
)

// drawn is a panel alone as one long line, so that words are found however they are wrapped.
func drawn(name string, s *metrics.Snapshot, w, h int) string {
	p, _ := Named(name)
	var words []string
	for _, l := range strings.Split(p.View(s, w, h), "\n") {
		words = append(words, strings.Fields(strings.Trim(l, "│"))...)
	}
	return strings.Join(words, " ")
}

// Panels with room show all of a message, as the page of the log does.
func TestLongWordsAreWrapped(t *testing.T) {
	const long = "This model's maximum context length is 32768 tokens. However, you requested 40960 tokens in the " +
		"messages, " +
		"please reduce the length of the messages or of the completion, which took the rest, and try again thereafter."
	s := tuitest.Mid()
	s.Failures = []metrics.FailureCount{
		{Kind: metrics.FailedStatus, Status: 400, Count: 12, Last: s.At - 3*time.Second,
			Examples: []string{long, "second: " + long}},
		{Kind: metrics.FailedReset, Count: 2, Last: s.At - 9*time.Second,
			Examples: []string{"read: connection reset by peer"}},
	}
	s.Totals.Failed = 14
	s.Log = []metrics.LogEntry{{Level: metrics.Info, Text: "first"}, {Level: metrics.Warn, Text: long},
		{Level: metrics.Info, Text: "last"}}
	for _, c := range []struct {
		panel string
		w, h  int
		want  []string
	}{
		{"errors", 120, 36,
			[]string{"HTTP 400:", long[:40], long[len(long)-40:], "second: " + long[:40], "reset by peer"}},
		{"errors", 70, 20, []string{long[len(long)-20:], "peer"}},
		// each kind has its line before one has two
		{"errors", 120, 4, []string{"HTTP 400: This", "connection reset:"}},
		{"log", 120, 36, []string{"first", long[len(long)-40:], "last"}},
		{"log", 120, 7, []string{"first", long[len(long)-40:], "last"}},
		{"log", 120, 5, []string{"first", "last"}},
	} {
		got := drawn(c.panel, &s, c.w, c.h)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				p, _ := Named(c.panel)
				t.Errorf("%s at %dx%d lacks %q:\n%s", c.panel, c.w, c.h, w, p.View(&s, c.w, c.h))
			}
		}
	}
}

// Refusals are no errors, and stand beside them.
func TestRefusalsBesideErrors(t *testing.T) {
	s := tuitest.Mid()
	s.Totals.Refusals = 3
	assert.Has(t, drawn("errors", &s, 110, 4), " · refusals 3")
}

// Groups show what not all runs have, where a run has it and there is room. The hits of the cache stay beside turns.
func TestColumnsOfGroups(t *testing.T) {
	s := tuitest.Mid()
	s.Plan.Abandon, s.Plan.Retry = "30%", "backoff"
	of := metrics.Counts{Completed: 9, Abandoned: 4, Retried: 3, Refusals: 2, Judged: 3, Correct: 2,
		Cached: metrics.TokenShare{Tokens: 1, Requests: 1, Of: 2}}
	s.Classes = []metrics.Group{{Class: "chat", Slice: metrics.Slice{Counts: of}}}
	s.Turns = []metrics.Group{{First: 1, Last: 1, Slice: metrics.Slice{Counts: of}}}
	for _, panel := range []string{"classes", "turns"} {
		assert.Has(t, drawn(panel, &s, 140, 4), "left retried cached correct refusals", "4 3 50% 66.6% 2")
		s.Classes[0].Refusals, s.Turns[0].Refusals = 0, 0
		assert.Lacks(t, drawn(panel, &s, 140, 4), "refusals")
		s.Classes[0].Refusals, s.Turns[0].Refusals = 2, 2
	}
	narrow := drawn("turns", &s, 42, 4)
	assert.Has(t, narrow, "turn p50 p99 cached", " 50%")
	assert.Lacks(t, narrow, "left", "retried", "refusals")
}

// The address at the start of a system's error must not push out what went wrong.
func TestShortErrorSaysHowTheConnectionFailed(t *testing.T) {
	s := tuitest.Mid()
	s.Totals.Failed = 37
	s.Failures = []metrics.FailureCount{{Kind: metrics.FailedConnect, Count: 37,
		Examples: []string{"dial tcp 127.0.0.1:8000: connect: connection refused",
			"dial tcp [::1]:8000: connect: connection refused"}}}
	assert.Has(t, drawn("errors", &s, 60, 3), "no connection: connection refused")
	assert.Has(t, drawn("errors", &s, 110, 4), "127.0.0.1:8000: connect: connection refused")
}
