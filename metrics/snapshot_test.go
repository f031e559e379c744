package metrics_test

import (
	"slices"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

// Viewers share one selection; the first open request counts.
func TestInspectionWith(t *testing.T) {
	got := metrics.Inspection{Open: 3}.With(metrics.Inspection{Rows: true, Open: 4}).With(metrics.Inspection{})
	if got != (metrics.Inspection{Rows: true, Open: 3}) {
		t.Errorf("%+v", got)
	}
}

// A window is the same in two snapshots until it changes; the states of requests follow their events.
func TestWindowSame(t *testing.T) {
	rec := live.NewView(time.Now(), &metrics.Plan{})
	var states []metrics.RequestState
	ask := func(index int, at time.Duration, failure metrics.Failure) {
		q := metrics.NewRequest(index)
		step := func(kind event.Kind) {
			eventtest.Step(rec, kind, &q)
			states = append(states, q.State())
		}
		q.Due, q.Admitted, q.Sent, q.InputTokens, q.InputSource = at, at, at, 20, metrics.TokensFromUsage
		step(event.Due)
		step(event.Sent)
		q.Add(metrics.Chunk{At: at + time.Millisecond, Tokens: 1})
		step(event.Chunk)
		if q.Counted() != 1 {
			t.Errorf("%d tokens are counted", q.Counted())
		}
		q.Done, q.Failure, q.InputTokens = q.LastChunk, failure, 25
		step(event.Done)
	}
	ask(0, 0, "")
	first := rec.SnapshotAt(2 * time.Second)
	ask(1, 1500*time.Millisecond, metrics.FailedReset)
	ask(2, 1600*time.Millisecond, metrics.Cancelled)
	second := rec.SnapshotAt(2 * time.Second)
	if !second.Windows[0].Same(&first.Windows[0]) || second.Windows[1].Same(&first.Windows[1]) || second.Windows[1].Same(&second.Windows[0]) {
		t.Error("a window changed without an event, or did not change with one")
	}
	on := []metrics.RequestState{metrics.StateHeld, metrics.StateWaiting, metrics.StateRunning}
	want := slices.Concat(on, []metrics.RequestState{metrics.StateDone}, on, []metrics.RequestState{metrics.StateFailed}, on, []metrics.RequestState{metrics.StateCancelled})
	if !slices.Equal(states, want) {
		t.Errorf("states %v", states)
	}
	if got := rec.TemplateTokens(); got != 5 {
		t.Errorf("%v tokens of the template", got)
	}
}
