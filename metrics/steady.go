package metrics

import (
	"fmt"
	"iter"
	"math"
	"time"
)

// SteadyState is the part of a closed loop in which it had its full load; see docs/metrics.md. Throughputs are per second
// of the window, latencies in milliseconds.
type SteadyState struct {
	Start, End time.Duration
	// Target is the concurrency limit, Threshold the share of it that counts as full, ThresholdAbs that number of
	// requests, Peak the highest number of successes in flight at once.
	Target       int
	Threshold    float64
	ThresholdAbs int
	Peak         int
	// Started and Completed in the window, and Total successes of the run.
	Started, Completed, Total int
	// Warning in words, "" for none.
	Warning string

	RequestThroughput, InputThroughput, OutputThroughput, TotalThroughput float64
	// TTFT has the percentiles of the plan, TPOT has 90 and 99.
	TTFT, TPOT Statistic
}

const (
	fullShare        = 0.95
	shortestWindow   = 10 * time.Second
	shortestOfTheRun = 0.1
)

// steadyState finds the window from the first moment at which the number of successes in flight reached the threshold to
// the last at which it fell below, and sums up what happened in it, begin included and end not. It ranges over reqs once
// more, because chunks are not kept and the window is known only now. It is nil where the plan is no closed loop and where
// the threshold was never reached.
func steadyState(reqs iter.Seq2[Request, error], plan *Plan, open *overlap, run time.Duration) *SteadyState {
	rule := plan.SteadyState
	if rule.Off || !plan.ClosedLoop() {
		return nil
	}
	s := SteadyState{Target: plan.MaxConcurrency, Threshold: rule.Threshold}
	if !(s.Threshold > 0) {
		s.Threshold = fullShare
	}
	least := max(1, math.Ceil(s.Threshold*float64(s.Target)))
	if least > math.MaxInt32 {
		return nil
	}
	s.ThresholdAbs = int(least)
	var reached bool
	if s.Start, s.End, s.Peak, reached = open.full(s.ThresholdAbs); !reached {
		return nil
	}
	s.fill(reqs, plan)
	atLeast := rule.MinWindow
	if atLeast <= 0 {
		atLeast = max(shortestWindow, time.Duration(shortestOfTheRun*float64(run)))
	}
	if length := s.End - s.Start; length < atLeast {
		s.Warning = fmt.Sprintf("the load was full for only %s, less than %s: these figures may owe much to chance",
			length.Round(time.Millisecond), atLeast.Round(time.Millisecond))
	}
	return &s
}

func (s *SteadyState) fill(reqs iter.Seq2[Request, error], plan *Plan) {
	within := func(at time.Duration) bool { return at >= s.Start && at < s.End }
	ttft, tpot := sample{}, sample{}
	var input, output int
	for q, err := range reqs {
		if err != nil {
			break // the passes before met the same error
		}
		if !q.OK() || plan.Warming(&q) {
			continue
		}
		s.Total++
		if within(q.Sent) {
			s.Started++
			input += q.InputTokens
			o := outcomeOf(q.TTFT(), q.E2EL(), q.OutputTokens, otherObjectives{})
			if !plan.Pooling {
				ttft.add(o.ttft)
			}
			if o.output >= 2 {
				tpot.add(o.tpot())
			}
		}
		if within(q.LastChunk) {
			s.Completed++
		}
		for i, tokens := range q.spread(q.counted()) {
			if within(q.Chunks[i].At) {
				output += tokens
			}
		}
	}
	seconds := (s.End - s.Start).Seconds()
	s.RequestThroughput = perSecond(float64(s.Completed), seconds)
	s.InputThroughput = perSecond(float64(input), seconds)
	s.OutputThroughput = perSecond(float64(output), seconds)
	s.TotalThroughput = perSecond(float64(input+output), seconds)
	s.TTFT, s.TPOT = ttft.statistic(plan.Percentiles), tpot.statistic([]float64{90, 99})
}

// full is the stretch from the first moment at which at least so many intervals overlap to the last at which fewer begin
// to, and the largest number that overlap; false if there are never so many.
func (o *overlap) full(atLeast int) (begin, end time.Duration, peak int, reached bool) {
	before := 0
	o.sweep(func(at time.Duration, level int) {
		if level >= atLeast && !reached {
			begin, reached = at, true
		}
		if level < atLeast && before >= atLeast {
			end = at
		}
		peak, before = max(peak, level), level
	})
	return begin, end, peak, reached
}
