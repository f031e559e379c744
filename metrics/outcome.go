package metrics

import (
	"math"
	"slices"
	"time"
)

// outcome is a request as vLLM's formulas see it: in seconds, as 64-bit floats. Keeping their arithmetic, order of
// additions included, is what makes the figures agree to the last digits.
type outcome struct {
	start, ttft, latency float64
	itls                 []float64
	input, output        int
}

func (o *outcome) tpot() float64 {
	if o.output < 2 {
		return -1
	}
	return (o.latency - o.ttft) / float64(o.output-1)
}

// latencies converts a successful request but for its gaps.
func (r *Request) latencies() outcome {
	return outcome{
		start: r.Sent.Seconds(), ttft: r.TTFT().Seconds(), latency: r.E2EL().Seconds(),
		input: r.InputTokens, output: r.OutputTokens,
	}
}

// outcome converts a successful request; buf is reused for the gaps.
func (r *Request) outcome(buf []float64) outcome {
	o := r.latencies()
	o.itls = buf[:0]
	for i := 1; i < len(r.Chunks); i++ {
		o.itls = append(o.itls, (r.Chunks[i].At - r.Chunks[i-1].At).Seconds())
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
	ttft, tpot    sample
	itl, e2el     sample
	chunks        []int // per bucket
	concurrent    []int
}

func newTally(origin float64, slo SLO) *tally {
	return &tally{origin: origin, slo: slo, ttft: sample{}, tpot: sample{}, itl: sample{}, e2el: sample{}}
}

func (t *tally) add(o outcome) {
	t.n++
	t.input += o.input
	t.output += o.output
	t.ttft.add(o.ttft)
	t.e2el.add(o.latency)
	if v := o.tpot(); o.output >= 2 {
		t.tpot.add(v)
	}
	if t.slo.judge(&o).good() {
		t.good++
	}
	end := o.start + o.latency
	at := o.start + o.ttft
	count(&t.chunks, at-t.origin)
	for _, gap := range o.itls {
		t.itl.add(gap)
		at += gap
		count(&t.chunks, at-t.origin)
	}
	for k := int(math.Floor(o.start - t.origin)); k <= min(int(math.Floor(end-t.origin)), maxWindows); k++ {
		count(&t.concurrent, float64(k))
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
