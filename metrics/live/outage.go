package live

import (
	"fmt"
	"time"

	"benchtop/metrics"
)

// The rule of an outage. A sign of life is any byte of an answer: a chunk, or the end of a request that the server answered, even if
// with an error or a part of an answer. An outage begins where there is none
//
//   - for three seconds since a connection was refused, or since the first of two requests in a row that got no answer, or
//   - while requests are in flight, for three seconds or twice the longest silence so far, whichever is longer, and for ten
//     seconds where they are few, because one long prompt may hold up all of them. The server must have answered before.
//
// It ends with the next sign of life. Silence while the client itself stood still does not count.
const (
	silentFor     = 3 * time.Second
	fewSilentFor  = 10 * time.Second
	few           = 4 // requests in flight
	longer        = 2 // times the longest silence
	mostSilence   = 30 * time.Second
	clientSilence = 2 * time.Second // between two events: a sample of the client comes every second
	settling      = time.Second     // until the end of an outage is logged: in a replay chunks may be out of order for less
)

// outages detects that the server does not answer any more. Its moments are those of events and snapshots, so that a replay finds the same
// outages.
type outages struct {
	note     func(metrics.LogEntry)
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

// outage is that of now, nil for none.
func (o *outages) outage() *metrics.Outage {
	if o.began == metrics.Never || o.ended != metrics.Never {
		return nil
	}
	return &metrics.Outage{Since: o.began, Why: o.why()}
}

func (o *outages) why() string {
	switch {
	case o.failed > 0:
		return o.reason
	case o.inFlight == 1:
		return "no data on the open connection"
	}
	return fmt.Sprintf("no data on %d open connections", o.inFlight)
}

// pass goes on to a moment of the run, until which an outage may have begun.
func (o *outages) pass(at time.Duration) {
	if at <= o.at {
		return
	}
	before := o.at
	if o.at = at; o.ended != metrics.Never && at >= o.ended+settling {
		o.over()
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
	if fails := o.refused || o.failed > 1; fails && at >= o.failing+silentFor {
		since, limit, begins = o.failing, silentFor, true
	}
	if begins {
		o.began = since
		o.note(metrics.LogEntry{At: max(before, since+limit), Level: metrics.Error, Text: "server not answering: " + o.why()})
	}
}

// sent counts a request. A server that was idle owes an answer from now on.
func (o *outages) sent(at time.Duration) {
	if o.inFlight == 0 && o.failed == 0 {
		o.quiet = max(o.quiet, at)
	}
	o.inFlight++
}

// answers takes a sign of life, which ends an outage.
func (o *outages) answers(at time.Duration) {
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

// over logs the end of an outage.
func (o *outages) over() {
	if o.ended != metrics.Never {
		o.note(metrics.LogEntry{At: o.ended, Level: metrics.Info, Text: fmt.Sprintf("server answers again after %s", (o.ended - o.began).Round(time.Second))})
		o.began, o.ended = metrics.Never, metrics.Never
	}
}

// done counts the end of a request.
func (o *outages) done(q *metrics.Request) {
	if q.Sent != metrics.Never {
		o.inFlight--
	}
	switch q.Failure {
	case metrics.Cancelled, metrics.FailedNoSocket, metrics.FailedInternal: // the client's own
		return
	case metrics.FailedConnect, metrics.FailedReset, metrics.FailedStall, metrics.FailedTimeout:
		if o.failed++; o.failed == 1 {
			o.failing = q.Done
		}
		o.reason = unanswered(q)
		o.refused = o.refused || q.Failure == metrics.FailedConnect && o.reason == metrics.ConnectionRefused
		return
	}
	if q.Sent != metrics.Never {
		o.answers(q.Done)
	}
}

// unanswered describes in a few words how a request got no answer.
func unanswered(q *metrics.Request) string {
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
