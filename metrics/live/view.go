// Package live folds the events of a run into snapshots while the run is on.
package live

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/judge"
	"benchtop/metrics/outage"
)

// View is the live view of a run and a sink of its events. Its methods may be called from any goroutine. None of them
// waits for a reader.
type View struct {
	start time.Time

	sharing sync.Mutex        // held while a snapshot is made; taken before mu
	shared  []*metrics.Window // windows of the last snapshot, guarded by sharing
	minutes metrics.Minutes   // likewise
	last    recent            // likewise

	news atomic.Bool   // the last snapshot lacks a fact
	wake chan struct{} // requests a snapshot before its time

	judging sync.Mutex    // held while the answer is computed; taken before sharing
	scratch judge.Scratch // for judging, guarded by it
	setting sync.Mutex    // held while objectives are changed; taken before mu

	mu        sync.Mutex // guards everything below
	line      metrics.Timeline
	shown     metrics.Snapshot // filled by facts; its lists only grow, since snapshots share them
	sets      []metrics.LogEntry
	kinds     map[logKind]int // the line of the log of each kind of failure, counted from the first line of the run
	dropped   int             // lines before those of the log
	tokens    firstTokens
	lengths   metrics.LengthAccumulator
	failures  metrics.FailureAccumulator
	garbage   metrics.WrongAccumulator
	settled   bool      // no further event can change the answer
	restUntil time.Time // no judgement before this time
	index     requestIndex
	tracks    tracks
	sessions  sessions
	outages   outage.Watch
	search    *metrics.Search
}

// NewView returns the view of a run whose offset 0 is start.
func NewView(start time.Time, plan *metrics.Plan) *View {
	v := &View{
		start: start, wake: make(chan struct{}, 1), line: metrics.Timeline{Plan: plan, SLO: plan.Goodput},
		shown: metrics.Snapshot{Plan: plan, State: metrics.Running, DrainBy: metrics.Never},
		index: newRequestIndex(mostJudged), kinds: map[logKind]int{},
	}
	v.outages = outage.NewWatch(func(at time.Duration, level metrics.Level, text string) {
		v.log(at, level, text)
		v.news.Store(true)
	})
	return v
}

