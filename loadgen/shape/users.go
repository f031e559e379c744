package shape

import (
	"fmt"
	"time"

	"benchtop/internal/hf/numpy"
	"benchtop/metrics"
)

// Users is a closed loop: Limit users ask again without pause until the Duration is over.
type Users struct{ Bounds }

// Endless reports whether the clock ends the load: unless a number of requests was asked for.
func (u Users) Endless() bool { return !u.Asked }

// Arrivals have no times of their own.
func (u Users) Arrivals(rows int, _ []time.Duration, _ *numpy.Legacy) Arrivals {
	if u.Endless() {
		rows = 0
	}
	return u.closed(rows)
}

// Peak is the users, all of them from the start.
func (u Users) Peak(requests int) Demand {
	d := u.Bounds.Peak(requests)
	d.Ahead = d.Streams
	return d
}

// Describe is the number of users.
func (u Users) Describe(_ int, arriving metrics.Unit) string {
	if u.Asked {
		return "all at once" + u.atMost(arriving)
	}
	return fmt.Sprintf("closed loop of %d users for %s", u.Limit, metrics.Duration(u.Duration))
}

// Trace sends requests at the times of the data set.
type Trace struct{ Bounds }

// Peak is the limit, from the start on.
func (t Trace) Peak(requests int) Demand { return Users(t).Peak(requests) }

// Describe names the source of the times.
func (t Trace) Describe(_ int, arriving metrics.Unit) string {
	return "at the times of the trace" + t.atMost(arriving)
}

func (t Trace) enter(p *metrics.Plan, _ int) { p.Trace = true }
