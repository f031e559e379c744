// Package search finds the highest load of a server that is within objectives, by as few measurements as it can. It
// measures nothing itself: its owner asks for the next load and tells what came of it.
package search

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// Evidence is what came of a measurement for a tier.
type Evidence struct {
	// Good requests are within the objectives; Requests are all that count, 0 for no evidence. Share of them must be
	// good, of 1.
	Good, Requests int
	// Effective is the number of independent requests that these are worth; as many as Requests if 0.
	Effective float64
	Share     float64
	// Length is how long the load was in force; 0 where that is not known.
	Length time.Duration
	// Confidence that the load is within the objectives in a long run, by the judge; 0 where there is none to have.
	Confidence float64
	// Capacity is the rate at which the server worked where it did less than it was asked for; the zero value
	// elsewhere.
	Capacity metrics.Range
	// Missed: by something that more requests cannot mend, such as work that was not done, or a figure of the run.
	Missed bool
	// Ratio is the latency that binds, at the share's quantile, over its limit: up to 1 within it; 0 if it is not
	// known. It only guides the search to the next load.
	Ratio float64
}

// Passed reports whether enough requests were good, by these alone.
func (e *Evidence) Passed() bool {
	return !e.Missed && e.Requests > 0 && float64(e.Good) >= e.Share*float64(e.Requests)-surplus
}

// failed reports whether a load is too high by more than chance: one bad request of nine says nothing.
func (e *Evidence) failed() bool {
	if e.Missed || e.Requests == 0 {
		return e.Missed
	}
	worth := e.worth()
	return !e.Passed() && judge.Chance(worth*(1-metrics.Share(e.Good, e.Requests)), worth, e.Share) < chance
}

// A load under which more of the work than leftMost was left undone, by so many standard errors, is too high for a
// search, though that may be chance: it tests loads near it again.
const leftMost, leftErrors = 0.06, 1.2

// Behind reports whether a server seems to have left too much of a load undone, by the last verdicts on it.
func Behind(s *judge.Sample) bool {
	left, errors := s.Left()
	return left > leftMost && errors > leftErrors
}

// surplus makes up for shares that are not quite what they are written as.
const surplus = 1e-9

// EvidenceOf is that of ratios of which a share must be at most 1.
func EvidenceOf(ratios []float64, share float64) Evidence {
	slices.Sort(ratios)
	n := len(ratios)
	good, _ := slices.BinarySearch(ratios, math.Nextafter(1, 2))
	e := Evidence{Good: good, Requests: n, Share: share}
	if n > 0 {
		e.Ratio = ratios[min(n-1, max(0, int(math.Ceil(share*float64(n)))-1))]
	}
	return e
}

// Options of a search.
type Options struct {
	// From is the first load, Most the highest that may be tried; both above 0.
	From, Most float64
	// Unit of the loads; those in metrics.Users are whole numbers.
	Unit metrics.Unit
	// Tiers are the names of the tiers; none for a single one without a name.
	Tiers []string
	// Runs is the most measurements; 0 for DefaultRuns, and some more for each further tier.
	Runs int
	// Repeats is the most measurements of one load; 0 for DefaultRepeats.
	Repeats int
	// Longest is the greatest factor of the usual time for which a load may be measured, 1 or more; 0 for 1. A longer
	// measurement counts as several.
	Longest float64
}

const (
	DefaultRuns    = 14
	DefaultRepeats = 4
)

// RunsFor is the most measurements of a search for so many tiers.
func RunsFor(tiers int) int { return DefaultRuns + (tiers-1)*3 }

// The constants of a search. They were chosen by the claims of searches on queues with a known border; docs/accuracy.md
// has the table.
const (
	leastClimb = 1.5   // the factor from a load that passed to a higher one where latencies are near their limits,
	mostClimb  = 4.0   // and where they are far from them, or not known
	nearRatio  = 0.85  // of a latency to its limit
	farRatio   = 0.6   // likewise
	lowest     = 128.0 // the first load over the lowest that is tried
	flat       = 1.1   // a latency that falls by less than this factor,
	flatOver   = 3.9   // while the load falls by this, has nothing to do with the load
	digits     = 3     // of a load that is not whole

	chance    = 0.1        // of a load at the border: a smaller one makes it too high
	above     = 1.0        // the border over the highest capacity that was measured, at most
	low, high = 0.06, 0.94 // quantiles of the range in which the border is
	narrow    = 1.15       // between them, where the search ends
	same      = 0.02       // loads that are so near are one
	zoomed    = 0.003      // quantile from which on there are candidates, after a first look,
	zoomBy    = 1.1        // and some more on either side
	missed    = 20         // effective requests that a load counts that the server did not complete
	// A load is measured for the longer the narrower the range is, as a logarithm.
	lengthOf = 1.2
)

