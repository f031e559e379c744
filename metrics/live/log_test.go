package live

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Marks outlive their events in the log.
func TestMarks(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	rec.fact(0, metrics.LogEntry{At: 1, Text: "stage 2: 16 req/s", Mark: "16/s"})
	early := rec.Snapshot()
	for i := range 3 * logKept {
		rec.fact(0, metrics.LogEntry{At: time.Duration(i), Text: "noise"})
	}
	rec.fact(0, metrics.LogEntry{At: 2, Text: "stage 3", Mark: "32/s"})
	s := rec.Snapshot()
	want := []metrics.LogEntry{{At: 1, Text: "stage 2: 16 req/s", Mark: "16/s"}, {At: 2, Text: "stage 3", Mark: "32/s"}}
	if diff := cmp.Diff(want, s.Marks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(early.Marks) != 1 || len(s.Log) != logKept {
		t.Errorf("an early snapshot has %d marks, the log %d lines", len(early.Marks), len(s.Log))
	}
	for i := range 2 * marksKept {
		rec.fact(0, metrics.LogEntry{At: time.Duration(i), Mark: "x"})
	}
	if n := len(rec.Snapshot().Marks); n != marksKept {
		t.Errorf("%d marks, want %d", n, marksKept)
	}
}

// A flood of failures is one line of the log a second, and takes nothing else with it.
func TestLogUnderAFlood(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	fail := func(at time.Duration) {
		q := metrics.NewRequest(0)
		q.Failure, q.Done = metrics.FailedConnect, at
		rec.Take(&event.Event{Kind: event.Done, Request: &q})
	}
	for i := range 1500 {
		fail(time.Duration(i) * time.Millisecond)
		if i == 700 {
			rec.fact(0, metrics.LogEntry{At: 700 * time.Millisecond, Level: metrics.Error, Text: "the disk is full"})
		}
	}
	var got []string
	for _, e := range rec.Snapshot().Log {
		got = append(got, fmt.Sprint(e.At, " ", e.Text, " ", e.Count))
	}
	want := []string{"0s request 0: connect 701", "700ms the disk is full 0", "701ms request 0: connect 799"}
	if !slices.Equal(got, want) {
		t.Errorf("log %q, want %q", got, want)
	}
}
