package report

import (
	"iter"
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/saturation"
)

// mostRateSteps bounds the list of steps, because the rates of a plan that was read from a file are foreign numbers.
const mostRateSteps = 10_000

// rateSteps finds the moments when the whole part of a ramp's rate rose. A step to n happens when the first request is
// due before which the rate was at least n; requests may come in any order.
type rateSteps struct {
	plan *metrics.Plan // nil for any other load
	from int
	// until is the moment of the run from which on the load was not the plan's.
	until time.Duration
	// at[k] is the earliest moment at which a request was due whose rate has the whole part from+k, Never for none.
	at []time.Duration
}

func newRateSteps(p *metrics.Plan, sets []saturation.Setting) rateSteps {
	if p.Ramp == nil || p.Ramp.Over > 0 {
		return rateSteps{}
	}
	s := rateSteps{plan: p, from: wholeRate(p.Ramp.From), until: math.MaxInt64}
	if len(sets) > 0 {
		s.until = sets[0].At
	}
	return s
}

func (s *rateSteps) add(q *metrics.Request) {
	if s.plan == nil || q.Due == metrics.Never || q.Due >= s.until || q.Turn > 0 { // later turns come when the one before is over
		return
	}
	k := min(wholeRate(s.plan.RampRate(q.Index))-s.from, mostRateSteps-1)
	if k <= 0 {
		return
	}
	for len(s.at) <= k {
		s.at = append(s.at, metrics.Never)
	}
	if s.at[k] == metrics.Never || q.Due < s.at[k] {
		s.at[k] = q.Due
	}
}

// list is in rising order and starts with the ramp's first rate at offset 0; nil for any other load.
func (s *rateSteps) list() []metrics.RateStep {
	if s.plan == nil {
		return nil
	}
	steps := make([]metrics.RateStep, max(1, len(s.at)))
	steps[0].RPS = s.from
	earliest := metrics.Never
	for k := len(s.at) - 1; k > 0; k-- {
		if at := s.at[k]; earliest == metrics.Never || at != metrics.Never && at < earliest {
			earliest = at
		}
		steps[k] = metrics.RateStep{RPS: s.from + k, At: earliest}
	}
	return steps
}

func wholeRate(v float64) int {
	if math.IsNaN(v) {
		return 0
	}
	return int(min(max(v, 0), 1e9))
}

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

func scan(reqs iter.Seq2[metrics.Request, error], plan *metrics.Plan, sets []saturation.Setting) (overview, error) {
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
		o.scheduled.Add(plan.LoadTime(&q), sets)
		o.sent.Add(q.Sent)
		if q.OK() {
			o.done.Add(q.Done)
			o.origin = min(o.origin, q.Sent.Seconds())
		}
	}
	return o, nil
}

// hands counts the loads that the plan did not set.
func manualChanges(sets []saturation.Setting) (n int) {
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
