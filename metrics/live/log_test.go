package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
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
	assert.Same(t, "Marks", s.Marks, want)
	if len(early.Marks) != 1 || len(s.Log) != logKept {
		t.Errorf("an early snapshot has %d marks, the log %d lines", len(early.Marks), len(s.Log))
	}
	for i := range 2 * marksKept {
		rec.fact(0, metrics.LogEntry{At: time.Duration(i), Mark: "x"})
	}
	assert.Equal(t, len(rec.Snapshot().Marks), marksKept, "marks")
}

// A kind of failure is one line of the log, with its count, and takes nothing else with it.
func TestLogUnderAFlood(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	fail := func(at time.Duration, kind metrics.Failure, words string) {
		q := metrics.NewRequest(0)
		q.Failure, q.Done, q.Error = kind, at, words
		if kind == metrics.FailedStatus {
			q.Status, q.Sent = 429, at
		}
		rec.Take(&event.Event{Kind: event.Done, Request: &q})
	}
	for i := range 1500 {
		at := time.Duration(i) * ms
		fail(at, metrics.FailedConnect, fmt.Sprintf("dial tcp: 127.0.0.1:%d: connection refused", i))
		fail(at, metrics.FailedStatus, fmt.Sprintf(`{"error":{"message":"limit of %d tokens for id-%d"}}`, i, i))
		if i == 700 {
			rec.fact(0, metrics.LogEntry{At: 700 * ms, Level: metrics.Error, Text: "the disk is full"})
		}
	}
	got := metrics.Each(rec.Snapshot().Log, func(e metrics.LogEntry) string {
		return fmt.Sprint(e.At, " ", e.Text, " ", e.Count)
	})
	want := []string{"0s connect: connection refused 1500", "0s HTTP 429: limit of 0 tokens for id-0 1500",
		"700ms the disk is full 0"}
	assert.EqualAll(t, got, want, "log")
	early := rec.Snapshot()
	for i := range 2 * logKept {
		rec.fact(0, metrics.LogEntry{At: time.Duration(i), Text: "noise"})
	}
	fail(2*second, metrics.FailedStatus, "limit of 1 tokens for id-1") // its line is gone
	fail(3*second, metrics.FailedStatus, "limit of 2 tokens for id-2")
	late := rec.Snapshot()
	if last := late.Log[len(late.Log)-1]; last.At != 2*second || last.Count != 2 || last.Last != 3*second ||
		early.Log[0].Count != 1500 {
		t.Errorf("after its line was dropped: %+v; an early snapshot has %+v", last, early.Log[0])
	}
	for i := range 3 * mostKinds {
		fail(4*second, metrics.FailedStatus, strings.Repeat("x", i+1))
	}
	s := rec.Snapshot()
	if n := len(rec.kinds); n > mostKinds+2 || s.Log[len(s.Log)-1].Count < mostKinds {
		t.Errorf("%d kinds, the last line %+v", n, s.Log[len(s.Log)-1])
	}
}
