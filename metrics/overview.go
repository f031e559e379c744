package metrics

import (
	"iter"
	"math"
	"time"
)

// overview is what has to be known of the requests before they are summed up. Only last and answered include the
// warm-up.
type overview struct {
	origin     float64 // earliest start of a success in seconds
	last       time.Duration
	answered   time.Duration // when the server showed last that it was there, Never if it did not
	scheduled  arrivals
	sent, done span
	requests   int
	sets       []setting // loads that were set while the run was on
}

func look(reqs iter.Seq2[Request, error], plan *Plan, sets []setting) (overview, error) {
	o := overview{origin: math.Inf(1), answered: Never, sets: sets}
	for q, err := range reqs {
		if err != nil {
			return o, err
		}
		o.last = max(o.last, q.Done)
		if q.answered() {
			o.answered = max(o.answered, q.Done)
		}
		if plan.Warming(&q) {
			continue
		}
		o.requests++
		o.scheduled.add(plan.Cause(&q), sets)
		o.sent.add(q.Sent)
		if q.OK() {
			o.done.add(q.Done)
			o.origin = min(o.origin, q.Sent.Seconds())
		}
	}
	return o, nil
}
