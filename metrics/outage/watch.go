package outage

import (
	"fmt"
	"time"

	"benchtop/metrics"
)

// Watch detects that the server does not answer any more, while the run is on. Its moments are those of events and
// snapshots, so that a replay finds the same outages.
type Watch struct {
	note     func(at time.Duration, level metrics.Level, text string)
	at       time.Duration // of the last event or snapshot
	answered bool
	inFlight int
	quiet    time.Duration // the last sign of life, or a later moment from which on the server owes one
	longest  time.Duration // silence between two signs of life so far
	failed   int           // requests without an answer since the last sign of life
	failing  time.Duration // the first of them
	refused  bool          // one of them was refused a connection
	reason   string        // of the last of them
	began    time.Duration // of the outage, metrics.Never for none
	ended    time.Duration // of the same until it is logged, metrics.Never before
}

// NewWatch logs outages by note.
func NewWatch(note func(at time.Duration, level metrics.Level, text string)) Watch {
	return Watch{note: note, began: metrics.Never, ended: metrics.Never}
}

// Now is the outage of this moment, nil for none.
func (o *Watch) Now() *metrics.Outage {
	if o.began == metrics.Never || o.ended != metrics.Never {
		return nil
	}
	return &metrics.Outage{Since: o.began, Why: o.why()}
}

func (o *Watch) why() string {
	switch {
	case o.failed > 0:
		return o.reason
	case o.inFlight == 1:
		return "no data on the open connection"
	}
	return fmt.Sprintf("no data on %d open connections", o.inFlight)
}

// Quiet is the last sign of life, or a later moment from which on the server owes one.
func (o *Watch) Quiet() time.Duration { return o.quiet }

// Pass goes on to a moment of the run, until which an outage may have begun.
func (o *Watch) Pass(at time.Duration) {
	if at <= o.at {
		return
	}
	before := o.at
	if o.at = at; o.ended != metrics.Never && at >= o.ended+settling {
		o.Over()
	}
	if o.began != metrics.Never || o.inFlight == 0 && o.failed == 0 {
		return
	}
	if at-before > clientSilence {
		o.quiet, o.failing = at, at
		return
	}
	since, limit := o.quiet, max(silentFor, longer*o.longest)
	if o.inFlight < few {
		limit = max(limit, fewSilentFor)
	}
	begins := o.answered && o.inFlight > 0 && at >= since+limit
	if fails := o.refused || o.failed >= fewestNow; fails && at >= o.failing+silentFor {
		since, limit, begins = o.failing, silentFor, true
	}
	if begins {
		o.began = since
		o.note(max(before, since+limit), metrics.Error, "server not answering: "+o.why())
	}
}

// Sent counts a request. A server that was idle owes an answer from now on.
func (o *Watch) Sent(at time.Duration) {
	if o.inFlight == 0 && o.failed == 0 {
		o.quiet = max(o.quiet, at)
	}
	o.inFlight++
}

// Answers takes a sign of life, which ends an outage.
func (o *Watch) Answers(at time.Duration) {
	if at > o.quiet {
		o.longest = max(o.longest, min(at-o.quiet, mostSilence))
		o.quiet = at
	}
	o.answered = true
	if o.failed > 0 && at >= o.failing {
		o.failed, o.refused = 0, false
	}
	if o.began != metrics.Never && at > o.began && (o.ended == metrics.Never || at < o.ended) {
		o.ended = at
	}
}

// Over logs the end of an outage.
func (o *Watch) Over() {
	if o.ended != metrics.Never {
		o.note(o.ended, metrics.Info, "server answers again after "+(o.ended-o.began).Round(time.Second).String())
		o.began, o.ended = metrics.Never, metrics.Never
	}
}

// Done counts the end of a request.
func (o *Watch) Done(q *metrics.Request) {
	if q.Sent != metrics.Never {
		o.inFlight--
	}
	switch {
	case q.Sent != metrics.Never && q.Reached():
		o.Answers(q.Done)
	case unanswered(q):
		if o.failed++; o.failed == 1 {
			o.failing = q.Done
		}
		o.reason = reason(q)
		o.refused = o.refused || q.Failure == metrics.FailedConnect && o.reason == metrics.ConnectionRefused
	}
}

// reason describes in a few words how a request got no answer.
func reason(q *metrics.Request) string {
	switch words := q.ConnectionError(); {
	case words != "":
		return words
	case q.Failure == metrics.FailedConnect:
		return "no connection"
	case q.Failure == metrics.FailedReset:
		return "connection closed"
	}
	return "requests time out"
}
