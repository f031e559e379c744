package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// Result is what a search found for a tier.
type Result struct {
	Tier string
	// Passed is the highest load that passed and is probably within the objectives, Failed the lowest above it that did
	// not pass. 0 for none.
	Passed, Failed float64
	// Confidence is the probability that Passed is within the objectives, at most metrics.MostConfidence; 0 where there
	// is none to have.
	Confidence float64
	// Estimate is where the border probably is; its High is 0 where nothing failed.
	Estimate metrics.Range
	// AtLeast: nothing failed.
	AtLeast bool
	// Runs are the measurements at Passed.
	Runs int
	// Why says in a few words why the search ended here, or what is open.
	Why string
}

// Proven reports whether Passed is within the objectives with enough confidence.
func (r *Result) Proven() bool { return r.Passed > 0 && r.Confidence >= metrics.EnoughConfidence }

// fewest effective requests give a confidence.
const fewest = 10

// pool is what all measurements of a load say together.
type pool struct {
	load       float64
	good, n    float64 // effective requests
	share      float64
	length     time.Duration // of the longest measurement
	runs       int
	missed     bool
	confidence float64 // of the judge, and of all measurements together
}

// pools are the loads of a tier in order.
func (s *Search) pools(tier int) (all []pool) {
	for _, t := range s.observed(tier) {
		byLoad := func(p pool, load float64) int { return cmp.Compare(p.load, load) }
		i, known := slices.BinarySearchFunc(all, t.load, byLoad)
		if !known {
			all = slices.Insert(all, i, pool{load: t.load})
		}
		p, e := &all[i], &t.tiers[tier]
		worth := e.worth()
		p.good, p.n, p.share = p.good+worth*metrics.Share(e.Good, e.Requests), p.n+worth, e.Share
		p.length, p.runs, p.missed = max(p.length, e.Length), p.runs+1, p.missed || e.Missed
		p.confidence = max(p.confidence, e.Confidence)
	}
	for i := range all {
		p := &all[i]
		together := judge.ShareAtLeast(p.good, p.n, p.share)
		if p.length > 0 {
			together = min(together, judge.MostFor(p.length))
		}
		if p.confidence = max(p.confidence, min(together, metrics.MostConfidence)); p.missed || p.n < fewest {
			p.confidence = 0
		}
	}
	return all
}

func (p *pool) passed() bool { return !p.missed && p.good >= p.share*p.n-surplus }

// Results are those of the tiers so far.
func (s *Search) Results() []Result {
	all := make([]Result, len(s.o.Tiers))
	for tier, name := range s.o.Tiers {
		all[tier] = s.result(tier, Result{Tier: name})
	}
	return all
}

// result fills in what was found for a tier.
func (s *Search) result(tier int, r Result) Result {
	pools := s.pools(tier)
	r.AtLeast = !slices.ContainsFunc(pools, func(p pool) bool { return !p.passed() })
	if n := len(pools); n > 0 {
		b, e := &s.ends[tier], &r.Estimate
		*e = metrics.Range{Load: b.Quantile(0.5), Low: b.Quantile(low), High: b.Quantile(high)}
		if r.AtLeast {
			*e = metrics.Range{Load: pools[n-1].load, Low: min(e.Low, pools[n-1].load)}
		}
	}
	r.pass(pools)
	if e := &r.Estimate; s.o.Unit == metrics.Users && len(pools) > 0 {
		e.Load, e.Low, e.High = max(1, math.Floor(e.Load)), max(1, math.Floor(e.Low)), max(1, math.Floor(e.High))
	}
	if e := &r.Estimate; r.Proven() { // what is proven bounds what is estimated
		e.Load, e.Low = max(e.Load, r.Passed), max(e.Low, r.Passed)
		if e.High > 0 {
			e.High = max(e.High, e.Load)
		}
	}
	r.Why = s.why(tier, &r, pools)
	return r
}

// pass finds the highest load that is proven, else the highest that passed below the middle of the estimate, and the
// lowest above it that did not pass.
func (r *Result) pass(pools []pool) {
	for _, p := range pools {
		proven := p.confidence >= metrics.EnoughConfidence
		if p.passed() && (proven || r.Confidence < metrics.EnoughConfidence && p.load <= r.Estimate.Load*(1+same)) {
			r.Passed, r.Confidence, r.Runs = p.load, p.confidence, p.runs
		}
	}
	if i := slices.IndexFunc(pools, func(p pool) bool { return p.load > r.Passed && !p.passed() }); i >= 0 {
		r.Failed = pools[i].load
	}
}

// why is how the search for a tier ended, or what is open.
func (s *Search) why(tier int, r *Result, pools []pool) string {
	load := s.o.Unit.Text
	p, urgency := s.demand(tier)
	open := urgency > 0
	bottom, top := 0.0, 0.0
	if len(pools) > 0 {
		bottom, top = pools[0].load, pools[len(pools)-1].load
	}
	switch {
	case len(pools) == 0:
		return "no request counts"
	case r.AtLeast && open && p.Purpose == Climb:
		return fmt.Sprintf("%s passed, nothing failed in %d runs", load(top), len(s.tests))
	case r.AtLeast:
		return "passed at the most that may be tried, " + load(top)
	case r.Passed == 0 && open && p.Purpose == Climb:
		return fmt.Sprintf("%s failed, nothing passed in %d runs", load(bottom), len(s.tests))
	case r.Passed == 0:
		return "even " + load(bottom) + " misses the objectives"
	}
	if open {
		return fmt.Sprintf("%s; %d runs came no closer", r.Border(s.o.Unit), len(s.tests))
	}
	return r.Border(s.o.Unit)
}

// Border says where the border is, in words. "" where no load failed, or none passed.
func (r *Result) Border(unit metrics.Unit) string {
	low, high := Readable(r.Estimate.Low), Readable(r.Estimate.High)
	switch {
	case r.AtLeast || r.Passed == 0 || high <= 0:
		return ""
	case low >= high && unit != metrics.Users:
		return "the border is about " + unit.Text(high)
	case low >= high:
		return "the border is " + unit.Text(high)
	}
	return fmt.Sprintf("the border is between %s and %s", metrics.LoadNumber(low), unit.Text(high))
}
