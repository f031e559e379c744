package metrics

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	logKept   = 500
	marksKept = 1000
)

// Recorder watches a run and publishes snapshots of it. Its methods may be called from any goroutine; none of them
// waits for a reader.
type Recorder struct {
	start time.Time

	sharing sync.Mutex // held while a snapshot is made; taken before mu
	shared  []Window   // windows of the last snapshot, guarded by sharing

	mu       sync.Mutex // guards everything below
	line     timeline
	guessed  int // requests in flight whose output tokens are counted by chunk
	failures failures
	log      []Event
	marks    []Event // only ever appended to: snapshots share it
	flood    bool    // the last line of the log is a failed request
	state    State
	drainBy  time.Duration
	savePath string
	saveErr  string
	report   *Report
	beside   beside
}

// beside is what is known beside the requests.
type beside struct {
	server                               []ServerSecond // only ever appended to: snapshots share them
	gpus                                 []GPUSecond
	serverKind, serverAbsent, gpusAbsent string
	steering                             Steering
	answer                               *Answer
	levels                               []LoadLevel
}

// NewRecorder returns a recorder for a run whose offset 0 is start.
func NewRecorder(start time.Time, plan *Plan) *Recorder {
	return &Recorder{start: start, line: timeline{plan: plan}, state: Running, drainBy: Never}
}

// Due hears that a request was handed to the limiter.
func (r *Recorder) Due(q *Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.due(q)
}

// Sent hears that the first byte of a request went out.
func (r *Recorder) Sent(q *Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.sent(q)
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
}

// Done hears that a request ended.
func (r *Recorder) Done(q *Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.live.outputTokens > 0 {
		r.guessed--
	}
	r.line.done(q)
	if q.Failure == "" || q.Failure == Cancelled {
		return
	}
	if !r.line.plan.Warming(q) {
		r.failures.add(q)
	}
	r.noteFailure(failureEvent(q))
}

func failureEvent(q *Request) Event {
	what := string(q.Failure)
	if q.Failure == FailedStatus {
		what = fmt.Sprintf("HTTP %d", q.Status)
	}
	text := fmt.Sprintf("request %d: %s", q.Index, what)
	if q.Sent != Never {
		text += fmt.Sprintf(" after %s", (q.Done - q.Sent).Round(time.Millisecond))
	}
	if q.Error != "" {
		text += ": " + q.Error
	}
	return Event{At: q.Done, Level: Error, Text: text}
}

// Client files the sample of a second. It returns the sample completed with what the recorder counted since the last one.
func (r *Recorder) Client(s ClientSecond) ClientSecond {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.client.sample(s)
}

// Verdict on the client, of the whole run so far.
func (r *Recorder) Verdict() Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.client.verdict(r.line.plan, r.line.client.timed(), &r.line.itl)
}

// Stamps is how the chunks were timed so far.
func (r *Recorder) Stamps() Stamps {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.client.timed()
}

// Log adds an event to the log.
func (r *Recorder) Log(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(e)
}

// noteFailure makes one line with a count of a flood of failures, so that it cannot push the rest out of the log.
func (r *Recorder) noteFailure(e Event) {
	if n := len(r.log); n > 0 && r.flood && e.At-r.log[n-1].At < time.Second {
		last := &r.log[n-1]
		last.Count = max(last.Count, 1) + 1
		return
	}
	r.note(e)
	r.flood = true
}

// note keeps the newest events, and the marks of the first ones that have one.
func (r *Recorder) note(e Event) {
	r.flood = false
	if e.Mark != "" && len(r.marks) < marksKept {
		r.marks = append(r.marks, e)
	}
	r.log = append(r.log, e)
	if len(r.log) > 2*logKept {
		r.log = slices.Clone(r.log[len(r.log)-logKept:])
	}
}

// SetState says what the run is doing now; drainBy is when a drain ends by force, Never otherwise.
func (r *Recorder) SetState(s State, drainBy time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.drainBy = s, drainBy
}

// SetSaving says where the result goes and what went wrong with it, "" for nothing.
func (r *Recorder) SetSaving(path, problem string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.savePath, r.saveErr = path, problem
}

