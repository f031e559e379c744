package judge

import (
	"cmp"
	"math"
	"slices"

	"benchtop/metrics"
)

// Observation is what was seen of a load: how many of so many effective requests were bad.
type Observation struct{ Load, Bad, Effective float64 }

// Border is where the highest load within some objectives is, as a distribution over candidate loads. The share of bad
// requests is taken to be a logistic function of the load's logarithm that crosses what is allowed at the candidate,
// with a slope that is not known. An observation may have been disturbed, and then says nothing.
type Border struct {
	from, to float64 // logarithms
	weights  []float64
}

const (
	candidates = 120
	// clip is the greatest share of bad requests that counts: beyond it a load is too high, by whatever factor.
	clip = 0.2
	// disturbed is the probability that an observation says nothing.
	disturbed = 0.05
)

// slopes of the logit of the share of bad requests over the logarithm of the load: a server whose latency rises slowly,
// to one that stops at once.
var slopes = [...]float64{5, 8, 12, 24, 48, 96}

// strays are the shares of bad requests at any load, of those that are allowed: some are slow for reasons of their own.
var strays = [...]float64{0.04, 0.3, 0.6, 0.8}

// BorderOf follows from observations of which enough have to be good, for borders between two loads.
func BorderOf(enough float64, all []Observation, low, high float64) Border {
	allowed := max(1-enough, 1e-6)
	clip := min(max(clip, 4*allowed), 0.95)
	b := Border{from: math.Log(low), to: math.Log(max(high, low*1.01)), weights: make([]float64, candidates)}
	const shapes = len(slopes) * len(strays)
	weights := slices.Repeat([]float64{1 / float64(candidates*shapes)}, candidates*shapes)
	for _, o := range all {
		at, bad := math.Log(max(o.Load, 1e-9)), min(o.Bad, clip*o.Effective)
		likelihood := func(p float64) float64 { return bad*math.Log(p) + (o.Effective-bad)*math.Log1p(-p) }
		most := likelihood(min(max(bad/o.Effective, strays[0]*allowed), clip))
		weight := func(p float64) float64 { return (1-disturbed)*math.Exp(likelihood(p)-most) + disturbed*0.2 }
		clipped, total := weight(clip), 0.0 // most loads above the border are clipped
		for k, slope := range slopes {
			for i := range candidates {
				rises := math.Exp(-slope * (at - b.at(i)))
				for j, stray := range strays {
					stray *= allowed
					cross := (allowed - stray) / (1 - stray) // at the border
					w := clipped
					if p := stray + (1-stray)/(1+(1-cross)/cross*rises); p < clip {
						w = weight(p)
					}
					n := i*shapes + k*len(strays) + j
					weights[n] *= w
					total += weights[n]
				}
			}
		}
		for n := range weights { // each time, or many observations would make all of them 0
			weights[n] /= total
		}
	}
	for n, w := range weights {
		b.weights[n/shapes] += w
	}
	return b
}

// at is the logarithm of a candidate.
func (b *Border) at(i int) float64 { return b.from + (b.to-b.from)*(float64(i)+0.5)/candidates }

// Quantile is the load below which the border is with a probability.
func (b *Border) Quantile(q float64) float64 {
	sum := 0.0
	for i, w := range b.weights {
		if sum += w; sum >= q {
			return math.Exp(b.at(i))
		}
	}
	return math.Exp(b.to)
}

// Above is the probability that the border is above a load.
func (b *Border) Above(load float64) (sum float64) {
	for i, w := range b.weights {
		if b.at(i) > math.Log(load) {
			sum += w
		}
	}
	return sum
}

const (
	// below and above the loads that were tried there are candidates, as factors.
	candidateBelow, candidateAbove = 0.3, 2
	// tail is the probability on either side of the stated range.
	tail = 0.1
	// openMost is the probability beyond the loads that were tried from which on the estimate has no upper bound.
	openMost = 0.15
	// widest is the greatest factor from the lower to the upper bound of an estimate that says something.
	widest = 6
)

