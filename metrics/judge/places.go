package judge

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

const (
	// slowLevel is the chance that any place of a run whose places are equal is called slow, over all its axes and
	// latencies, if pieces of the run are independent. They nearly are: 0 to 2 % of simulated runs had one, and with a
	// level of 5 % up to 5 %. slowLeast is the least ratio of one that is.
	slowLevel = 0.02
	slowLeast = 1.1
	// failingLeast is the least difference of a share of failures to those of the others.
	failingLeast = 0.01
	// Latencies beyond these bounds, in seconds, count as the bound.
	shortestLatency, longestLatency = 1e-6, 1e9
	// placeCells bounds the cells of a run, which are joined by two where it is longer.
	placeCells = 240
	// placePiecesLeast, placePiecesMost: with fewer, their independence carries the verdict alone.
	placePiecesLeast, placePiecesMost = 6, 24
	// pieceLeast are the requests that each place needs in a piece.
	pieceLeast = 5
	// pieceApart is the length of a piece in times over which the differences between places depend on themselves.
	pieceApart = 3
)

// Places sum up a latency of the places of an axis, or their failures, in short cells of the time at which requests
// were sent.
type Places struct {
	width time.Duration // 0 for binLeast
	cells map[string][]placeCell
}

// placeCell sums up the logarithms of a latency, or ones for failures.
type placeCell struct {
	sum fixedPoint
	n   int
}

func (c placeCell) mean() float64 { return c.sum.float() / float64(c.n) }

func joined(cells []placeCell) (all placeCell) {
	for _, c := range cells {
		all.sum, all.n = all.sum+c.sum, all.n+c.n
	}
	return all
}

// Add counts n requests of a place that were sent at a time after the warm-up, with a latency in seconds, or the mean
// of theirs.
func (p *Places) Add(place string, at time.Duration, seconds float64, n int) {
	p.add(place, at, math.Log(min(max(seconds, shortestLatency), longestLatency)), n)
}

// AddEnd counts a request of a place that was sent at a time after the warm-up, and its failure.
func (p *Places) AddEnd(place string, at time.Duration, failed bool) {
	v := 0.0
	if failed {
		v = 1
	}
	p.add(place, at, v, 1)
}

func (p *Places) add(place string, at time.Duration, value float64, n int) {
	p.width = max(p.width, binLeast)
	for ; int(max(0, at)/p.width) >= placeCells; p.width *= 2 {
		for name, cells := range p.cells {
			var half []placeCell
			for pair := range slices.Chunk(cells, 2) {
				half = append(half, joined(pair))
			}
			p.cells[name] = half
		}
	}
	if p.cells == nil {
		p.cells = map[string][]placeCell{}
	}
	if p.cells[place] == nil && len(p.cells) >= metrics.MostClasses { // engines of a file may have any names
		place = metrics.OtherClasses
	}
	k, cells := int(max(0, at)/p.width), p.cells[place]
	for len(cells) <= k {
		cells = append(cells, placeCell{})
	}
	cells[k].sum += fixedOf(value) * fixedPoint(n)
	cells[k].n += n
	p.cells[place] = cells
}

// Sums are what the places of an axis are compared by.
type Sums struct {
	Latencies map[metrics.Latency]*Places
	Failures  Places
}

// contest is a comparison of places with what it is decided by.
type contest struct {
	metrics.Spread
	axis     int
	failures bool     // rather than a latency
	names    []string // of the places that are compared
	means    []float64
	others   []float64 // the median of the others' means
	chances  []float64 // of ranks so high, were they equal; nil where the run is too short
}

// Compare fills in the spreads of axes, by the places of each that have a latency, and the places that fail. A place is
// slow if its ranks among the others, from piece to piece of the run, are higher than chance makes them, were all
// orders of the places alike; it fails if those of its failures are. The load may change, since places are compared
// within a piece. Chances are corrected for all places, latencies, failures and axes together, by the method of Holm
// (1979).
func Compare(axes []metrics.Comparison, sums []Sums) {
	var all []contest
	tests := 0
	add := func(p *Places, c contest) {
		if p.contest(&c) {
			tests += len(c.chances)
			all = append(all, c)
		}
	}
	for i := range axes {
		for _, l := range slices.Sorted(maps.Keys(sums[i].Latencies)) {
			add(sums[i].Latencies[l], contest{Spread: metrics.Spread{Latency: l}, axis: i})
		}
		if sums[i].Failures.some() {
			add(&sums[i].Failures, contest{axis: i, failures: true})
		}
	}
	var chances []float64
	for i := range all {
		c := &all[i]
		if k := float64(len(c.names)); c.chances != nil && math.Pow(k, -float64(c.Pieces))*float64(tests) > slowLevel {
			need := math.Ceil(math.Log(float64(tests)/slowLevel) / math.Log(k)) // pieces, were one place always last
			c.Longer, c.Pieces, c.chances = max(1.1, need/float64(c.Pieces)), 0, nil
		}
		chances = append(chances, c.chances...)
	}
	chances = Corrected(chances)
	for i := range all {
		c := &all[i]
		c.conclude(&axes[c.axis], chances[:len(c.chances)])
		chances = chances[len(c.chances):]
	}
}