// Take files an event. Chunks are the hot path: they allocate nothing once the histograms have reached their width.
func (v *View) Take(e *event.Event) {
	if e.Kind == event.Fact {
		v.fact(e.At, e.Value)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e.Kind {
	case event.Chunk:
		v.chunk(e.Request)
	case event.Due:
		v.due(e.Request)
	case event.Sent:
		v.sent(e.Request)
	case event.Done:
		v.done(e.Request)
	}
}

func (v *View) due(q *metrics.Request) {
	v.outages.Pass(q.Due)
	v.line.Due(q)
	v.tracks.due(q)
	v.sessions.due(v.line.Plan, q)
	if v.index.due(v.line.Plan, q) {
		const covered = "live SLO and saturation cover the first %d requests; the report covers all"
		v.log(q.Due, metrics.Info, fmt.Sprintf(covered, v.index.most))
	}
}

func (v *View) sent(q *metrics.Request) {
	v.outages.Pass(q.Sent)
	v.outages.Sent(q.Sent)
	v.line.Sent(q)
	v.index.sent(v.line.Plan, q)
	v.tracks.sent(q)
	v.sessions.sent(v.line.Plan, q)
}

func (v *View) chunk(q *metrics.Request) {
	v.outages.Pass(q.LastChunk)
	v.outages.Answers(q.LastChunk)
	v.line.Chunk(q, len(q.Chunks)-1)
	if len(q.Chunks) == 1 {
		v.tracks.first(v.line.Plan, v.line.SLO, q)
	}
	if k := trackOf(q); k != nil && (k.slot || k == v.tracks.opened) {
		k.follow(q)
	}
}

// done files the end of a request. Viewers may see the request later, so it must not change any more.
func (v *View) done(q *metrics.Request) {
	v.outages.Pass(q.Done)
	v.outages.Done(q)
	warming := v.line.Plan.Warming(q)
	v.line.Done(q)
	v.index.done(v.line.Plan, v.line.SLO, q)
	v.sessions.done(v.line.Plan, q)
	v.tracks.done(q)
	q.Piece, q.Prompt = nil, "" // the buffer is reused by another request, and few prompts are kept
	if q.OK() && !warming {
		if v.tokens.later(q) {
			v.log(q.Done, metrics.Warn, tokenAfterChunk)
		}
		v.lengths.Add(q, v.line.Plan.Context)
		v.garbage.Add(q.Index, q.Garbage.Reason, q.Garbage.Detail)
		v.noteLengths(q.Done, false)
	}
	if q.Failure == "" || q.Failure == metrics.Cancelled || q.Failure == metrics.Abandoned {
		return
	}
	if !warming {
		v.failures.Add(q)
	}
	v.noteFailure(q)
}

// fact files a fact. News is in the next snapshot, however soon that is taken.
func (v *View) fact(at time.Duration, fact any) {
	if x, ok := fact.(metrics.LogEntry); ok && x.Objectives != nil {
		v.setObjectives(*x.Objectives)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.outages.Pass(at)
	s, news := &v.shown, true
	switch x := fact.(type) {
	case metrics.LogEntry:
		if v.line.Plan.Find != nil {
			v.search = v.search.Take(&x)
		}
		if (x.Set != nil || x.Search != nil || x.Objectives != nil) && len(v.sets) < judge.MostSettings {
			v.sets = append(v.sets, x)
		}
		v.note(x)
	case event.Damage:
		v.log(at, metrics.Warn, x.String())
	case metrics.Steering:
		if s.Steering.Steerable && !x.Steerable {
			v.search.Stopped()
		}
		moved := x
		moved.Value = s.Steering.Value // a ramp moves the load without a setting
		s.Steering, news = x, moved != s.Steering
	case metrics.Phase:
		s.State, s.DrainBy = x.State, x.DrainBy
	case metrics.Saving:
		s.SavePath, s.SaveError = x.Path, x.Problem
	case metrics.ClientSecond:
		v.line.Client.File(x)
		news = false
	case metrics.AnswerCheck:
		var all metrics.AnswerChecks // another one, as snapshots have the last
		if s.Checks != nil {
			all = *s.Checks
		}
		all.Take(&x)
		s.Checks, news = &all, false
	case metrics.Worker:
		s.Workers, news = append(s.Workers, x), false
	case metrics.ServerSecond:
		x.First, x.Ended = v.line.TakeUnseen()
		s.Telemetry.Take(x)
		news = false
	default:
		s.Telemetry.Take(x)
		news = false
	}
	if news {
		v.news.Store(true)
	}
}

// Finish attaches the report; the run is over.
func (v *View) Finish(report *metrics.Report) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.news.Store(true)
	v.outages.Over()
	v.search.Stopped()
	v.shown.Report, v.shown.State, v.shown.DrainBy = report, metrics.Finished, metrics.Never
	if report != nil {
		if report.TokenAfterChunk() && !v.tokens.reported {
			v.log(report.Ended, metrics.Warn, tokenAfterChunk)
		}
		v.noteLengths(report.Ended, true)
		v.shown.Answer, v.shown.Levels = &report.Answer, report.Levels
	}
	v.hurry() // viewers see the end at once
}

// hurry requests a snapshot before its time, unless a request is pending.
func (v *View) hurry() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// read reads the timeline under its lock.
func read[T any](v *View, of func(*metrics.Timeline) T) T {
	v.mu.Lock()
	defer v.mu.Unlock()
	return of(&v.line)
}

// Counted completes the sample of a second with what was counted since the last one.
func (v *View) Counted(s metrics.ClientSecond) metrics.ClientSecond {
	return read(v, func(l *metrics.Timeline) metrics.ClientSecond { return l.Client.Complete(s) })
}

// Verdict on the client, of the whole run so far.
func (v *View) Verdict() metrics.Verdict { return read(v, (*metrics.Timeline).Verdict) }

// Stamps is how the chunks were timed so far.
func (v *View) Stamps() metrics.Stamps {
	return read(v, func(l *metrics.Timeline) metrics.Stamps { return l.Client.Stamps() })
}

// Totals of the run so far.
func (v *View) Totals() metrics.Counts {
	return read(v, func(l *metrics.Timeline) metrics.Counts { return l.Totals })
}

// InFlight are the requests that were sent and are not done.
func (v *View) InFlight() int {
	return read(v, func(l *metrics.Timeline) int { return l.Waiting + l.Running })
}

// TemplateTokens is that of the timeline.
func (v *View) TemplateTokens() float64 { return read(v, (*metrics.Timeline).TemplateTokens) }

const (
	logKept   = 500
	marksKept = 1000
)

// noteFailure logs a failure, or counts it in the line of its kind. A kind is also one of messages that differ in
// numbers and ids alone.
func (v *View) noteFailure(q *metrics.Request) {
	kind := logKind{q.Failure, q.Status, metrics.ErrorShape(q.Message())}
	if len(v.kinds) >= mostKinds {
		kind.shape = ""
	}
	log := v.shown.Log
	if i, ok := v.kinds[kind]; ok && i >= v.dropped {
		e := &log[i-v.dropped]
		e.Count, e.Last = max(e.Count, 1)+1, max(e.At, e.Last, q.Done)
		return
	}
	v.kinds[kind] = v.dropped + len(log)
	text := string(q.Failure)
	if q.Failure == metrics.FailedStatus {
		text = fmt.Sprintf("HTTP %d", q.Status)
	}
	if words := q.Message(); words != "" {
		text += ": " + words
	}
	v.log(q.Done, metrics.Error, text)
}

// logKind is what failures have in common that are one line of the log.
type logKind struct {
	kind   metrics.Failure
	status int
	shape  string
}

// mostKinds bounds the kinds with a message of their own.
const mostKinds = 200

// note keeps the newest entries, and the first entries with a mark.
func (v *View) note(e metrics.LogEntry) {
	s := &v.shown
	if e.Mark != "" && len(s.Marks) < marksKept {
		s.Marks = append(s.Marks, e)
	}
	if s.Log = append(s.Log, e); len(s.Log) > 2*logKept {
		v.dropped += len(s.Log) - logKept
		s.Log = slices.Clone(s.Log[len(s.Log)-logKept:])
	}
}

// log notes a line without a mark.
func (v *View) log(at time.Duration, level metrics.Level, text string) {
	v.note(metrics.LogEntry{At: at, Level: level, Text: text})
}

// noteLengths logs news about the lengths of answers.
func (v *View) noteLengths(at time.Duration, over bool) {
	for _, e := range v.lengths.Events(v.line.Plan, at, over) {
		v.note(e)
	}
}
