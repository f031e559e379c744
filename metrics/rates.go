package metrics

import (
	"math"
	"time"
)

// span counts events and knows the first and the last of them.
type span struct {
	n           int
	first, last time.Duration
}

func (s *span) add(at time.Duration) {
	if at == Never {
		return
	}
	if s.n == 0 {
		s.first, s.last = at, at
	}
	s.n++
	s.first, s.last = min(s.first, at), max(s.last, at)
}

// rate is the number of gaps between the events per second; 0 for fewer than two moments.
func (s *span) rate() float64 { return perSecond(float64(s.n-1), (s.last - s.first).Seconds()) }

// perSecond is 0 for a run without length, so that no infinity gets into a result.
func perSecond(v, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return v / seconds
}

// mostRateSteps bounds the list of steps, because the rates of a plan that was read from a file are foreign numbers.
const mostRateSteps = 10_000

// rateSteps finds the moments when the whole part of a ramp's rate rose. A step to n happens when the first request is
// due before which the rate was at least n; requests may come in any order.
type rateSteps struct {
	plan *Plan // nil for any other load
	from int
	// until is the moment of the run from which on the load was not the plan's.
	until time.Duration
	// at[k] is the earliest moment at which a request was due whose rate has the whole part from+k, Never for none.
	at []time.Duration
}

func newRateSteps(p *Plan, sets []setting) rateSteps {
	if p.Ramp == nil || p.Ramp.Over > 0 {
		return rateSteps{}
	}
	s := rateSteps{plan: p, from: wholeRate(p.Ramp.From), until: math.MaxInt64}
	if len(sets) > 0 {
		s.until = sets[0].at
	}
	return s
}

func (s *rateSteps) add(q *Request) {
	if s.plan == nil || q.Due == Never || q.Due >= s.until || q.Turn > 0 { // later turns come when the one before is over
		return
	}
	k := min(wholeRate(s.plan.RampRate(q.Index))-s.from, mostRateSteps-1)
	if k <= 0 {
		return
	}
	for len(s.at) <= k {
		s.at = append(s.at, Never)
	}
	if s.at[k] == Never || q.Due < s.at[k] {
		s.at[k] = q.Due
	}
}

// list is in rising order and starts with the ramp's first rate at offset 0; nil for any other load.
func (s *rateSteps) list() []RateStep {
	if s.plan == nil {
		return nil
	}
	steps := make([]RateStep, max(1, len(s.at)))
	steps[0].RPS = s.from
	earliest := Never
	for k := len(s.at) - 1; k > 0; k-- {
		if at := s.at[k]; earliest == Never || at != Never && at < earliest {
			earliest = at
		}
		steps[k] = RateStep{s.from + k, earliest}
	}
	return steps
}

func wholeRate(v float64) int {
	if math.IsNaN(v) {
		return 0
	}
	return int(min(max(v, 0), 1e9))
}
