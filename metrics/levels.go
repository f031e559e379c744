package metrics

import (
	"sort"
	"time"
)

const (
	mostLevels       = 20
	shortestLevel    = 2 * time.Second
	requestsPerLevel = 20
	longestGap       = 1e6 // seconds
)

// levels sorts requests into the loads of a run by when they were scheduled, not by when they were served: a queue is the
// work of the load that made it grow.
type levels struct {
	plan *Plan
	slo  SLO // in force
	list []level
	// steered: the load was set while the run was on. live: it is still on, and requests are in flight.
	// settled: live, but the ledger is full and all that is in it has ended.
	steered, live, settled bool
	client                 []ClientSecond
	last                   lastSet
	end                    time.Duration // of the last level
	room
}

// room is memory that was used before, and may be used again.
type room struct {
	levels []level
	merged figures
	firsts []time.Duration
}

// used is the room that levels took, once nothing of them is needed any more.
func (l *levels) used() room {
	r := l.room
	if copy(r.levels, l.list) < len(l.list) {
		r.levels = l.list
	}
	return r
}

// level is an empty one.
func (r *room) level(i int) level {
	if i >= len(r.levels) {
		return level{}
	}
	v := &r.levels[i]
	v.itl.reset()
	v.pace.Empty()
	return level{ttft: v.ttft[:0], itl: v.itl, late: v.late[:0], pace: v.pace, firsts: v.firsts[:0]}
}

// level is what a LoadLevel is computed from.
type level struct {
	LoadLevel
	stage     int           // of the plan, -1 for none
	set       *stretch      // where the load was set while the run was on, else nil
	scheduled int           // requests, whatever became of them
	over      int           // of them ended, in whatever way
	gaps      time.Duration // that the ramp's rates leave between them; whole numbers add up alike in any order
	noSocket  int           // of Requests
	sent      int           // requests sent in the level, whenever they were scheduled; see Plan.wentOut
	done      int           // successes that ended in the level, whenever they were scheduled
	ttft      figures
	itl       Histogram // there are so many gaps that exact counts would cost more than all the rest
	pace      Pace
	late      figures // of the successes that the client itself sent later than LateMost
	// firsts are the moments of the first chunks.
	firsts []time.Duration
}

// at finds the level a moment lies in, nil for none.
func (l *levels) at(at time.Duration) *level {
	i := sort.Search(len(l.list), func(i int) bool { return at < l.list[i].To })
	if at == Never || i == len(l.list) || at < l.list[i].From {
		return nil
	}
	return &l.list[i]
}

// add counts a request.
func (l *levels) add(q *Request) {
	f := l.plan.fact(q)
	l.came(f.cause, q.Index)
	l.went(l.plan.wentOut(q))
	v := l.ended(&f)
	if v == nil || !f.ok {
		return
	}
	for i := 1; i < len(q.Chunks); i++ {
		v.itl.Add(q.gap(i))
	}
}

// came counts a request that was scheduled, whatever becomes of it.
func (l *levels) came(cause time.Duration, index int) {
	v := l.at(cause)
	if v == nil {
		return
	}
	v.scheduled++
	if r := l.plan.Ramp; r != nil && r.Over == 0 && v.set == nil {
		gap := min(1/l.plan.RampRate(index), longestGap)
		v.gaps += time.Duration(gap * float64(time.Second))
	}
}

// went counts a request that was sent, at a moment that is Never if it was not.
func (l *levels) went(at time.Duration) {
	if v := l.at(at); v != nil {
		v.sent++
	}
}

// ended counts what became of a request, and returns the level it belongs to.
func (l *levels) ended(f *fact) *level {
	if f.ok {
		if at := l.at(f.done); at != nil {
			at.done++
		}
	}
	v := l.at(f.cause)
	if v == nil {
		return nil
	}
	v.over++
	if f.cancelled {
		return v
	}
	v.Requests++
	if f.noSocket {
		v.noSocket++
	}
	if !f.ok {
		v.pace.Fail()
		return v
	}
	o := f.felt()
	if l.slo.judge(&o).good() {
		v.Good++
	}
	v.succeed(f)
	return v
}

func (v *level) succeed(f *fact) {
	v.ttft.add(f.ttft.Seconds())
	v.pace.Add(f.cause, v.From, v.To, f.wait, f.whole)
	if f.late > LateMost {
		v.late.add(f.late.Seconds())
	}
	v.firsts = append(v.firsts, f.first)
}
