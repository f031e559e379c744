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

// job is a turn of a conversation, from the moment at which it is due, or waits for a slot to be due.
type job struct {
	*conversation
	turn    int
	parent  string           // id of the request that it waited for last, "" for none
	request *metrics.Request // nil until it is due
	atOnce  bool             // it had a slot when it was due
	ahead   *ahead           // nil where it is made when it is sent
}

// begin makes the request and reports it due.
func (j *job) begin(scheduled time.Duration) {
	e := j.engine
	q := j.newRequest(j.turn)
	q.Parent, q.Scheduled, q.Due = j.parent, scheduled, e.clock.Now()
	if j.turn == 0 {
		j.start = scheduled
		if e.limiter.backlog(1) != nil {
			// It is queued anyway, so the delay of the dispatcher does not count.
			q.Due = scheduled
		}
	}
	j.request = q
	e.sink.Take(&event.Event{At: q.Due, Kind: event.Due, Request: q})
}

// run sends the request. It has its slot.
func (j *job) run() {
	e := j.engine
	if j.turn == 0 && j.behind != nil {
		<-j.behind.begun // it was started before
		j.behind = nil
	}
	if j.request == nil {
		j.begin(e.clock.Now())
	}
	q := j.request
	if q.Admitted = e.clock.Now(); j.atOnce {
		q.Admitted = q.Due // what has passed is a delay of the client
	}
	if j.turn == 0 {
		if q.Admitted > q.Due {
			j.start = q.Admitted // it had to wait
		}
		j.enter()
	}
	q.Server = j.server
	if e.cutting.Err() != nil {
		j.cancel()
		return
	}
	with := j.carries()
	e.send(q, j.composed, j.ahead, e.sink, with)
	e.sink.Take(&event.Event{At: q.Done, Kind: event.Done, Request: q})
	j.ended(j, with)
}

// carried is what the next turns take over from a turn: the text of its answer, and a header of it, which is first that
// of the turn before; nil for what is not wanted.
type carried struct{ answer, echo *string }

// carries is what the turn of a job takes over, and has to give.
func (j *job) carries() (with carried) {
	if j.Replies {
		with.answer = new(string)
	}
	if j.engine.options.EchoHeader != "" {
		j.mu.Lock()
		echo := j.echo
		j.mu.Unlock()
		with.echo = &echo
	}
	return with
}

// cancel ends a job that is not sent.
func (j *job) cancel() {
	if q := j.request; q != nil {
		q.Failure, q.Done = metrics.Cancelled, j.engine.clock.Now()
		j.engine.sink.Take(&event.Event{At: q.Done, Kind: event.Done, Request: q})
	}
	j.ended(j, carried{})
}

// send performs one exchange, whose events go to a sink, of what was made ahead, nil for nothing. A prompt that cannot
// be made fails the request, and so does a panic, with a stack trace, so that the rest of the run is kept.
func (e *Engine) send(q *metrics.Request, make func() (*datasets.Turn, error), made *ahead, sink event.Sink,
	with carried) {
	fail := func(text string) {
		q.Failure, q.Error, q.Done = metrics.FailedInternal, protocol.Clip(text), e.clock.Now()
	}
	defer func() {
		if bug := recover(); bug != nil {
			fail(fmt.Sprintf("%v\n%s", bug, debug.Stack()))
		}
	}()
	turn, err := make()
	if err != nil {
		fail(err.Error())
		return
	}
	x := e.exchange(q, sink)
	x.carried = with
	x.perform(turn, made)
	if learn := turn.Prompt.Learn; learn != nil && q.OK() && q.InputSource == metrics.TokensFromUsage {
		learn(turn, q.InputTokens)
	}
}