// conclude adds what a contest says, by the corrected chances, to an axis.
func (c *contest) conclude(axis *metrics.Comparison, chances []float64) {
	var failing []metrics.FailingPlace
	for k, chance := range chances {
		mean, others := c.means[k], c.others[k]
		switch ratio := math.Exp(mean - others); {
		case chance > slowLevel:
		case c.failures && mean-others >= failingLeast:
			failing = append(failing, metrics.FailingPlace{Name: c.names[k], Share: mean, Others: others})
		case !c.failures && ratio >= slowLeast:
			c.Slow = append(c.Slow, metrics.SlowPlace{Name: c.names[k], Ratio: ratio})
		}
	}
	if c.failures {
		slices.SortStableFunc(failing, func(a, b metrics.FailingPlace) int { return cmp.Compare(b.Share, a.Share) })
		axis.Failures = &metrics.FailureShares{Failing: failing, Longer: c.Longer}
		return
	}
	slices.SortStableFunc(c.Slow, func(a, b metrics.SlowPlace) int { return cmp.Compare(b.Ratio, a.Ratio) })
	axis.Spreads = append(axis.Spreads, c.Spread)
}

// some reports whether any sum is not 0, as with a failure.
func (p *Places) some() bool {
	for _, cells := range p.cells {
		if joined(cells).sum != 0 {
			return true
		}
	}
	return false
}

// contest compares the places; false where there are not two.
func (p *Places) contest(c *contest) (several bool) {
	var names []string
	var totals []int
	for name, cells := range p.cells {
		if name != metrics.NoPlace && name != metrics.OtherClasses {
			names, totals = append(names, name), append(totals, joined(cells).n)
		}
	}
	if len(names) < 2 {
		return false
	}
	slices.Sort(names)
	slices.Sort(totals)
	enough := func(name string) bool { return joined(p.cells[name]).n >= placePiecesLeast*pieceLeast }
	if second := totals[len(totals)-2]; second < placePiecesLeast*pieceLeast {
		c.Longer = float64(placePiecesLeast*pieceLeast) / float64(second)
	} else {
		names = slices.DeleteFunc(names, func(name string) bool { return !enough(name) })
	}
	means := metrics.Each(names, func(name string) float64 { return joined(p.cells[name]).mean() })
	for i := range means {
		c.others = append(c.others, metrics.Median(slices.Delete(slices.Clone(means), i, i+1)))
	}
	c.names, c.means, c.Places = names, means, len(names)
	if c.Longer > 0 {
		return true
	}
	low, high := slices.Index(means, slices.Min(means)), slices.Index(means, slices.Max(means))
	c.Slowest, c.Fastest, c.Ratio = names[high], names[low], math.Exp(means[high]-means[low])
	if c.Pieces, c.Longer = p.pieces(names); c.Pieces > 0 {
		c.chances = p.chances(names, c.Pieces)
	}
	return true
}

// length is the number of cells to the last with a request.
func (p *Places) length() (n int) {
	for _, cells := range p.cells {
		n = max(n, len(cells))
	}
	return n
}

// of are the sums of a piece of places: number i of so many.
func (p *Places) of(names []string, i, pieces int) []placeCell {
	n := p.length()
	return metrics.Each(names, func(name string) placeCell {
		cells, begin, end := p.cells[name], i*n/pieces, (i+1)*n/pieces
		return joined(cells[min(begin, len(cells)):min(end, len(cells))])
	})
}

// pieces is the greatest number of pieces that hardly depend on each other and have enough requests of each place; with
// 0, longer is how many times as long the run would have to be.
func (p *Places) pieces(names []string) (n int, longer float64) {
	few := func(c placeCell) bool { return c.n < pieceLeast }
	n = min(placePiecesMost, int(float64(p.length())/(pieceApart*p.memory(names))))
	for i := 0; i < n; i++ {
		if slices.ContainsFunc(p.of(names, i, n), few) {
			n, i = n-1, -1
		}
	}
	if n < placePiecesLeast {
		return 0, float64(placePiecesLeast) / float64(max(n, 1))
	}
	return n, 0
}

// memory is the number of cells over which the differences between places depend on themselves: twice the mean of their
// autocorrelation times.
func (p *Places) memory(names []string) float64 {
	series, length := make([][]float64, len(names)), p.length()
	for k := range length {
		cells := p.of(names, k, length)
		var known []float64
		for _, c := range cells {
			if c.n > 0 {
				known = append(known, c.mean())
			}
		}
		middle := metrics.Median(known)
		for i, c := range cells {
			if c.n > 0 && len(known) > 1 {
				series[i] = append(series[i], c.mean()-middle)
			}
		}
	}
	all := 0.0
	for _, s := range series {
		all += 2 * correlation(s) / float64(len(series))
	}
	return all
}

// chances are the probabilities of sums of ranks at least as high as those of each place, were its rank in each piece
// any of them with the same chance. Places that are equal in a piece have the mean of their ranks.
func (p *Places) chances(names []string, pieces int) (out []float64) {
	all := make([]int, len(names)) // sums of twice the ranks
	sums := []float64{1}           // the distribution of such a sum
	for i := range pieces {
		means := metrics.Each(p.of(names, i, pieces), placeCell.mean)
		next := make([]float64, len(sums)+2*len(names)-2)
		for a := range means {
			rank := -1 // of itself
			for b := range means {
				rank += 1 + cmp.Compare(means[a], means[b])
			}
			all[a] += rank
			for s, chance := range sums {
				next[s+rank] += chance / float64(len(names))
			}
		}
		sums = next
	}
	for _, r := range all {
		above := 0.0
		for _, chance := range sums[r:] {
			above += chance
		}
		out = append(out, min(1, above))
	}
	return out
}

// Corrected are probabilities corrected for how many there are, by the method of Holm (1979): with them, the chance
// that any is below a level by chance is at most that level.
func Corrected(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out, before := make([]float64, len(p)), 0.0
	for rank, i := range order {
		before = min(1, max(before, p[i]*float64(len(p)-rank)))
		out[i] = before
	}
	return out
}
