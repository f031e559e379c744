package report

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// accumulator sums up successes. It counts peaks in one-second buckets from the earliest start, which must be known
// beforehand.
type accumulator struct {
	origin     float64
	samples    [metrics.NumLatencies]metrics.Sample
	chunks     []int // per bucket
	concurrent []int
}

// addChunks takes the chunks of a success.
func (t *accumulator) addChunks(o *metrics.Outcome) {
	at := o.Start + o.TTFT
	count(&t.chunks, at-t.origin)
	for _, gap := range o.ITLs {
		at += gap
		count(&t.chunks, at-t.origin)
	}
}

// addSpan counts a success from its start to its end.
func (t *accumulator) addSpan(o *metrics.Outcome) {
	end := o.Start + o.E2EL
	for k := int(math.Floor(o.Start - t.origin)); k <= min(int(math.Floor(end-t.origin)), metrics.MaxWindows); k++ {
		count(&t.concurrent, float64(k))
	}
}

// addLatency adds a latency of a request to a sample. It has those between chunks only while it has its chunks.
func addLatency(to *metrics.Sample, l metrics.Latency, q *metrics.Request, o *metrics.Outcome) {
	if !l.OfChunks() {
		if v, times := l.Exact(o); times > 0 {
			to.AddTimes(v, times)
		}
	}
	for v, times := range l.Plain(q) {
		to.AddDuration(v, times)
	}
}

func count(buckets *[]int, second float64) {
	k := min(max(int(math.Floor(second)), 0), metrics.MaxWindows)
	for len(*buckets) <= k {
		*buckets = append(*buckets, 0)
	}
	(*buckets)[k]++
}

// peak is the highest bucket, 0 without one.
func peak(buckets []int) int {
	return slices.Max(append(buckets, 0))
}

// mostRateSteps bounds the list of steps, because a plan from a file may hold any rates.
const mostRateSteps = 10_000

// rateSteps finds the moments at which the whole part of a ramp's rate rose. The step to n is the first due time of a
// request whose rate is at least n. Requests may come in any order.
type rateSteps struct {
	plan *metrics.Plan // nil for any other load
	from int
	// until is the first setting of the load, after which the plan does not count.
	until time.Duration
	// at[k] is the earliest due time of a request whose rate has the whole part from+k, Never for none.
	at []time.Duration
}

func newRateSteps(p *metrics.Plan, sets []judge.Setting) rateSteps {
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
	// Later turns wait for the one before.
	if s.plan == nil || q.Due == metrics.Never || q.Due >= s.until || q.Turn > 0 {
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

// list returns the steps in rising order from the ramp's first rate at offset 0; nil for any other load.
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

// overview holds the figures that levels need before the requests. Only last includes the warm-up.
type overview struct {
	last       time.Duration
	scheduled  judge.Arrivals
	sent, done judge.Span
	requests   int
	all, top   int             // requests with the warm-up, and the highest number of one
	sets       []judge.Setting // of the load, during the run
}

func (d *digests) overview(plan *metrics.Plan, sets []judge.Setting) overview {
	o := overview{sets: sets, top: -1}
	for q := range d.all() {
		o.last = max(o.last, q.Done)
		o.all, o.top = o.all+1, max(o.top, q.Index)
		if plan.Warming(&q.Request) {
			continue
		}
		o.requests++
		o.scheduled.Add(plan.LoadTime(&q.Request), sets)
		o.sent.Add(q.Sent)
		if q.OK() {
			o.done.Add(q.Done)
		}
	}
	return o
}

// noOrigin stands for the earliest start of a success before there is one.
const noOrigin time.Duration = math.MaxInt64

// earlier is the earliest start of a success, among a request and those before it.
func earlier(origin time.Duration, plan *metrics.Plan, q *metrics.Request) time.Duration {
	if q.OK() && !plan.Warming(q) {
		return min(origin, q.Sent)
	}
	return origin
}

// manualChanges counts the settings that are not those of the plan.
func manualChanges(sets []judge.Setting) int {
	return len(slices.DeleteFunc(slices.Clone(sets), func(s judge.Setting) bool { return s.By == metrics.ByPlan }))
}

// lastObjectives are the objectives that were set last, else those of the plan.
func lastObjectives(p *metrics.Plan, events []metrics.LogEntry) metrics.SLO {
	slo, at := p.Goodput, time.Duration(math.MinInt64)
	for i := range events {
		if e := &events[i]; e.Objectives != nil && e.At >= at {
			slo, at = e.Objectives.Chosen(), e.At
		}
	}
	return slo
}
