package search

import (
	"math"

	"benchtop/metrics/saturation"
)

// estimate is what all measurements together say of the logarithm of a tier's border.
type estimate struct {
	at, weights []float64 // candidates, and their probabilities, which add up to 1
	mean, sd    float64
}

// The model of an estimate: near the border the logarithm of a latency over its limit is a line in the logarithm of the load, whose slope
// is not known. Farther off it only says on which side the border is.
const (
	candidates = 64
	reach      = 1.5   // of the candidates beyond the loads that were measured, as a logarithm
	bend       = 0.3   // how far a latency may be from the line, of what the line says
	farOff     = 0.5   // the logarithm of a ratio that is far from 1
	runSpread  = 0.045 // of the logarithm of the ratio from run to run,
	loadSpread = 0.025 // and as a part of the load
	blur       = 0.05
	unknown    = 0.1 // probability of a verdict that is wrong where no ratio is known
)

// slopes are those that are thought of.
var slopes = [...]float64{0.5, 0.75, 1.1, 1.7, 2.5, 4, 6, 9, 14}

// estimate of a tier; nil without evidence.
func (s *Search) estimate(tier int) *estimate {
	if s.estimates[tier] == nil {
		s.estimates[tier] = s.newEstimate(tier)
	}
	return s.estimates[tier]
}

func (s *Search) newEstimate(tier int) *estimate {
	var all []reading
	for _, p := range s.points {
		if of := &p.tiers[tier]; of.runs > 0 {
			all = append(all, of.reading(math.Log(p.load)))
		}
	}
	if len(all) == 0 {
		return nil
	}
	low, high := all[0].at-reach, all[len(all)-1].at+reach
	e := estimateOf(all, low, high)
	for range 2 {
		width := 4*e.sd + 0.01
		e = estimateOf(all, max(low, e.mean-width), min(high, e.mean+width))
	}
	return e
}

// estimateOf is that among candidates in a range.
func estimateOf(all []reading, from, to float64) *estimate {
	e := &estimate{}
	logs := make([]float64, 0, candidates*len(slopes))
	best := math.Inf(-1)
	for i := range candidates {
		border := from + (to-from)*(float64(i)+0.5)/candidates
		e.at = append(e.at, border)
		for _, slope := range slopes {
			sum := 0.0
			for i := range all {
				sum += all[i].likelihood(border, slope)
			}
			logs = append(logs, sum)
			best = max(best, sum)
		}
	}
	e.weights = make([]float64, candidates)
	total := 0.0
	for i, l := range logs {
		w := math.Exp(l - best)
		e.weights[i/len(slopes)] += w
		total += w
	}
	for i, at := range e.at {
		e.weights[i] /= total
		e.mean += e.weights[i] * at
	}
	for i, at := range e.at {
		e.sd += e.weights[i] * (at - e.mean) * (at - e.mean)
	}
	e.sd = math.Sqrt(e.sd)
	return e
}

// within is the probability that the logarithm of the border is in a range.
func (e *estimate) within(from, to float64) (sum float64) {
	for i, v := range e.at {
		if from <= v && v <= to {
			sum += e.weights[i]
		}
	}
	return sum
}

// reading is the evidence of a load as an estimate takes it.
type reading struct {
	at    float64 // the load's logarithm
	ratio float64 // compressed
	runs  int     // with a ratio
	side  int     // 1 for a load that surely passed, -1 for one that surely failed, 0 where only the ratio counts
}

func (p *pool) reading(at float64) reading {
	r := reading{at: at}
	if p.ratios > 0 && p.missed == 0 {
		r.runs, r.ratio = p.ratios, compressed(p.logs/float64(p.ratios))
	}
	switch sure := saturation.ShareAtLeast(p.within(), p.requests, p.share); {
	case sure > obvious || p.within() == p.requests || r.runs == 0 && sure >= 0.5:
		r.side = 1
	case sure < 1-obvious || r.runs == 0:
		r.side = -1
	}
	return r
}

// likelihood is the logarithm of how likely a reading is with a border and a slope.
func (r *reading) likelihood(border, slope float64) (sum float64) {
	above := r.at - border
	if r.side != 0 {
		right := 0.5 * math.Erfc(float64(r.side)*above/blur)
		sum = math.Log(max(unknown, right))
	}
	if r.runs == 0 {
		return sum
	}
	line := compressed(slope * above)
	steep := 1 - math.Abs(line)/farOff
	steep *= steep
	spread := (runSpread*runSpread + loadSpread*loadSpread*slope*slope) * steep * steep / float64(r.runs)
	spread += bend * bend * line * line
	off := r.ratio - line
	return sum - 0.5*off*off/spread - 0.5*math.Log(spread)
}

// compressed makes little of what is far from 0.
func compressed(v float64) float64 { return v / (1 + math.Abs(v)/farOff) }
