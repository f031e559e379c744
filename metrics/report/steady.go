package report

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

const (
	fullShare        = 0.95
	shortestWindow   = 10 * time.Second
	shortestOfTheRun = 0.1
)

// steadyState finds the window from the first moment at which the successes in flight reached the threshold to the last at which they
// fell below it, and sums up the events in it, begin included and end not. It ranges over reqs once more, because chunks are not kept
// and the window is not known before. It is nil for a plan without a closed loop, and where the threshold was not reached.
func steadyState(reqs iter.Seq2[metrics.Request, error], plan *metrics.Plan, open *overlap, run time.Duration) *metrics.SteadyState {
	rule := plan.SteadyState
	if rule.Off || !plan.ClosedLoop() {
		return nil
	}
	s := metrics.SteadyState{Target: plan.MaxConcurrency, Threshold: rule.Threshold}
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
	fill(&s, reqs, plan)
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

func fill(s *metrics.SteadyState, reqs iter.Seq2[metrics.Request, error], plan *metrics.Plan) {
	within := func(at time.Duration) bool { return at >= s.Start && at < s.End }
	ttft, tpot := metrics.Sample{}, metrics.Sample{}
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
			o := metrics.OutcomeOf(q.TTFT(), q.E2EL(), q.OutputTokens, metrics.OtherObjectives{})
			if !plan.Pooling {
				ttft.Add(o.TTFT)
			}
			if o.Output >= 2 {
				tpot.Add(o.TPOT())
			}
		}
		if within(q.LastChunk) {
			s.Completed++
		}
		for i, tokens := range q.Spread() {
			if within(q.Chunks[i].At) {
				output += tokens
			}
		}
	}
	seconds := (s.End - s.Start).Seconds()
	s.RequestThroughput = metrics.PerSecond(float64(s.Completed), seconds)
	s.InputThroughput = metrics.PerSecond(float64(input), seconds)
	s.OutputThroughput = metrics.PerSecond(float64(output), seconds)
	s.TotalThroughput = metrics.PerSecond(float64(input+output), seconds)
	s.TTFT, s.TPOT = ttft.Statistic(plan.Percentiles), tpot.Statistic([]float64{90, 99})
}

// full is the stretch from the first moment at which at least so many intervals overlap to the last at which fewer do, and the largest
// number that overlap; false where there are never so many.
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

// overlap is a set of half-open intervals [start, end).
type overlap struct{ starts, ends []time.Duration }

func (o *overlap) add(start, end time.Duration) {
	o.starts, o.ends = append(o.starts, start), append(o.ends, end)
}

// sweep visits each moment at which the number of overlapping intervals changes, with the new number. Of equal times ends come before
// starts.
func (o *overlap) sweep(visit func(at time.Duration, level int)) {
	slices.Sort(o.starts)
	slices.Sort(o.ends)
	level, starts := 0, o.starts
	for _, end := range o.ends {
		for ; len(starts) > 0 && starts[0] < end; starts = starts[1:] {
			level++
			visit(starts[0], level)
		}
		level--
		visit(end, level)
	}
}

// mostWith is the largest number of intervals of two sets that overlap.
func (o *overlap) mostWith(b *overlap) int {
	if len(b.starts) > 0 {
		o = &overlap{slices.Concat(o.starts, b.starts), slices.Concat(o.ends, b.ends)}
	}
	most := 0
	o.sweep(func(_ time.Duration, level int) { most = max(most, level) })
	return most
}
