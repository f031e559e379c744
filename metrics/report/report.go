// Package report folds the events of a run into its report. It has no other input, so that the events of a run that has just ended and
// those of its journal give the same report.
package report

import (
	"iter"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Why a run has no known end.
const (
	// Killed is the reason of a run whose events do not end with a metrics.End.
	Killed = "its journal has no end, as after a kill or in a copy of a run that was still on"
	// damaged is the reason of a run whose end may be among the damaged lines.
	damaged = "the journal is damaged"
)

// Of computes the report of a run. It is pure: the same events give the same report, in any order of the requests. It ranges over the
// events several times and holds a few numbers of each request, unless the plan asks for detail. An error of the events comes with
// the report of the events before it; before the plan there is no report.
func Of(events event.Events) (metrics.Report, error) {
	run, requests, err := Gather(events)
	if err != nil {
		return metrics.Report{}, err
	}
	return Summarize(requests, run)
}

// Gather returns the facts of a run, and its requests in the order of their ends, with later counts of their tokens. It ranges over the
// events once for the facts, and again for each range over the requests. It returns an error of the events before the plan; a later
// error comes from the requests.
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
	g.logDamage()
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

// gathering holds the facts of the events so far.
type gathering struct {
	run      metrics.Run
	recounts map[int]metrics.Recount // by the index of the request
	damage   event.Damage
}

// add files a fact.
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

// logDamage logs the lines that were left out.
func (g *gathering) logDamage() {
	run := &g.run
	if run.Damaged = g.damage.Lines; run.Damaged == 0 {
		return
	}
	if run.Ended == metrics.Never && run.Reason == Killed {
		run.Reason = damaged
	}
	run.Events = append(run.Events, metrics.LogEntry{At: max(0, run.Ended), Level: metrics.Warn, Text: g.damage.String()})
}
