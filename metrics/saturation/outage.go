package saturation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"benchtop/metrics"
)

// The rule of an outage: no request is being answered, and at least metrics.FewestGone in a row fail as without a server. The requests that
// fail in it, or shortly before, say nothing about the load. A server that refuses requests while it answers others is not gone.

// dying is how long before an outage failures belong to it: a server that dies may take a moment to break its connections.
const dying = time.Second

// mostLost is the share of a level's requests from which on those lost in outages make it no evidence.
const mostLost = 1 - metrics.EnoughCompleted

// outages finds the times in which the server was gone, from requests in any order.
type outages struct {
	alive  []lifetime
	failed []failure
	why    string // of the levels without evidence: set by lost
}

// lifetime is a time in which the server was there: from the sending of a request to the last sign of its answer.
type lifetime struct{ from, to time.Duration }

// failure is a request that failed.
type failure struct {
	load, done time.Duration
	unreached  bool
}

// answered counts a lifetime. Those of requests in order of their ends mostly overlap, and are joined at once.
func (o *outages) answered(from, to time.Duration) {
	if to < from {
		return // a damaged journal
	}
	if n := len(o.alive); n > 0 && from <= o.alive[n-1].to && to >= o.alive[n-1].from {
		last := &o.alive[n-1]
		last.from, last.to = min(last.from, from), max(last.to, to)
		return
	}
	o.alive = append(o.alive, lifetime{from, to})
}

// lost are the requests that failed because the server was gone.
func (o *outages) lost() (all []failure) {
	if len(o.failed) < metrics.FewestGone {
		return nil
	}
	slices.SortFunc(o.failed, func(a, b failure) int { return cmp.Compare(a.done, b.done) })
	slices.SortFunc(o.alive, func(a, b lifetime) int { return cmp.Compare(a.from, b.from) })
	const ever = math.MaxInt64 / 2
	since, next := time.Duration(-ever), 0 // the last sign of life so far, the first failure after those that were lost
	for _, v := range append(o.alive, lifetime{ever, ever}) {
		if gone := o.between(since, v.from); countUnreached(gone) >= metrics.FewestGone {
			from := max(next, o.after(since-dying))
			next = o.after(v.from - 1)
			if o.why == "" && since == -ever {
				o.why = "server did not answer"
			} else if o.why == "" {
				o.why = fmt.Sprintf("server stopped answering after %s", o.failed[from].done.Round(time.Second))
			}
			all = append(all, o.failed[from:next]...)
		}
		since = max(since, v.to)
	}
	return all
}

// after is the index of the first failure after a moment.
func (o *outages) after(at time.Duration) int {
	return sort.Search(len(o.failed), func(i int) bool { return o.failed[i].done > at })
}

// between are the failures between two moments.
func (o *outages) between(from, to time.Duration) []failure {
	a, b := o.after(from), o.after(to-1)
	return o.failed[a:max(a, b)]
}

func countUnreached(all []failure) (n int) {
	for _, f := range all {
		if f.unreached {
			n++
		}
	}
	return n
}

// Answering reports that requests in flight since a moment have been answered up to another.
func (l *Levels) Answering(since, until time.Duration) { l.outages.answered(since, until) }

// outage marks the levels that lost so many requests in outages that they are no evidence.
func (l *Levels) outage() {
	for _, f := range l.outages.lost() {
		if v := l.at(f.load); v != nil {
			v.lost++
		}
	}
	for i := range l.list {
		v := &l.list[i]
		v.unanswered = metrics.Share(v.lost, v.Requests) > mostLost
	}
}

// evidence reports whether the figures of the level are those of the server under its load.
func (v *level) evidence() bool { return !v.unanswered && len(v.Limited) == 0 }
