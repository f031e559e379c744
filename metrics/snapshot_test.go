package metrics_test

import (
	"slices"
	"testing"
	"time"

	"benchtop/internal/assert"
	. "benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

// Viewers share one selection; the first open request counts.
func TestInspectionWith(t *testing.T) {
	got := Inspection{Open: 3}.With(Inspection{Rows: true, Open: 4}).With(Inspection{})
	if got != (Inspection{Rows: true, Open: 3}) {
		t.Errorf("%+v", got)
	}
}

// A window is the same in two snapshots until it changes; the states of requests follow their events.
func TestWindowSame(t *testing.T) {
	rec := live.NewView(time.Now(), &Plan{})
	var states []RequestState
	ask := func(index int, at time.Duration, failure Failure) {
		q := NewRequest(index)
		step := func(kind event.Kind) {
			eventtest.Step(rec, kind, &q)
			states = append(states, q.State())
		}
		q.Due, q.Admitted, q.Sent, q.InputTokens, q.InputSource = at, at, at, 20, TokensFromUsage
		step(event.Due)
		step(event.Sent)
		q.Add(Chunk{At: at + ms, Tokens: 1})
		step(event.Chunk)
		assert.Equal(t, q.Counted(), 1, "tokens are counted")
		q.Done, q.Failure, q.InputTokens = q.LastChunk, failure, 25
		step(event.Done)
	}
	ask(0, 0, "")
	first := rec.SnapshotAt(2 * second)
	ask(1, 1500*ms, FailedReset)
	ask(2, 1600*ms, Cancelled)
	second := rec.SnapshotAt(2 * second)
	if !second.Windows[0].Same(first.Windows[0]) || second.Windows[1].Same(first.Windows[1]) ||
		second.Windows[1].Same(second.Windows[0]) {
		t.Error("a window changed without an event, or did not change with one")
	}
	on := []RequestState{StateHeld, StateWaiting, StateRunning}
	want := slices.Concat(on, []RequestState{StateDone}, on, []RequestState{StateFailed}, on,
		[]RequestState{StateCancelled})
	assert.EqualAll(t, states, want, "states")
	assert.Equal(t, rec.TemplateTokens(), 5, "tokens of the template")
}
