package evidence

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// PairedLevel is the chance that any figure of equal servers has a verdict in a comparison of pairs, over all its
// looks.
const PairedLevel = 0.01

// Looks is the number of looks at the pairs of a comparison, at equal parts of its plan.
const Looks = 4

// levelAt is the level of a look, from 1: those of all looks add up to PairedLevel (Bonferroni), and the last has most.
func levelAt(look int) float64 {
	const all = Looks * Looks * (Looks + 1) * (Looks + 1) / 4
	return PairedLevel * float64(look*look*look) / all
}

// apart is the length of a piece in times over which the change of its figure depends on itself. Changes of one draw
// have less in common than figures, so that less is enough; see the table of docs/accuracy.md.
const apart = 2

// place is that of a request in the draw.
type place struct{ conversation, turn int }

// Pairs are the requests of two runs of one draw. A pair counts once both of its requests have ended, and its latencies
// count if both succeeded. Its methods may be called from several goroutines.
type Pairs struct {
	mu    sync.Mutex
	plan  *metrics.Plan
	open  map[place]*[2]*metrics.Request // from when a side has it until both have ended
	left  map[place]bool                 // out, since a side was in its warm-up
	size  int                            // conversations of a cell
	cells []cell
	ended [2][]end
	count int // of pairs
}

// cell are consecutive conversations of both sides.
type cell struct {
	sides [2]slice
	sent  [2]time.Duration // the first of each side, Never for none
}

// end of a request.
type end struct {
	at                time.Duration
	tokens, completed int
}

// mostCells bounds them; neighbours are joined where there are more.
const mostCells = 128

// NewPairs returns the pairs of two runs that have this plan in common.
func NewPairs(plan *metrics.Plan) *Pairs {
	return &Pairs{plan: plan, open: map[place]*[2]*metrics.Request{}, left: map[place]bool{}, size: 1}
}

// Close is called when both runs are over: what has ended on one side alone has no pair, as the later turns of a
// conversation that failed on the other.
func (p *Pairs) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.open)
}

// Side takes the events of the first run, or of the second.
func (p *Pairs) Side(of int) event.Sink { return side{p, of} }

type side struct {
	pairs *Pairs
	of    int
}

// Take keeps what a pair needs.
func (s side) Take(e *event.Event) {
	if e.Kind == event.Due || e.Kind == event.Done {
		s.pairs.take(s.of, e.Request, e.Kind == event.Done)
	}
}

func (p *Pairs) take(of int, q *metrics.Request, done bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := place{q.Conversation, q.Turn}
	if p.plan.Warming(q) { // on this side
		p.left[at] = true
		delete(p.open, at)
	}
	if p.left[at] {
		return
	}
	pair := p.open[at]
	if pair == nil {
		pair = new([2]*metrics.Request)
		p.open[at] = pair
	}
	if !done {
		return
	}
	kept := *q
	if pair[of] = &kept; pair[0] != nil && pair[1] != nil {
		delete(p.open, at)
		p.add(pair)
	}
}

// add counts a pair.
func (p *Pairs) add(pair *[2]*metrics.Request) {
	if pair[0].Undecided() || pair[1].Undecided() {
		return
	}
	p.count++
	at := pair[0].Conversation
	for at/p.size >= mostCells {
		p.join()
	}
	for len(p.cells) <= at/p.size {
		p.cells = append(p.cells, cell{sent: [2]time.Duration{metrics.Never, metrics.Never}})
	}
	c, both := &p.cells[at/p.size], pair[0].OK() && pair[1].OK()
	atOnce := pair[0].Pace() == metrics.Never || pair[1].Pace() == metrics.Never
	for i, q := range pair {
		counts := metrics.CountsOf(q)
		if q.OK() {
			counts.MetCount.Add(p.plan.Met(q, p.plan.Goodput), q.OutputTokens)
		}
		c.sides[i].Merge(&counts)
		if q.Sent != metrics.Never {
			c.sent[i] = earlier(c.sent[i], q.Sent)
		}
		p.ended[i] = append(p.ended[i], end{q.Done, counts.OutputTokens, counts.Completed})
		for _, l := range compared {
			if both && !(l == metrics.TPOT && atOnce) { // what comes at once has no time per token, and no ratio
				addLatency(&c.sides[i].histograms[l], l, q)
			}
		}
	}
}

// addLatency adds the values of a latency of a request.
func addLatency(h *metrics.Histogram, l metrics.Latency, q *metrics.Request) {
	v := metrics.Never
	switch l {
	case metrics.TTFT:
		v = q.TTFT()
	case metrics.TPOT:
		v = q.TPOT()
	case metrics.E2EL:
		v = q.E2EL()
	case metrics.ITL:
		for gap := range l.Plain(q) {
			h.Add(gap)
		}
	}
	if v != metrics.Never {
		h.Add(v)
	}
}

