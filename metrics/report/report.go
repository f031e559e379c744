// Package report folds the events of a run into its report. It has no other input, so that the events of a run that has
// just ended and those of its journal give the same report. Fold does so while the run is on.
package report

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Why a run has no known end.
const (
	// Killed is the reason of a run whose events do not end with a metrics.End.
	Killed = "its journal is truncated, as after a kill or while the run is in progress"
	// damaged is the reason of a run whose end may be among the damaged lines.
	damaged = "the journal is damaged"
)

// Of computes the report of a run. It is pure: the same events give the same report, in any order of the requests. It
// ranges over the events twice and for a few requests again, holding a few numbers of each request, unless the plan
// asks for detail. An error of the events comes with the report of the events before it; before the plan there is no
// report.
func Of(events event.Events) (metrics.Report, error) {
	return From(func(event.Pick) event.Events { return events })
}

// From is Of for events of which a part can be picked, so that the chunks of most requests are read once.
func From(source event.Source) (metrics.Report, error) {
	origin := noOrigin
	g, err := gather(source(event.Pick{Plain: true}), func(plan *metrics.Plan, q *metrics.Request) {
		origin = earlier(origin, plan, q)
	})
	if err != nil {
		return metrics.Report{}, err
	}
	return sumUp(g.requests(source), g.run, origin)
}

// Gather returns the facts of a run, and its requests in the order of their ends, with later counts of their tokens. It
// ranges over the events once for the facts, and again for each range over the requests. It returns an error of the
// events before the plan; a later error comes from the requests.
func Gather(events event.Events) (metrics.Run, iter.Seq2[metrics.Request, error], error) {
	g, err := gather(events, func(*metrics.Plan, *metrics.Request) {})
	if err != nil {
		return metrics.Run{}, nil, err
	}
	return g.run, g.requests(func(event.Pick) event.Events { return events })(event.Pick{}), nil
}

// gather collects the facts, and shows the requests before later counts of their tokens.
func gather(events event.Events, show func(*metrics.Plan, *metrics.Request)) (collection, error) {
	g := collection{run: metrics.Run{End: metrics.End{Ended: metrics.Never, Reason: Killed}}}
	planned := false
	for e, err := range events {
		switch _, plan := e.Value.(metrics.Plan); {
		case err != nil && !planned:
			return collection{}, err
		case err != nil:
			g.run.Reason = damaged
		case e.Kind == event.Fact:
			planned = planned || plan
			g.add(e.Value)
		case e.Kind == event.Done:
			show(&g.run.Plan, e.Request)
		}
	}
	g.run.Client = g.run.Plan.InOrder(g.run.Client)
	g.logDamage()
	return g, nil
}

// requests are those of the run, with later counts of their tokens.
func (g *collection) requests(source event.Source) requests {
	return func(some event.Pick) iter.Seq2[metrics.Request, error] {
		return func(yield func(metrics.Request, error) bool) {
			for q, err := range event.Requests(source(some)) {
				if r, ok := g.recounts[q.Index]; ok && err == nil {
					q.OutputTokens, q.OutputSource = r.Tokens, r.Source
				}
				if !yield(q, err) {
					return
				}
			}
		}
	}
}

// ahead reads requests on a goroutine of its own, some of them before they are needed, and always to their end.
func ahead(all iter.Seq2[metrics.Request, error]) iter.Seq2[metrics.Request, error] {
	type read struct {
		metrics.Request
		err error
	}
	const many, batches = 32, 4
	return func(yield func(metrics.Request, error) bool) {
		out := make(chan []read, batches)
		var bug any // told where it can be caught
		go func() {
			defer close(out)
			defer func() { bug = recover() }()
			var batch []read
			for q, err := range all {
				if batch = append(batch, read{q, err}); len(batch) == many {
					out <- batch
					batch = make([]read, 0, many)
				}
			}
			out <- batch
		}()
		more := true
		for batch := range out {
			for i := 0; i < len(batch) && more; i++ {
				more = yield(batch[i].Request, batch[i].err)
			}
		}
		if bug != nil {
			panic(bug)
		}
	}
}

// collection holds the facts of the events so far.
type collection struct {
	run      metrics.Run
	recounts map[int]metrics.Recount // by the index of the request
	damage   event.Damage
}

// mostWorkers bounds the machines of a run.
const mostWorkers = 10_000

// add files a fact.
func (g *collection) add(fact any) {
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
	case metrics.Worker:
		if len(run.Workers) < mostWorkers {
			run.Workers = append(run.Workers, x)
		}
	case metrics.AnswerCheck:
		if run.Checks == nil {
			run.Checks = new(metrics.AnswerChecks)
		}
		run.Checks.Take(&x)
	case metrics.End:
		run.End = x
	case event.Damage:
		g.damage.Add(x)
	default:
		run.Telemetry.Take(fact)
	}
}

