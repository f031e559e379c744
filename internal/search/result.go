package search

import (
	"fmt"
	"strconv"

	"benchtop/metrics"
)

// Result is the answer for a tier. All loads were measured.
type Result struct {
	Tier string
	// Passed is the highest load that passed; where its verdict is in doubt, the load below it that is most probably near the border. Failed is the
	// lowest above them that did not pass. 0 for none.
	Passed, Failed float64
	// Confidence is the probability that the share of good requests at Passed is enough, of 1. It takes requests for independent, so it is an
	// upper bound.
	Confidence float64
	// AtLeast: nothing failed.
	AtLeast bool
	// Runs are the measurements at Passed.
	Runs int
	// Why says in a few words why the search ended here, or what is open.
	Why string
}

// Results are the answers so far, a tier each.
func (s *Search) Results() []Result {
	all := make([]Result, len(s.o.Tiers))
	for tier, name := range s.o.Tiers {
		r := Result{Tier: name}
		low, high := s.border(tier)
		if low != nil {
			r.Passed, r.Confidence, r.Runs = s.answer(tier, low), low.confidence(), low.last().runs
		}
		if high != nil {
			r.Failed = high.bottom()
		}
		r.AtLeast = low != nil && high == nil
		r.Why = s.why(tier, low, high)
		all[tier] = r
	}
	return all
}

// why says how far a tier's search came.
func (s *Search) why(tier int, low, high *block) string {
	load := func(v float64) string { return metrics.LoadText(v, s.o.Whole) }
	open := s.demand(tier)
	unfinished := open.urgency > 0 && open.Purpose != Repeat
	switch {
	case low == nil && high == nil:
		return "no request counts"
	case unfinished && high == nil:
		return fmt.Sprintf("%s passed, nothing failed in %d runs", load(low.top()), s.runs)
	case unfinished && low == nil:
		return fmt.Sprintf("%s failed, nothing passed in %d runs", load(high.bottom()), s.runs)
	case unfinished:
		return fmt.Sprintf("%s passed, %s failed; %d runs came no closer", load(low.top()), metrics.LoadNumber(high.bottom()), s.runs)
	case low == nil:
		return "even " + load(high.bottom()) + " misses the objectives"
	case high == nil:
		return "passed at the most that may be tried, " + load(low.top())
	}
	within := strconv.FormatFloat(100*(high.bottom()/low.top()-1), 'f', 1, 64)
	return fmt.Sprintf("%s passed, %s failed: the border is within %s %%", load(low.top()), metrics.LoadNumber(high.bottom()), within)
}
