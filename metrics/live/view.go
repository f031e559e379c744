// Package live shows a run while it is on: it folds the events of the run into snapshots.
package live

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/saturation"
)

// View watches a run and publishes snapshots of it. Its methods may be called from any goroutine; none of them
// waits for a reader.
type View struct {
	start time.Time

	sharing sync.Mutex       // held while a snapshot is made; taken before mu
	shared  []metrics.Window // windows of the last snapshot, guarded by sharing
	last    recent           // likewise

	news atomic.Bool   // somebody said what the last snapshot does not show
	wake chan struct{} // asks for a snapshot before its time

	judging sync.Mutex         // held while the answer is computed; taken before sharing
	room    saturation.Scratch // for judging, guarded by it
	setting sync.Mutex         // held while objectives are changed; taken before mu

	mu        sync.Mutex // guards everything below
	line      metrics.Timeline
	tokens    firstTokens
	lengths   metrics.LengthTally
	failures  metrics.FailureTally
	log       []metrics.LogEntry
	marks     []metrics.LogEntry // only ever appended to: snapshots share it
	flood     bool               // the last line of the log is a failed request
	state     metrics.State
	drainBy   time.Duration
	savePath  string
	saveErr   string
	report    *metrics.Report
	beside    beside
	restUntil time.Time // before which not to judge again
	ledger    ledger
	tracks    tracks
	ends      endpoints
}

// NewView returns a recorder for a run whose offset 0 is start.
func NewView(start time.Time, plan *metrics.Plan) *View {
	return &View{
		start: start, line: metrics.Timeline{Plan: plan, SLO: plan.Goodput}, state: metrics.Running, drainBy: metrics.Never,
		ledger: newLedger(mostJudged), wake: make(chan struct{}, 1),
	}
}

// Due hears that a request was handed to the limiter.
func (r *View) Due(q *metrics.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.Due(q)
	r.tracks.due(q)
	if r.ledger.due(r.line.Plan, q) {
		r.note(metrics.LogEntry{At: q.Due, Level: metrics.Info, Text: fmt.Sprintf("the live answer is that of the first %d requests; the report will be of all", r.ledger.most)})
	}
}

// Sent hears that the first byte of a request went out.
func (r *View) Sent(q *metrics.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.Sent(q)
	r.ledger.sent(r.line.Plan, q)
	r.tracks.sent(q)
	r.ends.sent(q, r.line.Plan.Warming(q))
}

// Chunk hears of the chunk that was added to q last. It is the hot path: it allocates nothing once the histograms have
// reached their width.
func (r *View) Chunk(q *metrics.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.Chunk(q, len(q.Chunks)-1)
	if len(q.Chunks) == 1 {
		r.tracks.first(q)
		r.ends.first(q, r.line.Plan.Warming(q))
	}
	if k := trackOf(q); k != nil && (k.slot || k == r.tracks.opened) {
		k.follow(q)
	}
}

// Done hears that a request ended. Viewers may be shown it later, so nobody may change it any more.
func (r *View) Done(q *metrics.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.Done(q)
	r.ledger.done(r.line.Plan, r.line.SLO, q)
	r.ends.done(q, r.line.Plan.Warming(q))
	r.tracks.done(q)
	q.Piece = nil // its buffer is somebody else's next
	if q.OK() && !r.line.Plan.Warming(q) {
		if r.tokens.later(q) {
			r.note(tokenAfterChunkEvent(q.Done))
		}
		r.lengths.Add(q)
		r.noteLengths(q.Done, false)
	}
	if q.Failure == "" || q.Failure == metrics.Cancelled {
		return
	}
	if !r.line.Plan.Warming(q) {
		r.failures.Add(q)
	}
	r.noteFailure(failureEvent(q))
}

// SetPhase says what the run is doing from now on.
func (r *View) SetPhase(p metrics.Phase) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news.Store(true)
	r.state, r.drainBy = p.State, p.DrainBy
}

// SetSaving says where the result goes.
func (r *View) SetSaving(s metrics.Saving) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news.Store(true)
	r.savePath, r.saveErr = s.Path, s.Problem
}

func (r *View) noteLengths(at time.Duration, over bool) {
	for _, e := range r.lengths.Events(r.line.Plan, at, over) {
		r.note(e)
	}
}