// logDamage logs the lines that were left out.
func (g *collection) logDamage() {
	run := &g.run
	if run.Damaged = g.damage.Lines; run.Damaged == 0 {
		return
	}
	if run.Ended == metrics.Never && run.Reason == Killed {
		run.Reason = damaged
	}
	e := metrics.LogEntry{At: max(0, run.Ended), Level: metrics.Warn, Text: g.damage.String()}
	run.Events = append(run.Events, e)
}

// conclude fills in the conclusion. The gates must be known before.
func conclude(r *metrics.Report) {
	r.Conclusion, r.Trouble = metrics.Fine, trouble(r)
	if r.Interrupted != nil {
		r.Conclusion = metrics.ConclusionOf(r.Interrupted.Reason)
	}
	if r.Trouble != "" {
		r.Conclusion = max(r.Conclusion, metrics.RunFailed)
	}
	if slices.ContainsFunc(r.Gates, func(g metrics.GateResult) bool { return g.Missed }) {
		r.Conclusion = max(r.Conclusion, metrics.GateMissed)
	}
}

// trouble is the reason for which the requests make the run a failure, "" for none.
func trouble(r *metrics.Report) string {
	reason := cmp.Or(r.Interrupted, &metrics.Interruption{}).Reason
	stopped := reason == metrics.StoppedByUser
	switch all := r.Counts.Ended(); {
	case metrics.ConclusionOf(reason) == metrics.RunFailed:
		return reason
	case r.Completed+r.Failed == 0 && r.Abandoned > 0 && !stopped:
		return "no request succeeded: all users left"
	case r.Completed == 0 && (r.Failed > 0 || !stopped): // a user may stop a run before its first answer
		return "no request succeeded"
	case r.ServerGone():
		const gone = "the server did not answer at the end: the last %d requests failed to connect or were reset"
		return fmt.Sprintf(gone, r.Unreached)
	case 2*r.Failed > all:
		return fmt.Sprintf("%d of %d requests failed", r.Failed, all)
	}
	return ""
}

// serverReport sums up the samples of the server after the warm-up of a run with a known end; nil without samples.
func serverReport(run *metrics.Run, all samples, ended time.Duration) *metrics.ServerReport {
	if len(all) == 0 && run.ServerAbsent == "" {
		return nil
	}
	r := metrics.ServerOver(all.within(ended), run.Plan.Warmup, math.MaxInt64)
	r.Kind, r.Absent, r.Seconds = run.ServerKind, run.ServerAbsent, all
	if run.Plan.Whole { // the client knows no TTFT to compare with
		r.First = metrics.TTFTParts{}
	}
	return &r
}

// samples of the server, in order of time.
type samples []metrics.ServerSecond

// samplesOf are the samples of a run, without the client's own account.
func samplesOf(seconds []metrics.ServerSecond) samples {
	l := slices.Clone(seconds)
	slices.SortStableFunc(l, func(a, b metrics.ServerSecond) int { return cmp.Compare(a.At, b.At) })
	for i := range l {
		l[i].First, l[i].Ended = metrics.TTFTParts{}, metrics.TTFTParts{}
	}
	return l
}

// add counts a request in the samples that cover its first chunk and its end.
func (l samples) add(q *metrics.Request) {
	if s := l.of(q.FirstChunk); s != nil {
		s.First.Count(q, 1)
	}
	if s := l.of(q.Done); s != nil && q.OK() && q.FirstChunk != metrics.Never {
		s.Ended.Count(q, 1)
	}
}

// of is the sample that covers a moment, nil for none.
func (l samples) of(at time.Duration) *metrics.ServerSecond {
	if at == metrics.Never {
		return nil
	}
	i := sort.Search(len(l), func(i int) bool { return l[i].At >= at })
	if i == len(l) || at <= l[i].At-l[i].Took {
		return nil
	}
	return &l[i]
}

// within removes the gauges of samples after the end, since those show a server without the load.
func (l samples) within(ended time.Duration) []metrics.ServerSecond {
	n := sort.Search(len(l), func(i int) bool { return l[i].At > ended })
	out := slices.Clone(l)
	for i := range out[n:] {
		s := &out[n+i]
		s.Running, s.Waiting, s.KVUsage = metrics.Unsaid(), metrics.Unsaid(), metrics.Unsaid()
	}
	return out
}

// gpuReport sums up the samples of the accelerators after the warm-up; nil without samples. The work is that of the
// successes, without its price.
func gpuReport(run *metrics.Run, work metrics.GPUWork) *metrics.GPUReport {
	if len(run.GPUs) == 0 && run.GPUsAbsent == "" {
		return nil
	}
	seconds := slices.Clone(run.GPUs)
	slices.SortStableFunc(seconds, func(a, b metrics.GPUSecond) int { return cmp.Compare(a.At, b.At) })
	work.Price = run.Plan.GPUPrice
	r := metrics.GPUsOver(seconds, run.Plan.Warmup, math.MaxInt64, work)
	r.Absent, r.Seconds = run.GPUsAbsent, seconds
	return &r
}