// estimate is the range of the highest load within a tier's objectives; the zero value where no level says anything.
func (l *Levels) estimate(tier int, order []*level, a *metrics.Answer) metrics.Range {
	enough, _ := l.plan.EnoughGood()
	var all []Observation
	for _, v := range order {
		w := &v.weights[tier]
		if v.Standing.Evidence() && w.n > 0 && w.pending == 0 {
			n := l.effective(v, tier)
			all = append(all, Observation{l.seen(v, tier), n * (1 - float64(w.good)/float64(w.n)), n})
		}
	}
	if len(all) == 0 {
		return metrics.Range{}
	}
	bottom, top := order[0].Offered*candidateBelow, order[len(order)-1].Offered
	high := top * candidateAbove
	if a.Saturates && a.Capacity.Known() {
		high = min(high, a.Capacity.High)
	}
	b := BorderOf(enough, all, bottom, high)
	r := metrics.Range{Load: b.Quantile(0.5), Low: b.Quantile(tail), High: b.Quantile(1 - tail)}
	if b.Above(top) > openMost {
		r.High = 0
		r.Load, r.Low = min(r.Load, top), min(r.Low, top)
	}
	blur := l.blur(order, r.Low)
	r.Low *= blur
	r.Load *= math.Sqrt(blur)
	if a.Saturates && a.Capacity.Known() {
		r.Load = max(r.Low, min(r.Load, a.Capacity.Low))
		r.High = cmp.Or(r.High, max(r.Low, a.Capacity.High))
	}
	if r.High > widest*r.Low {
		return metrics.Range{}
	}
	return r
}

// effective is the number of effective requests of a level for an estimate, where short levels count too.
func (l *Levels) effective(v *level, tier int) float64 {
	w := &v.weights[tier]
	return max(min(w.effective, l.lasting(v, tier)), 0.5)
}

// lasting is the length of a level over the time for which its requests depend on each other, with the help of its
// neighbours where it is short.
func (l *Levels) lasting(v *level, tier int) float64 {
	return (v.To - v.From).Seconds() / (2 * l.memory(v, tier))
}

const neighbours = 2

// memory is the time in seconds for which requests of a level depend on each other.
func (l *Levels) memory(v *level, tier int) float64 {
	var series []float64
	for i := max(0, v.index-neighbours); i <= min(len(l.list)-1, v.index+neighbours); i++ {
		o := &l.list[i]
		if i != v.index && (len(v.tests[tier].bins) >= 60 || o.width != v.width) {
			continue
		}
		means := o.tests[tier].means()
		mean := 0.0
		for _, x := range means {
			mean += x / float64(len(means))
		}
		for _, x := range means {
			series = append(series, x-mean)
		}
	}
	return max(correlation(series)*v.width.Seconds(), v.base().Seconds()/(2*perRequest))
}

// seen is the load whose effect the requests of a level show: it lags behind a load that rises.
func (l *Levels) seen(v *level, tier int) float64 {
	if v.index == 0 || !l.follows(v.index) {
		return v.Offered
	}
	before := l.list[v.index-1].Offered
	memory, length := l.memory(v, tier), (v.To - v.From).Seconds()
	if v.Offered <= before {
		return v.Offered
	}
	part := min(1, memory/length)
	return max(v.Offered-(v.Offered-before)*part, before*0.5)
}

// blur is the factor by which the border may be below the lowest load of an estimate, because the queue of a load had
// no time to grow: the time in which a queue of capacity C settles at the utilization u is 1/(C (1-√u)²), so that n
// requests show only those loads that are at least by the factor (1-√(1/n))² below capacity (relaxation time of the
// M/M/1 queue: Cohen, The Single Server Queue, 1982).
func (l *Levels) blur(order []*level, at float64) float64 {
	n := 0.0
	for _, v := range order {
		if v.Offered >= at*(1-band) && v.Offered <= at*(1+band) {
			n = max(n, float64(v.Requests))
			if l.plan.Ramp != nil && v.set == nil {
				n = max(n, l.inBand(v, order))
			}
		}
	}
	if n < 4 {
		off := func(v *level) float64 { return math.Abs(v.Offered - at) }
		near := slices.MinFunc(order, func(a, b *level) int { return cmp.Compare(off(a), off(b)) })
		n = float64(near.Requests)
	}
	return Blur(n)
}

// Blur is the factor by which the border may be below a load of which so many requests were good; see blur.
func Blur(requests float64) float64 {
	f := 1 - math.Sqrt(blurOf/max(blurLeast, requests))
	return f * f
}

// inBand are the requests of levels with about the load of one.
func (l *Levels) inBand(v *level, order []*level) (n float64) {
	for _, o := range order {
		if math.Abs(o.Offered-v.Offered) <= band/2*v.Offered {
			n += float64(o.Requests)
		}
	}
	return n
}

const (
	band      = 0.1
	blurOf    = 0.5
	blurLeast = 4
)
