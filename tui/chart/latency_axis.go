package chart

import (
	"math"
	"time"

	"benchtop/tui/number"
)

// LatencyAxis maps latencies to bins: the columns of a histogram, the rows of a heat map. Latencies beyond the ends of
// the scale count in its outermost bins.
type LatencyAxis struct {
	lo, hi time.Duration // of the scale
	linear bool
	beyond bool // some latencies are above hi
	// the first bin of the scale, and the number of all bins; bin 0 of a first above 0 is for latencies below
	// ShortLatency
	first, n int
}

// LatencyRange is the range of latencies that an axis shows.
type LatencyRange struct {
	// From and To hold all but a few latencies at either end.
	From, To time.Duration
	// Most is the longest latency.
	Most time.Duration
	// Short gives the latencies below ShortLatency a bin of their own, apart from the scale.
	Short bool
}

// ShortLatency is below the time of a token: shorter gaps are between chunks of one read.
const ShortLatency = 100 * time.Microsecond

// short reports whether a latency counts in the bin apart from the scale.
func (a LatencyAxis) short(d time.Duration) bool { return a.first > 0 && d < ShortLatency }

// needle is the least ratio of the ends of a logarithmic axis.
const needle = 3

// shortGap is the number of bins from the short latencies to the scale.
const shortGap = 2

// NewLatencyAxis returns a logarithmic axis of n bins between round numbers, so that it seldom changes.
func NewLatencyAxis(n int, of LatencyRange) LatencyAxis {
	from, to := min(of.From, longest/10), min(of.To, longest)
	if to < needle*from {
		middle := math.Sqrt(float64(from) * float64(to))
		from, to = time.Duration(middle/math.Sqrt(needle)), time.Duration(middle*math.Sqrt(needle))
	}
	a := LatencyAxis{lo: roundBelow(from, edges), hi: roundAbove(to, edges), n: n}
	if a.hi < needle*a.lo {
		a.hi = roundAbove(needle*a.lo, edges)
	}
	if of.Short && n > shortGap {
		a.first = shortGap
	}
	a.beyond = of.Most > a.hi
	return a
}

// NewLinearAxis returns a linear axis of n bins from 0.
func NewLinearAxis(n int, of LatencyRange) LatencyAxis {
	hi := roundAbove(min(max(of.To, time.Microsecond), longest), edges)
	return LatencyAxis{hi: hi, linear: true, beyond: of.Most > hi, n: n}
}

// bin maps a latency to its place in bins. It is below the first bin of the scale, or above the last, for a latency
// beyond the scale.
func (a LatencyAxis) bin(d time.Duration) float64 {
	if a.linear {
		return float64(d) / float64(a.hi) * float64(a.n)
	}
	return float64(a.first) + math.Log(float64(max(d, 1))/float64(a.lo))*a.perE()
}

// perE is the number of bins per factor of e.
func (a LatencyAxis) perE() float64 {
	return float64(a.n-a.first) / math.Log(float64(a.hi)/float64(a.lo))
}

// column is the bin in which a latency counts.
func (a LatencyAxis) column(d time.Duration) int {
	if a.short(d) {
		return 0
	}
	return min(max(a.first, int(a.bin(d))), a.n-1)
}

// Shows reports whether a latency has a place on the axis.
func (a LatencyAxis) Shows(d time.Duration) bool {
	x := a.bin(d)
	return a.short(d) || x >= float64(a.first) && x < float64(a.n)
}

// part maps a latency in seconds to 0 to 1.
func (a LatencyAxis) part(s float64) float64 {
	d := number.Seconds(s)
	if a.short(d) {
		return 0
	}
	return a.bin(d) / float64(a.n)
}

// enoughTicks is the number of labels from which a scale is read at a glance.
const enoughTicks = 3

// ticks are round latencies of the scale, close together where a logarithmic one has few others.
func (a LatencyAxis) ticks(close bool) (out []time.Duration) {
	if !a.linear {
		return roundLatencies(a.lo, a.hi, close)
	}
	step := roundAbove(a.hi/time.Duration(max(1, a.n/12)), tens)
	for d := step; d <= a.hi; d += step {
		out = append(out, d)
	}
	return out
}

// roundLatencies are the round latencies from lo to hi.
func roundLatencies(lo, hi time.Duration, close bool) (out []time.Duration) {
	of := tens
	if close {
		of = halves
	}
	for d := roundAbove(lo, of); d <= hi && d <= longest; d = roundAbove(d+1, of) {
		out = append(out, d)
	}
	return out
}

// Spread sums up buckets of samples by the bins of an axis. A bucket counts in each bin in proportion to its overlap:
// otherwise buckets and bins of nearly the same width would make stripes.
type Spread struct {
	Bins []float64

	axis LatencyAxis
	per  float64       // bins per factor of e
	end  time.Duration // of the last bucket
	at   float64       // its bin
}

// Spread returns an empty sum.
func (a LatencyAxis) Spread() *Spread {
	return &Spread{Bins: make([]float64, a.n), axis: a, end: -1, per: a.perE()}
}

// Add adds a bucket. A heat map does so for every second that it shows, so the logarithm of a shared edge is computed
// once.
func (s *Spread) Add(from, to time.Duration, samples float64) {
	first, n := s.axis.first, s.axis.n
	if s.axis.short(from) {
		s.Bins[0] += samples
		return
	}
	x0, x1 := s.at, s.bin(to)
	if from != s.end {
		x0 = s.bin(from)
	}
	s.end, s.at = to, x1
	if n <= first || !(x1 > x0) {
		return
	}
	each := samples / (x1 - x0)
	s.Bins[first] += each * max(0, min(x1, float64(first))-x0)
	s.Bins[n-1] += each * max(0, x1-max(x0, float64(n)))
	for x := max(first, int(x0)); x < n && float64(x) < x1; x++ {
		s.Bins[x] += each * max(0, min(x1, float64(x+1))-max(x0, float64(x)))
	}
}

// bin is the bin on the axis, computed faster.
func (s *Spread) bin(d time.Duration) float64 {
	if s.axis.linear {
		return s.axis.bin(d)
	}
	return float64(s.axis.first) + math.Log(float64(max(d, 1))/float64(s.axis.lo))*s.per
}

// longest is the longest latency an axis reaches to, eleven days.
const longest = time.Duration(number.Max)

// rounds are the round numbers from 1 to 10, in tenths.
type rounds []time.Duration

// Round numbers of ticks, of ticks closer together, and of the ends of an axis.
var (
	tens   = rounds{10, 20, 50}
	halves = rounds{10, 15, 20, 30, 40, 50, 60, 80}
	edges  = rounds{10, 15, 20, 30, 50, 70}
)

// roundAbove is the least round latency that is at least d, from 1 µs on.
func roundAbove(d time.Duration, of rounds) time.Duration {
	for e := time.Microsecond / 10; ; e *= 10 {
		for _, m := range of {
			if m*e >= d || e > longest {
				return m * e
			}
		}
	}
}

// roundBelow is the largest that is at most d.
func roundBelow(d time.Duration, of rounds) time.Duration {
	best := time.Microsecond
	for e := time.Microsecond / 10; e <= longest; e *= 10 {
		for _, m := range of {
			if m*e > d {
				return best
			}
			best = m * e
		}
	}
	return best
}
