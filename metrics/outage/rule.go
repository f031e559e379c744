// Package outage holds the rule by which a server counts as gone. The screen asks it while events come (Watch); the
// report and the levels of load ask it of all requests that ended, in any order (Past).
//
// A sign of life is a chunk, or the end of a request that the server answered, even if with an error or a part of an
// answer. The server is gone from the last sign of life before several requests in a row that failed as without it,
// until the next. While events come, silence on open connections tells as well, and failures count once they have
// lasted; a hung server and a slow one look alike afterwards, so that stalls and time-outs are no outage for Past.
package outage

import (
	"time"

	"benchtop/metrics"
)

const (
	// Of Past: fewest requests failed by connect or reset. Those that failed up to dying before belong to the outage,
	// because a server that dies may take a moment to break its connections.
	fewest = 3
	dying  = time.Second

	// Of Watch: fewestNow requests got no answer, or one was refused a connection, silentFor ago, without a sign of
	// life since. Or there is silence while requests are in flight, for silentFor, fewSilentFor where they are fewer
	// than few, and longer times the longest silence so far, of which mostSilence counts.
	fewestNow    = 2
	silentFor    = 3 * time.Second
	fewSilentFor = 10 * time.Second
	few          = 4
	longer       = 2
	mostSilence  = 30 * time.Second
	// Silence while the client itself stood still does not count: it has an event each second, a sample of itself.
	clientSilence = 2 * time.Second
	// settling passes until the end of an outage is logged: in a replay chunks may be out of order for less.
	settling = time.Second
)

// unanswered reports whether a request got no answer at all.
func unanswered(q *metrics.Request) bool {
	return q.Unreached() || q.Failure == metrics.FailedStall || q.Failure == metrics.FailedTimeout
}
