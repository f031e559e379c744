package report

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// Fold sums up the requests of a run while it is on: a sink of event.Sent and event.Done. It assumes what is known at
// the end only: that the first request succeeds, and that neither the objectives nor counts of tokens change.
type Fold struct {
	origin atomic.Int64 // the earliest start, in nanoseconds, until the first success
	fixed  atomic.Bool
	broken atomic.Bool // by a bug

	mu    sync.Mutex // guards the following
	ended []*metrics.Request
	busy  bool // a goroutine sums them up

	summing sync.Mutex // taken before mu
	sums    *summary   // guarded by summing
}

// foldAhead is the number of requests that wait to be summed up, from which on those that end do it themselves.
const foldAhead = 64

// NewFold begins the report of a run.
func NewFold(plan *metrics.Plan) *Fold {
	f := &Fold{sums: newSummary(plan, plan.Goodput, noOrigin)}
	f.origin.Store(int64(noOrigin))
	return f
}

// Take hands a request that ended to a goroutine, since summing up takes as long as dozens of chunks.
func (f *Fold) Take(e *event.Event) {
	switch e.Kind {
	case event.Sent:
		for was := f.origin.Load(); !f.fixed.Load() && int64(e.Request.Sent) < was &&
			!f.sums.run.Plan.Warming(e.Request) && !f.origin.CompareAndSwap(was, int64(e.Request.Sent)); {
			was = f.origin.Load()
		}
	case event.Done:
		f.mu.Lock()
		f.ended = append(f.ended, e.Request)
		idle, full := !f.busy, len(f.ended) > foldAhead
		f.busy = true
		f.mu.Unlock()
		if idle {
			go f.sumUp()
		} else if full {
			f.sumUpOne()
		}
	}
}

func (f *Fold) sumUp() {
	for f.sumUpOne() {
	}
}

// sumUpOne is false where there is none.
func (f *Fold) sumUpOne() bool {
	f.summing.Lock()
	defer f.summing.Unlock()
	f.mu.Lock()
	if f.busy = len(f.ended) > 0; !f.busy {
		f.mu.Unlock()
		return false
	}
	q := f.ended[0]
	f.ended[0], f.ended = nil, f.ended[1:]
	f.mu.Unlock()
	f.sum(q)
	return true
}

// sum adds a request. A bug must not end the run: the report of its journal meets it again, when that has all.
func (f *Fold) sum(q *metrics.Request) {
	defer func() {
		if recover() != nil {
			f.broken.Store(true)
		}
	}()
	if q.OK() && !f.fixed.Load() && !f.sums.run.Plan.Warming(q) {
		f.fixed.Store(true)
		f.sums.accumulator.origin = time.Duration(f.origin.Load()).Seconds()
	}
	f.sums.request = *q
	asInJournal(&f.sums.request)
	f.sums.add(&f.sums.request)
	f.sums.line.Pack()
}

// asInJournal removes what a journal does not keep.
func asInJournal(q *metrics.Request) {
	q.ReadDelay = metrics.Never
	for _, s := range []*string{&q.Error, &q.Class, &q.Model, &q.Finish, &q.Text, &q.Judgement.Wrong,
		&q.Judgement.Detail, &q.Garbage.Reason, &q.Garbage.Detail} {
		if !utf8.ValidString(*s) {
			*s = string([]rune(*s))
		}
	}
}

// Report is the report of the run, which has ended, as From gives it. Its facts come from the source, and so does all
// where an assumption does not hold.
func (f *Fold) Report(source event.Source) (metrics.Report, error) {
	f.sumUp()
	f.summing.Lock()
	defer f.summing.Unlock()
	if s := f.sums; !f.broken.Load() {
		origin := noOrigin
		for q := range s.digests.all() {
			origin = earlier(origin, &s.run.Plan, &q.Request)
		}
		none := event.Pick{Only: func(int) bool { return false }}
		g, err := gather(source(none), func(*metrics.Plan, *metrics.Request) {})
		slo := lastObjectives(&g.run.Plan, g.run.Events)
		if err == nil && g.run.Ended != metrics.Never && g.run.Damaged == 0 && len(g.recounts) == 0 &&
			slices.Equal(slo, s.report.Objectives) && (origin == noOrigin || origin.Seconds() == s.accumulator.origin) {
			s.report.Objectives = slo
			return s.finish(g.run, g.requests(source)), nil
		}
	}
	return From(source)
}
