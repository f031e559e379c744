// Package live shows a run while it is on: it folds the events of the run into snapshots.
package live

import (
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// View is the live view of a run, and a sink of its events. Snapshots, and what else is asked of it, come from the recorder
// inside, from any goroutine.
type View struct{ *metrics.Recorder }

// NewView returns the view of a run whose offset 0 is start.
func NewView(start time.Time, plan *metrics.Plan) View {
	return View{metrics.NewRecorder(start, plan)}
}

// Take takes an event in. For a chunk it allocates nothing.
func (v View) Take(e *event.Event) {
	switch e.Kind {
	case event.Chunk:
		v.Chunk(e.Request)
	case event.Due:
		v.Due(e.Request)
	case event.Sent:
		v.Sent(e.Request)
	case event.Done:
		v.Done(e.Request)
	case event.Fact:
		v.fact(e)
	}
}

func (v View) fact(e *event.Event) {
	switch x := e.Value.(type) {
	case metrics.LogEntry:
		v.Log(x)
	case metrics.Steering:
		v.SetSteering(x)
	case metrics.Phase:
		v.SetPhase(x)
	case metrics.Saving:
		v.SetSaving(x)
	case metrics.Source:
		v.SetSource(x)
	case metrics.ClientSecond:
		v.Client(x)
	case metrics.ServerSecond:
		v.Server(x)
	case metrics.GPUSecond:
		v.GPUs(x)
	case event.Damage:
		v.Log(metrics.LogEntry{At: e.At, Level: metrics.Warn, Text: x.String()})
	}
}
