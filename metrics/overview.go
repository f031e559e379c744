package metrics

import (
	"iter"
	"math"
	"time"
)

// overview is what has to be known of the requests before they are summed up. The warm-up is not in it, but for the end.
type overview struct {
	origin     float64 // earliest start of a success in seconds
	last       time.Duration
	scheduled  arrivals
	sent, done span
	sets       []setting // loads that were set while the run was on
}

func look(reqs iter.Seq2[Request, error], plan *Plan, sets []setting) (overview, error) {
	o := overview{origin: math.Inf(1), sets: sets}
	for q, err := range reqs {
		if err != nil {
			return o, err
		}
		o.last = max(o.last, q.Done)
		if plan.Warming(&q) {
			continue
		}
		o.scheduled.add(plan.cause(&q), sets)
		o.sent.add(q.Sent)
		if q.OK() {
			o.done.add(q.Done)
			o.origin = min(o.origin, q.Sent.Seconds())
		}
	}
	return o, nil
}
