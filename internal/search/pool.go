package search

import (
	"math"

	"benchtop/metrics/saturation"
)

// pool is the evidence of several measurements for one tier.
type pool struct {
	good, requests int
	share          float64
	runs, missed   int
	logs           float64 // the sum of the ratios' logarithms, of so many
	ratios         int
}

// add pools a measurement. One that missed whatever its requests say has no good ones.
func (p *pool) add(e *Evidence) {
	if e.Requests <= 0 && !e.Missed {
		return
	}
	p.runs++
	p.requests += max(1, e.Requests)
	p.share = e.Share
	if e.Missed {
		p.missed++
	} else {
		p.good += min(max(0, e.Good), e.Requests)
	}
	if e.Ratio > 0 && !math.IsInf(e.Ratio, 0) {
		p.logs += math.Log(e.Ratio)
		p.ratios++
	}
}

// ratio is the geometric mean of the runs' ratios, 0 for none.
func (p *pool) ratio() float64 {
	if p.ratios == 0 {
		return 0
	}
	return math.Exp(p.logs / float64(p.ratios))
}

// within are the good requests. There are none where half of the runs missed as a whole.
func (p *pool) within() int {
	if 2*p.missed >= p.runs && p.missed > 0 {
		return 0
	}
	return p.good
}

// block is a stretch of neighbouring loads whose shares of good requests do not fall with the load, taken as one.
type block struct {
	tier           int
	points         []*point
	good, requests int
	share          float64
}

func (b *block) bottom() float64 { return b.points[0].load }
func (b *block) last() *point    { return b.points[len(b.points)-1] }
func (b *block) top() float64    { return b.last().load }

func (b *block) passed() bool {
	return (&Evidence{Good: b.good, Requests: b.requests, Share: b.share}).Passed()
}

// confidence is the probability that the share of good requests is enough.
func (b *block) confidence() float64 {
	if b == nil {
		return 0
	}
	return saturation.ShareAtLeast(b.good, b.requests, b.share)
}

// blocks are the loads of a tier in order, pooled so that the share of good requests falls from each block to the next.
func (s *Search) blocks(tier int) (all []block) {
	for _, p := range s.points {
		of := &p.tiers[tier]
		if of.requests == 0 {
			continue
		}
		all = append(all, block{tier, []*point{p}, of.within(), of.requests, of.share})
		for n := len(all); n > 1 && all[n-1].better(&all[n-2]); n-- {
			above := all[n-1]
			all = all[:n-1]
			all[n-2].join(&above)
		}
	}
	return all
}

// better compares shares.
func (b *block) better(than *block) bool {
	return float64(b.good)*float64(than.requests) > float64(than.good)*float64(b.requests)
}

func (b *block) join(above *block) {
	b.points = append(b.points, above.points...)
	b.good += above.good
	b.requests += above.requests
}

// border is the highest block that passed and the one above it; nil for none. The last load of the former passes and the first of the
// latter fails by their own evidence, too.
func (s *Search) border(tier int) (low, high *block) {
	for _, b := range s.blocks(tier) {
		if !b.passed() {
			return low, &b
		}
		low = &b
	}
	return low, nil
}