func earlier(a, b time.Duration) time.Duration {
	if a == metrics.Never {
		return b
	}
	return min(a, b)
}

// join joins neighbours.
func (p *Pairs) join() {
	p.size *= 2
	var joined []cell
	for i := range p.cells {
		if i%2 == 0 {
			joined = append(joined, p.cells[i])
			continue
		}
		c := &joined[i/2]
		for k := range c.sides {
			c.sides[k].add(&p.cells[i].sides[k])
			if p.cells[i].sent[k] != metrics.Never {
				c.sent[k] = earlier(c.sent[k], p.cells[i].sent[k])
			}
		}
	}
	p.cells = joined
}

// Part is how much of the plan has ended on both sides, of 1: of its requests, or of its time.
func (p *Pairs) Part() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.plan.Requests; n > 0 {
		return metrics.Share(p.count, n)
	}
	last := time.Duration(0)
	if n := len(p.ended[0]); n > 0 {
		last = min(p.ended[0][n-1].at, p.ended[1][n-1].at)
	}
	if p.plan.Duration == 0 {
		return 0
	}
	return float64(last) / float64(p.plan.Duration)
}

// sides are the cells of which all pairs have ended, as those of the first side and of the second, each with the time
// from its first request to the first of the next cell, and with what ended in that time.
func (p *Pairs) sides() (of [2][]slice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	whole := len(p.cells)
	for at := range p.open {
		whole = min(whole, at.conversation/p.size)
	}
	first := 0 // with a pair: the warm-up has none
	for first < whole && (p.cells[first].sent[0] == metrics.Never || p.cells[first].sent[1] == metrics.Never) {
		first++
	}
	for i := range of {
		of[i] = p.timed(i, whole)[first:]
	}
	return of
}

// timed are so many cells of a side with what ended in their time.
func (p *Pairs) timed(side, whole int) []slice {
	of, bounds := make([]slice, whole), make([]time.Duration, whole+1)
	for _, e := range p.ended[side] {
		bounds[whole] = max(bounds[whole], e.at)
	}
	for k := range min(whole+1, len(p.cells)) {
		if at := p.cells[k].sent[side]; at != metrics.Never {
			bounds[k] = max(at, bounds[max(0, k-1)])
		}
	}
	for k := range of {
		of[k].add(&p.cells[k].sides[side])
		of[k].seconds = (bounds[k+1] - bounds[k]).Seconds()
	}
	for _, e := range p.ended[side] {
		k, found := slices.BinarySearch(bounds, e.at)
		if !found || k == whole {
			k--
		}
		if k >= 0 && k < whole {
			of[k].tokens += e.tokens
			of[k].completed += e.completed
		}
	}
	return of
}

// ComparePairs compares the sides of pairs at a look, from 1 to Looks; between two looks, 0, there are no verdicts. Of
// several blocks, each is a unit; a single one is cut into pieces of consecutive pairs that are so long that their
// differences hardly depend on each other.
func ComparePairs(blocks []*Pairs, look int) (out Result) {
	level := levelAt(cmp.Or(look, Looks))
	out.Confidence = 1 - PairedLevel
	a, b := unitsOf(blocks)
	if len(a) == 0 {
		out.Why = "no pair of requests has ended"
		return out
	}
	wholeA, wholeB := joined(a), joined(b)
	var tests []test
	least, longest := math.MaxInt, 0
	for _, f := range figures() {
		row, ok := f.row(&wholeA, &wholeB)
		if !ok || f.key == "goodput" && !blocks[0].judges() {
			continue
		}
		changes, need := f.changes(a, b, len(blocks) == 1)
		if n := len(changes); n > 0 && lowestChance(n) <= level {
			least, longest = min(least, n), max(longest, n)
			row.paired(changes)
			tests = append(tests, test{len(out.Rows), n, pairedChance(changes)})
		} else {
			row.Longer = cmp.Or(need, fewestPaired(level)/max(1, float64(n)))
		}
		out.Rows = append(out.Rows, row)
	}
	out.decide(tests, level)
	if out.shorten(tests, level); look == 0 {
		for _, x := range tests {
			if row := &out.Rows[x.row]; row.Verdict != Short {
				row.Verdict = ""
			}
		}
	}
	out.Units = fmt.Sprintf("%d pairs", wholeA.Ended())
	switch {
	case longest == 0:
		out.Units += ", too few"
	case len(blocks) > 1:
		out.Units += fmt.Sprintf(" in %d blocks", longest)
	default:
		out.Units += fmt.Sprintf(" in %d to %d pieces", least, longest)
	}
	return out
}

