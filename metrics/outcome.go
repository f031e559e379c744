package metrics

import (
	"math"
	"slices"
	"time"
)

// outcome is a request as vLLM's formulas see it: in seconds, as 64-bit floats. Keeping their arithmetic, order of
// additions included, is what makes the figures agree to the last digits.
type outcome struct {
	start, ttft, latency, slotWait float64
	rest                           otherObjectives
	itls                           []float64
	input, output                  int
}

func (o *outcome) tpot() float64 {
	if o.output < 2 {
		return -1
	}
	return (o.latency - o.ttft) / float64(o.output-1)
}

// latencies converts a successful request but for its gaps.
func (r *Request) latencies() outcome {
	o := outcomeOf(r.TTFT(), r.E2EL(), r.OutputTokens, r.otherObjectives())
	o.start, o.slotWait, o.input = r.Sent.Seconds(), max(0, r.SlotWait()).Seconds(), r.InputTokens
	return o
}

// outcomeOf is an outcome as far as objectives judge it.
func outcomeOf(ttft, e2el time.Duration, output int, rest otherObjectives) outcome {
	return outcome{ttft: ttft.Seconds(), latency: e2el.Seconds(), output: output, rest: rest}
}

// otherObjectives are the latencies that an objective may limit and that do not follow from TTFT, E2EL and the output tokens.
type otherObjectives [NumObjectives - E2EL - 1]time.Duration

func (r *Request) otherObjectives() (out otherObjectives) {
	for i := range out {
		out[i] = rows[int(E2EL)+1+i].of(r)
	}
	return out
}

// objective is a latency as an objective judges it. A request with fewer than two output tokens counts as having a TPOT of 0.
func (o *outcome) objective(l Latency) float64 {
	switch l {
	case TTFT:
		return o.ttft
	case TPOT:
		return max(0, o.tpot())
	case E2EL:
		return o.latency
	}
	return o.rest[l-E2EL-1].Seconds()
}

// outcome converts a successful request; buf is reused for the gaps.
func (r *Request) outcome(buf []float64) outcome {
	o := r.latencies()
	o.itls = buf[:0]
	for i := 1; i < len(r.Chunks); i++ {
		o.itls = append(o.itls, r.gap(i).Seconds())
	}
	return o
}

// tally sums up successful outcomes. Peaks are counted in one-second buckets from the earliest start, so that has to be
// known beforehand.
type tally struct {
	origin        float64
	slo           SLO
	n, good       int
	input, output int
	samples       [NumLatencies]sample
	chunks        []int // per bucket
	concurrent    []int
}

func newTally(origin float64, slo SLO) *tally {
	t := &tally{origin: origin, slo: slo}
	for l := range t.samples {
		t.samples[l] = sample{}
	}
	return t
}

func (t *tally) add(o *outcome) {
	t.n++
	t.input += o.input
	t.output += o.output
	for i := range table {
		t.addExact(&table[i], o)
	}
	if t.slo.judge(o).good() {
		t.good++
	}
	end := o.start + o.latency
	at := o.start + o.ttft
	count(&t.chunks, at-t.origin)
	for _, gap := range o.itls {
		at += gap
		count(&t.chunks, at-t.origin)
	}
	for k := int(math.Floor(o.start - t.origin)); k <= min(int(math.Floor(end-t.origin)), maxWindows); k++ {
		count(&t.concurrent, float64(k))
	}
}

// addExact adds a latency that has a formula in vLLM's arithmetic.
func (t *tally) addExact(r *row, o *outcome) {
	if r.exact == nil {
		return
	}
	times := 1
	if r.weight != nil {
		times = r.weight(o)
	}
	if v := r.exact(o); v >= 0 && times > 0 {
		t.samples[r.latency][v] += times
	}
}

// addPlain adds the others of a request.
func (t *tally) addPlain(r *Request) {
	for i := range table {
		switch f := &table[i]; {
		case f.exact != nil:
		case f.gap != nil:
			for k := 1; k < len(r.Chunks); k++ {
				t.samples[f.latency].add(f.gap(r, k).Seconds())
			}
		default:
			if v := f.of(r); v != Never {
				t.samples[f.latency].add(v.Seconds())
			}
		}
	}
}

func count(buckets *[]int, second float64) {
	k := min(max(int(math.Floor(second)), 0), maxWindows)
	for len(*buckets) <= k {
		*buckets = append(*buckets, 0)
	}
	(*buckets)[k]++
}

func (t *tally) peakOutput() int      { return peak(t.chunks) }
func (t *tally) peakConcurrency() int { return peak(t.concurrent) }

func peak(buckets []int) int {
	if len(buckets) == 0 {
		return 0
	}
	return slices.Max(buckets)
}

// overlap is a set of half-open intervals [start, end).
type overlap struct{ starts, ends []time.Duration }

func (o *overlap) add(start, end time.Duration) {
	o.starts, o.ends = append(o.starts, start), append(o.ends, end)
}

// sweep visits every moment at which the number of intervals that overlap changes, and that number from there on: at
// equal times ends come before starts.
func (o *overlap) sweep(visit func(at time.Duration, level int)) {
	slices.Sort(o.starts)
	slices.Sort(o.ends)
	level, ended := 0, 0
	end := func() {
		level--
		visit(o.ends[ended], level)
		ended++
	}
	for _, s := range o.starts {
		for ended < len(o.ends) && o.ends[ended] <= s {
			end()
		}
		level++
		visit(s, level)
	}
	for ended < len(o.ends) {
		end()
	}
}

// mostWith is the largest number of intervals of two sets that overlap.
func (o *overlap) mostWith(b *overlap) int {
	if len(b.starts) > 0 {
		o = &overlap{slices.Concat(o.starts, b.starts), slices.Concat(o.ends, b.ends)}
	}
	most := 0
	o.sweep(func(_ time.Duration, level int) { most = max(most, level) })
	return most
}
