package journal

import (
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// older makes up the facts for which a journal of version 1 has no lines: the load in force follows from the loads that were
// set, and the line of the end says what could be read.
type older struct {
	steering     metrics.Steering
	server, gpus time.Duration // of the last look
}

// before returns the facts that come before an event. end reads the line of the end.
func (o *older) before(e event.Event, end *fields) []event.Event {
	fact := func(at time.Duration, value any) event.Event {
		return event.Event{At: at, Kind: event.Fact, Value: value}
	}
	switch x := e.Value.(type) {
	case metrics.LogEntry:
		if x.Set == nil {
			return nil
		}
		o.steering.LoadSetting = *x.Set
		o.steering.Changes++
		if x.Set.Users > 0 || x.Set.Rate > 0 {
			o.steering.InUsers = x.Set.Users > 0
		}
		return []event.Event{fact(e.At, o.steering)}
	case metrics.ServerSecond:
		o.server = max(o.server, x.At)
	case metrics.GPUSecond:
		o.gpus = max(o.gpus, x.At)
	case metrics.End:
		kind := end.text("server_kind")
		return []event.Event{
			fact(0, metrics.Source{Name: metrics.ServerCounters, Kind: kind}),
			fact(o.server, metrics.Source{Name: metrics.ServerCounters, Kind: kind, Absent: end.text("server_absent")}),
			fact(o.gpus, metrics.Source{Name: metrics.Accelerators, Absent: end.text("gpus_absent")}),
		}
	}
	return nil
}
