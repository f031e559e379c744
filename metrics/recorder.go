package metrics

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Recorder watches a run and publishes snapshots of it. Its methods may be called from any goroutine; none of them
// waits for a reader.
type Recorder struct {
	start time.Time

	sharing sync.Mutex // held while a snapshot is made; taken before mu
	shared  []Window   // windows of the last snapshot, guarded by sharing
	last    recent     // likewise

	news atomic.Bool   // somebody said what the last snapshot does not show
	wake chan struct{} // asks for a snapshot before its time

	judging sync.Mutex // held while the answer is computed; taken before sharing
	room    room       // for judging, guarded by it
	setting sync.Mutex // held while objectives are changed; taken before mu

	mu        sync.Mutex // guards everything below
	line      timeline
	guessed   int // requests in flight whose output tokens are counted by chunk
	tokens    firstTokens
	lengths   lengthTally
	failures  failures
	log       []LogEntry
	marks     []LogEntry // only ever appended to: snapshots share it
	flood     bool       // the last line of the log is a failed request
	state     State
	drainBy   time.Duration
	savePath  string
	saveErr   string
	report    *Report
	beside    beside
	restUntil time.Time // before which not to judge again
	ledger    ledger
	tracks    tracks
	ends      endpoints
}

// NewRecorder returns a recorder for a run whose offset 0 is start.
func NewRecorder(start time.Time, plan *Plan) *Recorder {
	return &Recorder{
		start: start, line: timeline{plan: plan, slo: plan.Goodput}, state: Running, drainBy: Never,
		ledger: newLedger(mostJudged), wake: make(chan struct{}, 1),
	}
}

// Due hears that a request was handed to the limiter.
func (r *Recorder) Due(q *Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.due(q)
	if r.ledger.due(r.line.plan, q) {
		r.note(LogEntry{At: q.Due, Level: Info, Text: fmt.Sprintf("the live answer is that of the first %d requests; the report will be of all", r.ledger.most)})
	}
	r.tracks.due(q)
}

// Sent hears that the first byte of a request went out.
func (r *Recorder) Sent(q *Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.sent(q)
	r.ledger.sent(r.line.plan, q)
	r.tracks.sent(q)
	r.ends.sent(q, r.line.plan.Warming(q))
}

// Chunk hears of the chunk that was added to q last. It is the hot path: it allocates nothing once the histograms have
// reached their width.
func (r *Recorder) Chunk(q *Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := q.live.outputTokens
	r.line.chunk(q, len(q.Chunks)-1)
	if before == 0 && q.live.outputTokens > 0 {
		r.guessed++
	}
	if len(q.Chunks) == 1 {
		r.tracks.first(q)
		r.ends.first(q, r.line.plan.Warming(q))
	}
	if k := q.live.track; k != nil && (q.live.followed || k == r.tracks.opened) {
		k.follow(q)
	}
}

// Done hears that a request ended. Viewers may be shown it later, so nobody may change it any more.
func (r *Recorder) Done(q *Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.live.outputTokens > 0 {
		r.guessed--
	}
	r.line.done(q)
	r.ledger.done(r.line.plan, r.line.slo, q)
	r.tracks.done(q)
	r.ends.done(q, r.line.plan.Warming(q))
	q.Piece = nil // its buffer is somebody else's next
	if q.OK() && !r.line.plan.Warming(q) {
		if r.tokens.later(q) {
			r.note(tokenAfterChunkEvent(q.Done))
		}
		r.lengths.add(q)
		r.noteLengths(q.Done, false)
	}
	if q.Failure == "" || q.Failure == Cancelled {
		return
	}
	if !r.line.plan.Warming(q) {
		r.failures.add(q)
	}
	r.noteFailure(failureEvent(q))
}

// SetPhase says what the run is doing from now on.
func (r *Recorder) SetPhase(p Phase) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news.Store(true)
	r.state, r.drainBy = p.State, p.DrainBy
}

// SetSaving says where the result goes.
func (r *Recorder) SetSaving(s Saving) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news.Store(true)
	r.savePath, r.saveErr = s.Path, s.Problem
}

func (r *Recorder) noteLengths(at time.Duration, over bool) {
	for _, e := range r.lengths.events(r.line.plan, at, over) {
		r.note(e)
	}
}

// Finish attaches the report; the run is over.
func (r *Recorder) Finish(report *Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news.Store(true)
	r.report, r.state, r.drainBy = report, Finished, Never
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
