package loadgen

import (
	"fmt"
	"runtime/debug"
	"time"

	"benchtop/datasets"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// job is a conversation on its way. It keeps its slot until its last turn is over.
type job struct {
	engine       *Engine
	conversation datasets.Conversation
	number       int              // of the conversation
	index        int              // of its first request
	models       []string         // one for each turn; nil where all requests ask for the same
	first        *metrics.Request // nil until it is due
	begun        chan struct{}    // closed when it has its slot and runs
}

// begin makes the first request and reports it due.
func (j *job) begin(scheduled time.Duration) {
	e := j.engine
	j.first = j.request(0)
	j.first.Scheduled, j.first.Due = scheduled, e.clock.Now()
	if e.limiter.backlog(1) != nil {
		// It will have to wait anyway, so a dispatcher that was kept waiting itself does not matter.
		j.first.Due = scheduled
	}
	e.sink.Take(&event.Event{At: j.first.Due, Kind: event.Due, Request: j.first})
}

func (j *job) request(turn int) *metrics.Request {
	t := &j.conversation.Turns[turn]
	q := metrics.NewRequest(j.index + turn)
	q.Conversation, q.Turn, q.ID = j.number, turn, j.conversation.ID
	q.InputTokens, q.InputSource, q.DatasetTokens = t.InputTokens, j.engine.options.InputSource, t.InputTokens
	q.MaxTokens, _ = j.engine.encoder.length(t)
	q.Inputs = len(t.Batch)
	if j.models != nil {
		q.Model = j.models[turn]
	}
	return &q
}

// run walks the turns. A turn that fails ends the conversation: what follows it could not be asked the same way.
func (j *job) run() {
	e := j.engine
	close(j.begun)
	if j.first == nil {
		j.begin(e.clock.Now())
	}
	q := j.first
	for turn := range j.conversation.Turns {
		if turn > 0 {
			now := e.clock.Now()
			q = j.request(turn)
			q.Scheduled, q.Due = now, now
			e.sink.Take(&event.Event{At: q.Due, Kind: event.Due, Request: q})
		}
		q.Admitted = e.clock.Now()
		if e.aborted.Load() {
			j.end(q)
			return
		}
		e.send(q, &j.conversation.Turns[turn], e.sink)
		e.sink.Take(&event.Event{At: q.Done, Kind: event.Done, Request: q})
		if q.Failure != "" || e.stopping.Err() != nil {
			return
		}
	}
}

// cancel ends a job that never got a slot.
func (j *job) cancel() {
	if j.first != nil {
		j.end(j.first)
	}
}

func (j *job) end(q *metrics.Request) {
	q.Failure, q.Done = metrics.Cancelled, j.engine.clock.Now()
	j.engine.sink.Take(&event.Event{At: q.Done, Kind: event.Done, Request: q})
}

// send performs one exchange and tells a sink of what is sent and comes back. A panic on the way is a bug of ours, but
// no reason to lose what else the run measured: it fails the request and says where it happened.
func (e *Engine) send(q *metrics.Request, turn *datasets.Turn, sink event.Sink) {
	defer func() {
		if bug := recover(); bug != nil {
			q.Failure, q.Error = metrics.FailedInternal, protocol.Clip(fmt.Sprintf("%v\n%s", bug, debug.Stack()))
			q.Done = e.clock.Now()
		}
	}()
	e.exchange(q, sink).perform(turn)
}