// Purpose of a measurement.
type Purpose string

const (
	// Climb: nothing failed yet, or nothing passed. Narrow: the border is between loads that were measured.
	Climb  Purpose = "climb"
	Narrow Purpose = "narrow"
)

// Probe is the next measurement. Length is a factor of the usual time: it takes longer to tell loads apart that are
// near the border.
type Probe struct {
	Load    float64
	Purpose Purpose
	Tier    int
	Length  float64
}

// Search is a search for the borders of some tiers. It is not safe for concurrent use.
type Search struct {
	o     Options
	asked Probe
	spent float64 // measurements, of the usual length
	tests []test
	ends  []judge.Border // by tier, of the tests so far
	turns []int          // by tier, the tests that it asked for
}

// test is a measurement.
type test struct {
	load  float64
	tiers []Evidence
}

// New begins a search.
func New(o Options) *Search {
	if len(o.Tiers) == 0 {
		o.Tiers = []string{""}
	}
	o.Runs = cmp.Or(o.Runs, RunsFor(len(o.Tiers)))
	o.Repeats = cmp.Or(o.Repeats, DefaultRepeats)
	o.Longest = max(1, o.Longest)
	o.From = min(o.From, o.Most)
	return &Search{o: o, ends: make([]judge.Border, len(o.Tiers)), turns: make([]int, len(o.Tiers))}
}

// Observe takes the outcome of a measurement, for each tier in order.
func (s *Search) Observe(load float64, tiers []Evidence) {
	t := test{load, make([]Evidence, len(s.o.Tiers))}
	copy(t.tiers, tiers)
	s.tests = append(s.tests, t)
	if s.spent++; s.asked.Load == load {
		s.spent += s.asked.Length - 1
	}
	for tier := range s.ends {
		s.ends[tier] = s.border(tier)
	}
}

// observed are the tests that say something of a tier.
func (s *Search) observed(tier int) (all []test) {
	for _, t := range s.tests {
		if e := &t.tiers[tier]; e.Requests > 0 || e.Missed {
			all = append(all, t)
		}
	}
	return all
}

// loads are the lowest and the highest load that were tested.
func loads(all []test) (least, most float64) {
	least = math.Inf(1)
	for _, t := range all {
		least, most = min(least, t.load), max(most, t.load)
	}
	return least, most
}

// border is what the tests say of a tier's.
func (s *Search) border(tier int) judge.Border {
	all := s.observed(tier)
	if len(all) == 0 {
		return judge.Border{}
	}
	var seen []judge.Observation
	enough := metrics.EnoughGood
	for _, t := range all {
		e := &t.tiers[tier]
		if e.Share > 0 {
			enough = e.Share
		}
		worth := e.worth()
		o := judge.Observation{Load: t.load, Bad: worth * (1 - metrics.Share(e.Good, e.Requests)), Effective: worth}
		switch {
		case e.Missed:
			o.Effective = max(worth, missed)
			o.Bad = o.Effective
		case e.Passed() && s.o.Unit != metrics.Users:
			// A short test shows whether a load is too high rather than whether a longer one would have been.
			o.Load *= judge.Blur(float64(e.Requests))
		}
		seen = append(seen, o)
	}
	least, most := loads(all)
	top, capacity := most*mostClimb, 0.0
	for _, t := range all {
		capacity = max(capacity, t.tiers[tier].Capacity.High)
	}
	if capacity > least {
		top = min(top, capacity*above)
	}
	b := judge.BorderOf(enough, seen, least/mostClimb, top)
	// Once more, with more candidates where it probably is.
	return judge.BorderOf(enough, seen, b.Quantile(zoomed)/zoomBy, b.Quantile(1-zoomed)*zoomBy)
}

// worth is the number of effective requests.
func (e *Evidence) worth() float64 { return max(1, cmp.Or(e.Effective, float64(e.Requests))) }

// Next is the next load to measure; not ok when the search is over.
func (s *Search) Next() (next Probe, ok bool) {
	if s.spent >= float64(s.o.Runs) {
		return Probe{}, false
	}
	most := 0.0
	for tier := range s.o.Tiers {
		if p, urgency := s.demand(tier); urgency > most {
			next, most = p, urgency
		}
	}
	if s.asked = next; most > 0 {
		s.turns[next.Tier]++
	}
	return next, most > 0
}

