package search

import (
	"math"

	"benchtop/metrics"
	"benchtop/metrics/saturation"
)

// The constants of runs near a border.
const (
	beside  = 0.015 // of a load from where the border is likely, as a logarithm
	same    = 0.008 // loads that are so near are one
	over    = 0.03  // of a load that passed over where the border is likely
	obvious = 0.999 // the probability of verdicts that leave no doubt
)

// pin asks for a run where the border of a tier is likely, while it is not sure enough that the answer is near it: just below or just
// above, where less is known.
func (s *Search) pin(tier int, low, high *block) demand {
	e, answer := s.estimate(tier), s.answer(tier, low)
	narrow := s.narrow(answer, high.bottom())
	clear := (low.good == low.requests || low.confidence() >= obvious) && high.confidence() <= 1-obvious
	if narrow && clear {
		return demand{}
	}
	doubt := s.o.Confidence - s.nearBorder(e, answer)
	if doubt <= 0 && narrow {
		return demand{}
	}
	width := math.Log(high.bottom() / low.top())
	creeps := s.widths[tier] > 0 && width > s.widths[tier]/2 && width > 2*metrics.SearchPrecision
	halves := math.Ceil(math.Log2(width / math.Log1p(metrics.SearchPrecision)))
	if late := float64(s.o.Runs-s.runs) <= halves; clear && !narrow && (creeps || late) {
		// The estimate is no good, or there are just enough runs to halve the bracket until it is narrow.
		middle := s.round(math.Sqrt(low.top() * high.bottom()))
		return demand{Probe: Probe{middle, Narrow, tier}, urgency: 1 + max(0, doubt+e.sd), width: width}
	}
	side := beside
	if doubt > 0 && s.known(tier, e.mean) <= 0 {
		side = -beside
	} else if doubt <= 0 { // a failure there ends it
		side = max(side, math.Log(answer*(1+aimed*metrics.SearchPrecision))-e.mean)
	}
	for range 2 {
		if p := s.beside(e.mean, side); s.runsAt(p.Load) < s.o.Repeats {
			p.Tier = tier
			return demand{Probe: p, urgency: 1 + max(0, doubt+e.sd), width: width}
		}
		side = -side
	}
	return demand{}
}

// narrow reports whether two loads are as near as was asked for.
func (s *Search) narrow(low, high float64) bool {
	return high <= low*(1+metrics.SearchPrecision) || s.o.Whole && high-low <= 1
}

// known are the runs near a border and below it less those above it.
func (s *Search) known(tier int, border float64) (n int) {
	for _, p := range s.points {
		switch off := math.Log(p.load) - border; {
		case math.Abs(off) > metrics.SearchPrecision:
		case off <= 0:
			n += p.runs
		default:
			n -= p.runs
		}
	}
	return n
}

func (s *Search) runsAt(load float64) int {
	for _, p := range s.points {
		if p.load == load {
			return p.runs
		}
	}
	return 0
}

// beside is a run at a load on one side of a border; one that was measured if that is near enough.
func (s *Search) beside(border, side float64) Probe {
	load := s.round(math.Exp(border + side))
	if s.o.Whole {
		load = max(1, math.Floor(math.Exp(border)))
		if side > 0 {
			load = max(load+1, s.round(math.Exp(border+side)))
		}
	}
	load = min(load, s.o.Most)
	for _, p := range s.points {
		if math.Abs(math.Log(p.load/load)) < same {
			return Probe{Load: p.load, Purpose: Repeat}
		}
	}
	return Probe{Load: load, Purpose: Narrow}
}

// nearBorder is the probability that the border is as near a load as was asked for.
func (s *Search) nearBorder(e *estimate, load float64) float64 {
	above := metrics.SearchPrecision
	if s.o.Whole {
		above = max(above, math.Log1p(1/load))
	}
	return e.within(math.Log(load)-metrics.SearchPrecision, math.Log(load)+above)
}

// answer is the load that passed and that the border is most probably near.
func (s *Search) answer(tier int, low *block) float64 {
	if s.o.Confidence <= 0 {
		return low.top()
	}
	e := s.estimate(tier)
	load, best := low.top(), -1.0
	for _, b := range s.blocks(tier) {
		if !b.passed() {
			break
		}
		for _, p := range b.points {
			if of := &p.tiers[tier]; saturation.ShareAtLeast(of.within(), of.requests, of.share) >= obvious {
				best = -1 // no lower load is the answer
			}
			if sure := s.nearBorder(e, p.load); best < 0 || sure >= best && math.Log(p.load) <= e.mean+over {
				load, best = p.load, sure
			}
		}
	}
	return load
}