// shorten calls a figure too short that has no verdict and could have none beside the others: with so many of its units
// as there are, if all changed in one direction.
func (out *Result) shorten(tests []test, level float64) {
	alone := level / float64(max(1, len(tests)))
	for _, x := range tests {
		if row := &out.Rows[x.row]; row.Verdict == None && lowestChance(x.units) > alone {
			row.Verdict, row.Longer = Short, max(row.Longer, fewestPaired(alone)/float64(x.units))
		}
	}
}

// unitsOf are those of each side: the blocks, or the cells of a single one.
func unitsOf(blocks []*Pairs) (a, b []slice) {
	for _, block := range blocks {
		of := block.sides()
		if len(blocks) > 1 && len(of[0]) > 0 {
			of = [2][]slice{{joined(of[0])}, {joined(of[1])}}
		}
		a, b = append(a, of[0]...), append(b, of[1]...)
	}
	return a, b
}

// row is the figure of all pairs, not yet tested; ok is false where there is none.
func (f *figure) row(a, b *slice) (r Row, ok bool) {
	va, na := f.of(a)
	vb, nb := f.of(b)
	return Row{Key: f.key, Name: f.name, A: metrics.Range{Load: va}, B: metrics.Range{Load: vb},
		Change: math.NaN(), Low: math.NaN(), High: math.NaN(), HigherBetter: f.higherBetter, Share: f.share,
		Verdict: Short}, na > 0 && nb > 0 && (va != 0 || vb != 0 || f.share)
}

// judges reports whether there are objectives.
func (p *Pairs) judges() bool { return p.plan.Judges(p.plan.Goodput) }

// joined are slices as one.
func joined(of []slice) (all slice) {
	for i := range of {
		all.add(&of[i])
	}
	return all
}

// changes are those of a figure from the first side to the second: of its logarithm, or of a share, in each unit. Where
// the units are cells of a run, they are joined to pieces. Where there are too few samples, need is how many times as
// many pairs there would have to be.
func (f *figure) changes(a, b []slice, cells bool) (all []float64, need float64) {
	length := 1
	if cells {
		basis := *f
		if f.basis != nil {
			basis.of = f.basis
		}
		fine, _ := basis.changesOf(a, b, 1)
		coarse, _ := basis.changesOf(a, b, coarser)
		memory := memoryOf(fine)
		if v := variance(fine); v > 0 {
			memory = max(memory, coarser*variance(coarse)/v*memoryOf(coarse))
		}
		if math.IsInf(memory, 1) {
			return nil, memory
		}
		length = max(int(math.Ceil(apart*memory)), len(a)/mostPieces)
	}
	for ; ; length++ {
		all, fewest := f.changesOf(a, b, length)
		switch {
		case fewest >= f.needs:
			return all, 0
		case !cells:
			return nil, float64(f.needs) / max(1, float64(fewest))
		case len(a)/(length+1) < 1:
			return nil, 2
		}
	}
}

// mostPieces bounds the pieces of a run, up to twice as many where its cells are few: shorter ones depend on each other
// by what varies too little to be seen in them.
const mostPieces = 16

// coarser is the number of cells that are joined to find what is lost in the noise of single ones: the variance of
// means of so many, times their number, is as many times that of single ones as these depend on each other.
const coarser = 4

func variance(values []float64) (sum float64) {
	m := mean(values)
	for _, v := range values {
		sum += (v - m) * (v - m)
	}
	return sum / float64(max(1, len(values)-1))
}

// changesOf are those of units of so many slices, with the least number of samples of one.
func (f *figure) changesOf(a, b []slice, length int) (all []float64, least int) {
	least = math.MaxInt
	n := len(a) / length
	for i := range n {
		sa, sb := joined(a[i*len(a)/n:(i+1)*len(a)/n]), joined(b[i*len(a)/n:(i+1)*len(a)/n])
		va, na := f.of(&sa)
		vb, nb := f.of(&sb)
		switch least = min(least, na, nb); {
		case na == 0 || nb == 0:
		case f.share:
			all = append(all, vb-va)
		default:
			change := logs([]float64{va, vb})
			all = append(all, change[1]-change[0])
		}
	}
	return all, least
}

// paired fills in the change with its interval.
func (r *Row) paired(changes []float64) {
	low, middle, high := pairedShift(changes, 1-PairedLevel)
	width := (high - low) / 2 / Notable
	if r.Low, r.Change, r.High = low, middle, high; !r.Share {
		r.Low, r.Change, r.High = math.Expm1(low), math.Expm1(middle), math.Expm1(high)
		width = (high - low) / 2 / math.Log1p(Notable)
	}
	if width > 1 {
		r.Longer = width * width
	}
}