// Finish attaches the report; the run is over.
func (r *View) Finish(report *metrics.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news.Store(true)
	r.report, r.state, r.drainBy = report, metrics.Finished, metrics.Never
	if report != nil {
		if report.TokenAfterChunk() && !r.tokens.said {
			r.note(tokenAfterChunkEvent(report.Ended))
		}
		r.noteLengths(report.Ended, true)
		r.beside.answer, r.beside.levels = &report.Answer, report.Levels
	}
	select {
	case r.wake <- struct{}{}: // how it ended is shown at once
	default:
	}
}

// Take takes an event in. For a chunk it allocates nothing.
func (r *View) Take(e *event.Event) {
	switch e.Kind {
	case event.Chunk:
		r.Chunk(e.Request)
	case event.Due:
		r.Due(e.Request)
	case event.Sent:
		r.Sent(e.Request)
	case event.Done:
		r.Done(e.Request)
	case event.Fact:
		r.fact(e)
	}
}

func (r *View) fact(e *event.Event) {
	switch x := e.Value.(type) {
	case metrics.LogEntry:
		r.Log(x)
	case metrics.Steering:
		r.SetSteering(x)
	case metrics.Phase:
		r.SetPhase(x)
	case metrics.Saving:
		r.SetSaving(x)
	case metrics.Source:
		r.SetSource(x)
	case metrics.ClientSecond:
		r.Client(x)
	case metrics.ServerSecond:
		r.Server(x)
	case metrics.GPUSecond:
		r.GPUs(x)
	case event.Damage:
		r.Log(metrics.LogEntry{At: e.At, Level: metrics.Warn, Text: x.String()})
	}
}

// beside is what is known beside the requests.
type beside struct {
	server                               []metrics.ServerSecond // only ever appended to: snapshots share them
	gpus                                 []metrics.GPUSecond
	serverKind, serverAbsent, gpusAbsent string
	steering                             metrics.Steering
	sets                                 []metrics.LogEntry // those that set the load; only ever appended to
	answer                               *metrics.Answer
	levels                               []metrics.LoadLevel
	settled                              bool // nothing that comes can change the answer
}

// Counted completes the sample of a second with what was counted since the last one.
func (r *View) Counted(s metrics.ClientSecond) metrics.ClientSecond {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.Client.Complete(s)
}

// Client files the sample of a second.
func (r *View) Client(s metrics.ClientSecond) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.Client.File(s)
}

// Verdict on the client, of the whole run so far.
func (r *View) Verdict() metrics.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.Client.Verdict(r.line.Plan, &r.line.Histograms[metrics.ITL])
}

// Stamps is how the chunks were timed so far.
func (r *View) Stamps() metrics.Stamps {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.Client.Stamps()
}

// Server files a look at the server, with the client's own account of the time since the one before.
func (r *View) Server(s metrics.ServerSecond) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.First, s.Ended = r.line.Seen()
	r.beside.server = append(r.beside.server, s)
}

// Totals of the run so far.
func (r *View) Totals() metrics.Totals {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.Totals
}

// TemplateTokens is by how many tokens servers counted a prompt longer than it was counted before it was sent, on average over
// the successes, as a chat template makes it; 0 where that is not known.
func (r *View) TemplateTokens() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.TemplateTokens()
}

// SetSource says whether figures beside the requests can be had.
func (r *View) SetSource(s metrics.Source) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch s.Name {
	case metrics.ServerCounters:
		r.beside.serverKind, r.beside.serverAbsent = s.Kind, s.Absent
	case metrics.Accelerators:
		r.beside.gpusAbsent = s.Absent
	}
}

// GPUs files a look at the accelerators.
func (r *View) GPUs(s metrics.GPUSecond) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beside.gpus = append(r.beside.gpus, s)
}

// SetSteering says what load is in force from now on.
func (r *View) SetSteering(s metrics.Steering) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !sameBut(s, r.beside.steering) {
		r.news.Store(true)
	}
	r.beside.steering = s
}

// sameBut reports whether nothing but the load differs, which moves by itself.
func sameBut(s, o metrics.Steering) bool {
	s.Rate, s.Users = o.Rate, o.Users
	return s == o
}