// Finish attaches the report; the run is over.
func (r *Recorder) Finish(report *Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report, r.state, r.drainBy = report, Finished, Never
}

// Snapshot returns the run so far.
func (r *Recorder) Snapshot() Snapshot {
	r.sharing.Lock()
	defer r.sharing.Unlock()
	s, same, changed := r.look()
	// The bulk of a long run is copied here, where nobody waits.
	r.shared = slices.Concat(r.shared[:same], changed)
	s.Windows = r.shared
	return s
}

// look takes the snapshot but for the windows that did not change since the last one.
func (r *Recorder) look() (s Snapshot, same int, changed []Window) {
	now := time.Since(r.start)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report != nil {
		now = r.report.Ended
	}
	l := &r.line
	same, changed = l.share(now, r.shared)
	s = Snapshot{
		At: now, Plan: l.plan, State: r.state, DrainBy: r.drainBy, Totals: l.totals,
		Held: l.held, Waiting: l.waiting, Running: l.runs, OutputExact: r.guessed == 0,
		TTFT: l.ttft.share(), TPOT: l.tpot.share(), ITL: l.itl.share(), E2EL: l.e2el.share(),
		ClientQueue: l.queue.share(), E2ELQueued: l.queued.share(), Failures: r.failures.counts(),
		Log:     slices.Clone(r.log[max(0, len(r.log)-logKept):]),
		Marks:   r.marks[:len(r.marks):len(r.marks)],
		Client:  l.client.seconds[:len(l.client.seconds):len(l.client.seconds)],
		Verdict: l.client.verdict(l.plan, l.client.timed(), &l.itl), Recent: l.client.recent(l.plan, &l.itl),
		SavePath: r.savePath, SaveError: r.saveErr, Report: r.report,
	}
	b := &r.beside
	s.Server, s.GPUs = b.server[:len(b.server):len(b.server)], b.gpus[:len(b.gpus):len(b.gpus)]
	s.ServerKind, s.ServerAbsent, s.GPUsAbsent = b.serverKind, b.serverAbsent, b.gpusAbsent
	s.Steering, s.Objectives, s.Answer, s.Levels = b.steering, l.plan.Goodput, b.answer, b.levels
	return s, same, changed
}

// Server files a look at the server.
func (r *Recorder) Server(s ServerSecond) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beside.server = append(r.beside.server, s)
}

// ServerIs says what kind of server it is, and why it says nothing, or nothing more; "" for neither.
func (r *Recorder) ServerIs(kind, absent string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beside.serverKind, r.beside.serverAbsent = kind, absent
}

// GPUs files a look at the accelerators.
func (r *Recorder) GPUs(s GPUSecond) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beside.gpus = append(r.beside.gpus, s)
}

// GPUsAre says why nothing, or nothing more, is known of the accelerators; "" for no reason.
func (r *Recorder) GPUsAre(absent string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beside.gpusAbsent = absent
}

// SetSteering says what load is in force from now on.
func (r *Recorder) SetSteering(s Steering) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beside.steering = s
}

// SetObjectives changes the objectives. Requests that are over are judged anew.
func (r *Recorder) SetObjectives(slo SLO) {}

// Look says what a viewer wants to see of single requests from now on.
func (r *Recorder) Look(l Look) {}

// Judge computes the answer of the run so far, for snapshots from now on. It takes as long as a report's, beside the lock
// that chunks wait for, so it should not be called more often than every other second.
func (r *Recorder) Judge() {}

// Publish sends a snapshot now and then every so often until ctx ends, then a last one, and closes the channel. The
// channel holds one: a newer snapshot replaces one that nobody took, and nobody ever waits for a viewer.
func (r *Recorder) Publish(ctx context.Context, every time.Duration) <-chan Snapshot {
	out := make(chan Snapshot, 1)
	put := func() {
		s := r.Snapshot()
		select {
		case <-out:
		default:
		}
		out <- s // only this goroutine sends, so there is room
	}
	put()
	go func() {
		defer close(out)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				put()
				return
			case <-tick.C:
				put()
			}
		}
	}()
	return out
}