const climbing = 1e6 // comes before narrowing

// demand is the measurement that a tier asks for; an urgency of 0 is for none.
func (s *Search) demand(tier int) (Probe, float64) {
	if len(s.tests) == 0 {
		return Probe{s.o.From, Climb, tier, 1}, climbing
	}
	all := s.observed(tier)
	least, most := loads(all)
	failed := func(t test) bool { return t.tiers[tier].failed() }
	passed := func(t test) bool { return !t.tiers[tier].failed() }
	switch {
	case len(all) == 0: // measured, without a request that counts
		last := s.tests[len(s.tests)-1].load
		if s.measured(last) >= s.o.Repeats {
			return Probe{}, 0
		}
		return Probe{last, Climb, tier, 1}, climbing
	case !slices.ContainsFunc(all, failed):
		if load := s.up(tier, most); load > most {
			// The highest of several tiers' climbs leaves the fewest of them without a bracket.
			return Probe{load, Climb, tier, 1}, climbing * (1 + load/s.o.Most)
		}
		return Probe{}, 0
	case !slices.ContainsFunc(all, passed):
		if load, hope := s.down(tier, least); hope {
			return Probe{load, Climb, tier, 1}, climbing
		}
		return Probe{}, 0
	}
	return s.narrow(tier)
}

// narrow asks for a load where the border probably is.
func (s *Search) narrow(tier int) (Probe, float64) {
	b := &s.ends[tier]
	from, to := b.Quantile(low), b.Quantile(high)
	if to <= from*narrow || s.o.Unit == metrics.Users && math.Floor(to) <= math.Floor(from) {
		return Probe{}, 0
	}
	width := math.Log(to / from)
	length := min(max(1, lengthOf/width), s.o.Longest)
	load := s.round(b.Quantile(0.5))
	for _, side := range []float64{0, 1, -1, 2, -2} { // a load near that may be measured once more
		p := s.near(load * math.Exp(side*2*same))
		if s.measured(p) < s.o.Repeats && p <= s.o.Most && p > 0 {
			// Some tiers need many tests for a width.
			return Probe{p, Narrow, tier, length}, 1 + width/math.Sqrt(float64(1+s.turns[tier]))
		}
	}
	return Probe{}, 0
}

// near is a load that was measured and is about the same, else the load.
func (s *Search) near(load float64) float64 {
	load = s.round(load)
	best := load
	off := same
	for _, t := range s.tests {
		if d := math.Abs(math.Log(t.load / load)); d < off {
			best, off = t.load, d
		}
	}
	return best
}

// measured counts the measurements of a load.
func (s *Search) measured(load float64) (n int) {
	for _, t := range s.tests {
		if t.load == load {
			n++
		}
	}
	return n
}

// ratio is that of a load for a tier, the highest of several; 0 if it is not known.
func (s *Search) ratio(tier int, load float64) (r float64) {
	for _, t := range s.tests {
		if x := t.tiers[tier].Ratio; t.load == load && !math.IsInf(x, 0) {
			r = max(r, x)
		}
	}
	return r
}

// up is the load to try after one that passed.
func (s *Search) up(tier int, top float64) float64 {
	factor := mostClimb
	if r := s.ratio(tier, top); r > nearRatio {
		factor = leastClimb
	} else if r > farRatio {
		factor = math.Sqrt(mostClimb)
	}
	next := s.round(top * factor)
	if s.o.Unit == metrics.Users {
		next = max(next, top+1)
	}
	return min(next, s.o.Most)
}

// down is the load to try after one that failed. There is no hope where the latency does not depend on the load.
func (s *Search) down(tier int, bottom float64) (load float64, hope bool) {
	factor := mostClimb
	if r := s.ratio(tier, bottom); r > 0 {
		factor = min(max(r, leastClimb), mostClimb)
		for _, t := range s.tests {
			if far := t.tiers[tier].Ratio; t.load >= flatOver*bottom && far > 0 && far < flat*r {
				return 0, false
			}
		}
	}
	load = s.round(bottom / factor)
	return load, load >= s.o.From/lowest && load > 0 && load < bottom
}

// round makes a load that may be tried.
func (s *Search) round(load float64) float64 {
	if s.o.Unit == metrics.Users {
		return min(max(1, math.Floor(load)), s.o.Most)
	}
	return min(Readable(load), s.o.Most)
}

// Readable rounds a load to a few digits.
func Readable(load float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(load, 'g', digits, 64), 64)
	if err != nil {
		return load
	}
	return short
}
