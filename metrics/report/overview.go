package report

import (
	"iter"
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/saturation"
)

// overview is what has to be known of the requests before they are summed up. Only last and answered include the
// warm-up.
type overview struct {
	origin     float64 // earliest start of a success in seconds
	last       time.Duration
	answered   time.Duration // when the server showed last that it was there, Never if it did not
	scheduled  saturation.Arrivals
	sent, done saturation.Span
	requests   int
	sets       []saturation.Setting // loads that were set while the run was on
}

func look(reqs iter.Seq2[metrics.Request, error], plan *metrics.Plan, sets []saturation.Setting) (overview, error) {
	o := overview{origin: math.Inf(1), answered: metrics.Never, sets: sets}
	for q, err := range reqs {
		if err != nil {
			return o, err
		}
		o.last = max(o.last, q.Done)
		if answered(&q) {
			o.answered = max(o.answered, q.Done)
		}
		if plan.Warming(&q) {
			continue
		}
		o.requests++
		o.scheduled.Add(plan.Cause(&q), sets)
		o.sent.Add(q.Sent)
		if q.OK() {
			o.done.Add(q.Done)
			o.origin = min(o.origin, q.Sent.Seconds())
		}
	}
	return o, nil
}

// hands counts the loads that the plan did not set.
func hands(sets []saturation.Setting) (n int) {
	for i := range sets {
		if sets[i].By != metrics.ByPlan {
			n++
		}
	}
	return n
}

// lastObjectives are those that were set last, or the plan's.
func lastObjectives(p *metrics.Plan, events []metrics.LogEntry) metrics.SLO {
	slo, at := p.Goodput, time.Duration(math.MinInt64)
	for i := range events {
		if e := &events[i]; e.Objectives != nil && e.At >= at {
			slo, at = e.Objectives.Chosen(), e.At
		}
	}
	return slo
}
