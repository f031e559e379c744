// Package eventtest makes the events of made-up runs for tests.
package eventtest

import (
	"iter"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Facts are the events of a run without its requests and its end: the plan first, the rest by kind, each at its moment. The sources of
// server and accelerators come with their last samples.
func Facts(run metrics.Run) (all []event.Event) {
	tell := func(at time.Duration, fact any) {
		all = append(all, event.Event{At: at, Kind: event.Fact, Value: fact})
	}
	tell(0, run.Plan)
	tell(0, metrics.Source{Name: metrics.ServerCounters, Kind: run.ServerKind})
	changes := 0
	for _, e := range run.Events {
		if e.Set != nil {
			changes++
			tell(e.At, metrics.Steering{LoadSetting: *e.Set, Changes: changes, InUsers: e.Set.Users > 0})
		}
		tell(e.At, e)
	}
	for _, s := range run.Client {
		tell(s.At, s)
	}
	last := time.Duration(0)
	for _, s := range run.Server {
		last = max(last, s.At)
		tell(s.At, s)
	}
	tell(last, metrics.Source{Name: metrics.ServerCounters, Kind: run.ServerKind, Absent: run.ServerAbsent})
	last = 0
	for _, s := range run.GPUs {
		last = max(last, s.At)
		tell(s.At, s)
	}
	tell(last, metrics.Source{Name: metrics.Accelerators, Absent: run.GPUsAbsent})
	return all
}

// Of are all events of a run, as in a journal. The events of a run without a known end stop after its requests.
func Of(run metrics.Run, requests iter.Seq2[metrics.Request, error]) event.Events {
	return func(yield func(event.Event, error) bool) {
		for _, e := range Facts(run) {
			if !yield(e, nil) {
				return
			}
		}
		for q, err := range requests {
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			if !yield(event.Event{At: q.Done, Kind: event.Done, Request: &q}, nil) {
				return
			}
		}
		if run.Ended != metrics.Never {
			yield(event.Event{At: run.Ended, Kind: event.Fact, Value: run.End}, nil)
		}
	}
}

// Tell passes facts to a sink.
func Tell(sink event.Sink, facts ...any) {
	for _, fact := range facts {
		sink.Take(&event.Event{Kind: event.Fact, Value: fact})
	}
}

// Step passes an event of a request to a sink.
func Step(sink event.Sink, kind event.Kind, q *metrics.Request) {
	sink.Take(&event.Event{Kind: kind, Request: q})
}
