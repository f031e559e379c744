// Package search finds the highest load that meets objectives, in few measurements. It is an algorithm alone: it measures nothing, has
// no clock, and says which load to measure next from the evidence that it was given.
//
// Several tiers of objectives share all measurements. The evidence of a load is pooled: counts of requests are added up, and no mean of
// percentiles is taken. Since a higher load cannot be better for users, a load that does better than a lower one shows chance: the counts
// of both are pooled until the share of good requests falls with the load (an isotonic regression).
package search

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"benchtop/metrics"
)

// Evidence is the outcome of one measurement at a load for one tier.
type Evidence struct {
	// Good requests are within the objectives; Requests are all that count, 0 for no evidence. Share of them must be good, of 1.
	Good, Requests int
	Share          float64
	// Missed: by something that more requests cannot mend, such as too few that were completed, or a figure of the run.
	Missed bool
	// Ratio is the latency that binds, at the share's quantile, over its limit: up to 1 within it; 0 if it is not known. It only guides the
	// search to the next load.
	Ratio float64
}

// Passed reports whether enough requests were good.
func (e *Evidence) Passed() bool {
	// The smallest surplus makes up for shares that are not quite what they are written as.
	const surplus = 1e-9
	return !e.Missed && e.Requests > 0 && float64(e.Good) >= e.Share*float64(e.Requests)-surplus
}

// EvidenceOf is that of requests whose latencies have these ratios to their limits, the worst of each; infinite for a failed request. It
// sorts them.
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

// Options are the bounds of a search. Loads are in requests per second or users.
type Options struct {
	// From is the first load, Most the highest that may be tried; both above 0.
	From, Most float64
	// Whole: loads are whole numbers, as users are.
	Whole bool
	// Tiers are the names of the tiers; none for a single one without a name.
	Tiers []string
	// Runs is the most measurements; 0 for DefaultRuns, and a third of it more for each further tier.
	Runs int
	// Confidence is the probability from which on the verdict of a load near the border needs no further run; 0 for no repeats.
	Confidence float64
	// Repeats is the most runs of one load; 0 for DefaultRepeats.
	Repeats int
}

// DefaultRuns and DefaultRepeats are those of a search that asks for no others.
const (
	DefaultRuns    = 12
	DefaultRepeats = 4
)

// The constants of the search; the tests with made-up servers show how many runs they cost.
const (
	leastClimb = 1.5   // the factor from a load that passed to a higher one where latencies are near their limits,
	mostClimb  = 4.0   // and where they are far from them, or not known
	nearRatio  = 0.85  // of a latency to its limit
	farRatio   = 0.6   // likewise
	lowest     = 128.0 // the first load over the lowest that is tried
	flat       = 1.1   // a latency that falls by less than this factor,
	flatOver   = 3.9   // while the load falls by this, has nothing to do with the load
	inner      = 0.15  // part of a bracket, at either end, into which an estimate is not followed
	aimed      = 0.85  // part of the precision between two loads that are to end the search: loads are rounded
	digits     = 3     // of a load that is not whole
)

// Purpose is the reason for a probe.
type Purpose string

const (
	// Climb: nothing failed yet, or nothing passed. Narrow: between a load that passed and one that failed. Repeat: a verdict near the border
	// may be chance.
	Climb  Purpose = "climb"
	Narrow Purpose = "narrow"
	Repeat Purpose = "repeat"
)

// Probe is a measurement to make. Tier is the one that asks for it; it serves all.
type Probe struct {
	Load    float64
	Purpose Purpose
	Tier    int
}

// Search is a search under way. Its owner calls Next, measures, and calls Observe.
type Search struct {
	o      Options
	points []*point // by load
	runs   int
	widths []float64 // the logarithm of each tier's bracket when it was narrowed last
	// estimates are those of the tiers, nil where they are not known since the last measurement.
	estimates []*estimate
}

// point is all evidence of a load.
type point struct {
	load  float64
	runs  int
	tiers []pool
}

// New begins a search.
func New(o Options) *Search {
	if len(o.Tiers) == 0 {
		o.Tiers = []string{""}
	}
	o.Runs = cmp.Or(o.Runs, RunsFor(len(o.Tiers)))
	o.Repeats = cmp.Or(o.Repeats, DefaultRepeats)
	o.From = min(o.From, o.Most)
	return &Search{o: o, widths: make([]float64, len(o.Tiers)), estimates: make([]*estimate, len(o.Tiers))}
}

// RunsFor is the most measurements of a search for so many tiers that asks for no other number. Most of the time goes into the first runs,
// at low loads, which all tiers share: four tiers take less than a third of the time of four searches.
func RunsFor(tiers int) int { return DefaultRuns + (tiers-1)*2 }

// Observe adds a measurement, with the evidence of each tier in order. Those of an earlier search of the same loads may be added, too;
// they count as runs.
func (s *Search) Observe(load float64, tiers []Evidence) {
	i, known := slices.BinarySearchFunc(s.points, load, func(p *point, load float64) int { return cmp.Compare(p.load, load) })
	if !known {
		s.points = slices.Insert(s.points, i, &point{load: load, tiers: make([]pool, len(s.o.Tiers))})
	}
	p := s.points[i]
	p.runs++
	s.runs++
	clear(s.estimates)
	for i := range min(len(tiers), len(p.tiers)) {
		p.tiers[i].add(&tiers[i])
	}
}

