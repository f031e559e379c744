package judge

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// work is what was asked of the server and what it did, over the time of a run, in requests of the mean number of
// output tokens. A request that is answered is done evenly from its first token to its last, so that a server that
// begins all requests at once has done little of them.
type work struct {
	width            time.Duration // of a bin
	arrived, failed  []float64     // requests in each bin
	waiting          []float64     // of those, requests that were cut before the server began to answer
	answered, tokens []float64     // successes that arrived in each bin, and their tokens
	// In each bin: the sum of the rates of the answers that begin there less those that end, and of rate times moment
	// in the bin.
	rate, offset     []fixedPoint
	asked, lost, did []float64     // until the begin of each bin, and until the end: set by sum
	known            time.Duration // until when it is known: later, requests without an end have done some
}

// fixedPoint is a number whose sums do not depend on their order.
type fixedPoint int64

const fixedOne = 1 << 16

func fixedOf(v float64) fixedPoint  { return fixedPoint(math.Round(v * fixedOne)) }
func (f fixedPoint) float() float64 { return float64(f) / fixedOne }

// mostTokens bounds those of an answer that comes from a file.
const mostTokens = 1_000_000

// workMost bounds the bins of a run.
const workMost = 4096

// reset begins the work of a run that ends at a moment.
func (w *work) reset(end time.Duration) {
	w.width = max(binLeast/2, end/workMost)
	n := int(end/w.width) + 1
	for _, p := range []*[]float64{&w.arrived, &w.failed, &w.waiting, &w.answered, &w.tokens} {
		*p = emptied(*p, n)
	}
	w.rate, w.offset = emptied(w.rate, n), emptied(w.offset, n)
}

// emptied has n zeros, in the memory of a slice if it suffices.
func emptied[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

func (w *work) bin(at time.Duration) int { return min(max(0, int(at/w.width)), len(w.arrived)-1) }

func (w *work) arrive(at time.Duration) {
	if at != metrics.Never {
		w.count(w.arrived, at)
	}
}

// count counts a request in the bin of its arrival.
func (w *work) count(bins []float64, at time.Duration) {
	if len(bins) > 0 {
		bins[w.bin(at)]++
	}
}

// answer counts one to a request that arrived at a moment.
func (w *work) answer(at, first, last time.Duration, tokens int) {
	if len(w.rate) == 0 {
		return
	}
	size := float64(min(max(1, tokens), mostTokens))
	w.answered[w.bin(at)]++
	w.tokens[w.bin(at)] += size
	last = min(max(0, last), metrics.MaxWindows*time.Second)
	first = min(max(0, first), last-max(w.width/16, time.Microsecond))
	rate := size / (last - first).Seconds()
	w.turn(first, rate)
	w.turn(last, -rate)
}

// turn changes the rate of work at a moment.
func (w *work) turn(at time.Duration, by float64) {
	i := w.bin(at)
	w.rate[i] += fixedOf(by)
	w.offset[i] += fixedOf(by * (at - time.Duration(i)*w.width).Seconds())
}

// sum makes the sums from which the other methods read.
func (w *work) sum() {
	n := len(w.arrived)
	for _, p := range []*[]float64{&w.asked, &w.lost, &w.did} {
		*p = emptied(*p, n+1)
	}
	answered, tokens, mean := 0.0, 0.0, 1.0
	for i := range n {
		answered, tokens = answered+w.answered[i], tokens+w.tokens[i]
	}
	if answered > 0 {
		mean = tokens / answered
	}
	rate, did, open := fixedPoint(0), 0.0, 0.0
	w.known = time.Duration(n) * w.width
	for i := range n {
		if open += max(0, w.arrived[i]-w.answered[i]-w.failed[i]-w.waiting[i]); open > openFewest+openPart*answered {
			w.known = min(w.known, time.Duration(i)*w.width)
		}
		w.asked[i+1] = w.asked[i] + max(0, w.arrived[i]-w.answered[i]) + w.tokens[i]/mean
		w.lost[i+1] = w.lost[i] + w.failed[i]
		rate += w.rate[i]
		did += rate.float()*w.width.Seconds() - w.offset[i].float()
		w.did[i+1] = max(w.did[i], did/mean)
	}
}

// at reads a sum at a moment.
func (w *work) at(sum []float64, at time.Duration) float64 {
	if len(sum) == 0 {
		return 0
	}
	x := float64(at) / float64(w.width)
	i := min(max(0, int(x)), len(sum)-1)
	if i == len(sum)-1 {
		return sum[i]
	}
	return sum[i] + (sum[i+1]-sum[i])*min(1, max(0, x-float64(i)))
}

// between is how much of a sum came between two moments.
func (w *work) between(sum []float64, from, to time.Duration) float64 {
	return w.at(sum, to) - w.at(sum, from)
}

// backlog is the work that was asked for and neither done nor refused, at a moment.
func (w *work) backlog(at time.Duration) float64 {
	return w.at(w.asked, at) - w.at(w.lost, at) - w.at(w.did, at)
}

// doneRate is the rate of work between two moments with its spread: the bounds between which it is with 95 %
// confidence, from the means of some pieces of the time.
func (w *work) doneRate(from, to time.Duration) metrics.Range {
	length := (to - from).Seconds()
	total := w.between(w.did, from, to)
	if !(length > 0) || !(total > 0) {
		return metrics.Range{}
	}
	mean := total / length
	pieces := min(max(fewestPieces, int(total/pieceOf)), mostPieces)
	squares := 0.0
	for i := range pieces {
		a := from + (to-from)*time.Duration(i)/time.Duration(pieces)
		b := from + (to-from)*time.Duration(i+1)/time.Duration(pieces)
		off := w.between(w.did, a, b)/(b-a).Seconds() - mean
		squares += off * off
	}
	error := studentT(pieces-1) * math.Sqrt(squares/float64(pieces-1)/float64(pieces))
	error = max(error, leastSpread*mean, mean/math.Sqrt(total)/2)
	return metrics.Range{Load: mean, Low: max(0, mean-error), High: mean + error}
}

const (
	// openPart of the requests, and openFewest more, may be without an end, because they hang.
	openFewest, openPart = 2, 0.005

	fewestPieces, mostPieces = 4, 16
	pieceOf                  = 25 // requests, at least
	leastSpread              = 0.01
)

// studentT is about the two-sided 95 % quantile of Student's distribution.
func studentT(freedom int) float64 {
	n := float64(max(1, freedom))
	return 1.96 + 2.4/n + 8.4/(n*n*n)
}
