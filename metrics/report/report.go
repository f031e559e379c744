// Package report computes the report of a run from its events, and from nothing else: those of a run that has just ended and
// those that its journal gives back years later are the same.
package report

import (
	"iter"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Why a run has no known end.
const (
	// Killed is the reason of a run whose events do not end with a metrics.End, as far as they tell.
	Killed = "its journal has no end, as after a kill or in a copy of a run that was still on"
	// damaged is the reason of one whose end may be among what cannot be read.
	damaged = "the journal is damaged"
)

// Of computes the report of a run. It is pure: the same events give the same report, in whatever order the requests end. It
// ranges over the events several times and holds a few numbers of each request, unless the plan asks for detail. An error of the
// events comes with the report of those before it; before the plan there is none.
func Of(events event.Events) (metrics.Report, error) {
	run, requests, err := Gather(events)
	if err != nil {
		return metrics.Report{}, err
	}
	return Summarize(requests, run)
}

// Gather returns the facts of a run, and its requests in the order in which they ended, with the counts of their tokens that
// came later. It ranges over the events once for the facts, and again whenever the requests are ranged over. The error is that of
// events that end before the plan; a later one comes from the requests, after those before it.
func Gather(events event.Events) (metrics.Run, iter.Seq2[metrics.Request, error], error) {
	g := gathering{run: metrics.Run{End: metrics.End{Ended: metrics.Never, Reason: Killed}}}
	planned := false
	for e, err := range events {
		switch _, plan := e.Value.(metrics.Plan); {
		case err != nil && !planned:
			return metrics.Run{}, nil, err
		case err != nil:
			g.run.Reason = damaged
		case e.Kind == event.Fact:
			planned = planned || plan
			g.add(e.Value)
		}
	}
	g.tellDamage()
	return g.run, func(yield func(metrics.Request, error) bool) {
		for q, err := range event.Requests(events) {
			if r, ok := g.recounts[q.Index]; ok && err == nil {
				q.OutputTokens, q.OutputSource = r.Tokens, r.Source
			}
			if !yield(q, err) {
				return
			}
		}
	}, nil
}

// gathering is what the events say about a run so far.
type gathering struct {
	run      metrics.Run
	recounts map[int]metrics.Recount // by the index of the request
	damage   event.Damage
}

// add takes a fact in.
func (g *gathering) add(fact any) {
	run := &g.run
	switch x := fact.(type) {
	case metrics.Plan:
		run.Plan = x
	case metrics.LogEntry:
		run.Events = append(run.Events, x)
	case metrics.Recount:
		if g.recounts == nil {
			g.recounts = map[int]metrics.Recount{}
		}
		g.recounts[x.Index] = x
	case metrics.ClientSecond:
		run.Client = append(run.Client, x)
	case metrics.End:
		run.End = x
	case event.Damage:
		g.damage.Add(x)
	default:
		run.Telemetry.Take(fact)
	}
}

// tellDamage logs that lines were left out.
func (g *gathering) tellDamage() {
	run := &g.run
	if run.Damaged = g.damage.Lines; run.Damaged == 0 {
		return
	}
	if run.Ended == metrics.Never && run.Reason == Killed {
		run.Reason = damaged
	}
	run.Events = append(run.Events, metrics.LogEntry{At: max(0, run.Ended), Level: metrics.Warn, Text: g.damage.String()})
}