// Next is the load to measure next; not ok if the search is over.
func (s *Search) Next() (next Probe, ok bool) {
	if s.runs >= s.o.Runs {
		return Probe{}, false
	}
	var best demand
	for tier := range s.o.Tiers {
		if d := s.demand(tier); d.urgency > best.urgency {
			best = d
		}
	}
	if best.urgency == 0 {
		return Probe{}, false
	}
	if best.Purpose == Narrow {
		s.widths[best.Tier] = best.width
	}
	return best.Probe, true
}

// demand is a probe that a tier asks for. The most urgent is made: climbs come first, then the widest bracket is narrowed, and repeats come last.
type demand struct {
	Probe
	urgency float64 // 0: nothing to ask for
	width   float64
}

const (
	climbing  = 1e6
	narrowing = 1e3
)

// demand is the probe that a tier needs.
func (s *Search) demand(tier int) demand {
	if len(s.points) == 0 {
		return demand{Probe: Probe{s.o.From, Climb, tier}, urgency: climbing}
	}
	low, high := s.border(tier)
	switch {
	case low == nil && high == nil: // measured, without a request that counts
		p := s.points[len(s.points)-1]
		if p.runs >= s.o.Repeats {
			return demand{}
		}
		return demand{Probe: Probe{p.load, Repeat, tier}, urgency: climbing}
	case high == nil:
		if load := s.up(low); load > low.top() {
			// The highest of several tiers' climbs leaves the fewest of them without a bracket.
			return demand{Probe: Probe{load, Climb, tier}, urgency: climbing * (1 + load/s.o.Most)}
		}
	case low == nil:
		if load, hope := s.down(high); hope {
			return demand{Probe: Probe{load, Climb, tier}, urgency: climbing}
		}
		return demand{}
	case s.o.Confidence > 0:
		return s.pin(tier, low, high)
	default:
		if load, width := s.between(tier, low, high); width > 0 {
			return demand{Probe: Probe{load, Narrow, tier}, urgency: narrowing * (1 + width), width: width}
		}
	}
	return demand{}
}

// up is a load above one that passed: the higher, the further latencies are from their limits.
func (s *Search) up(low *block) float64 {
	top, factor := low.top(), mostClimb
	if r := low.last().tiers[low.tier].ratio(); r > nearRatio {
		factor = leastClimb
	} else if r > farRatio {
		factor = math.Sqrt(mostClimb)
	}
	next := s.round(top * factor)
	if s.o.Whole {
		next = max(next, top+1)
	}
	return min(next, s.o.Most)
}

// down is a load below one that failed. There is no hope where a lower load is not tried, or where less load makes the latency no shorter.
func (s *Search) down(high *block) (load float64, hope bool) {
	bottom, factor := high.bottom(), mostClimb
	if r := high.points[0].tiers[high.tier].ratio(); r > 0 {
		factor = min(max(r, leastClimb), mostClimb)
		for _, p := range s.points {
			if far := p.tiers[high.tier].ratio(); p.load >= flatOver*bottom && far > 0 && far < flat*r {
				return 0, false
			}
		}
	}
	load = s.round(bottom / factor)
	return load, load >= s.o.From/lowest && load > 0 && load < bottom
}

// between is a load inside a bracket, and the bracket's width as a logarithm; 0 if it is narrow enough.
func (s *Search) between(tier int, low, high *block) (load, width float64) {
	l, h := low.top(), high.bottom()
	const near = 1 + metrics.SearchPrecision
	if h <= l*near || s.o.Whole && h-l <= 1 {
		return 0, 0
	}
	width = math.Log(h / l)
	guess := math.Sqrt(l * h)
	rl, rh := low.last().tiers[tier].ratio(), high.points[0].tiers[tier].ratio()
	// A bracket that shrank by less than a half is bisected: the estimate was no good.
	creeps := s.widths[tier] > 0 && width > s.widths[tier]/2
	if rl > 0 && rl < 1 && rh > 1 && !creeps {
		// Near a server's capacity a latency grows as one over what is left of it, so its reciprocal falls in about a straight line.
		part := (1/rl - 1) / (1/rl - 1/rh)
		at := l * math.Exp(width*min(max(part, inner), 1-inner))
		const aim = 1 + aimed*metrics.SearchPrecision
		switch {
		case at < l*aim: // a failure there ends it
			guess = l * aim
		case at > h/aim: // a pass there ends it
			guess = h / aim
		default: // just below the border; just above it follows
			guess = at / math.Sqrt(aim)
		}
	}
	load = s.round(guess)
	if s.o.Whole {
		load = min(max(load, l+1), h-1)
	}
	if load <= l || load >= h {
		load = math.Sqrt(l * h)
	}
	return load, width
}

// round makes a load whole, or readable.
func (s *Search) round(load float64) float64 {
	if s.o.Whole {
		return max(1, math.Floor(load))
	}
	return min(Readable(load), s.o.Most)
}

// Readable is a load in three digits.
func Readable(load float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(load, 'g', digits, 64), 64)
	if err != nil {
		return load
	}
	return short
}
