package chart

import (
	"math"
	"time"

	"benchtop/tui/number"
)

// LatencyAxis maps latencies to bins: the columns of a histogram, the rows of a heat map.
type LatencyAxis struct {
	lo, hi time.Duration
	linear bool
	cut    bool // samples below lo count in the first bin
	n      int  // bins
}

// LatencyRange is the range of samples that an axis has to show.
type LatencyRange struct {
	Least, Most time.Duration
	Usual       time.Duration // the least latency but for a few early samples
}

// NewLatencyAxis returns a logarithmic axis between round numbers, so that it seldom changes. A few early samples far below the rest
// count in its first bin.
func NewLatencyAxis(n int, of LatencyRange) LatencyAxis {
	lo, hi := min(of.Least, longest/10), min(of.Most, longest)
	a := LatencyAxis{lo: tickAtMost(lo), hi: tickAtLeast(hi), n: n}
	a.cut = lo < a.lo // gaps of 0, within one read
	if from := tickAtMost(min(of.Usual, longest)); from > 5*a.lo {
		a.lo, a.cut = from, true
	}
	if a.hi < 5*a.lo {
		a.hi = 5 * a.lo // a needle needs some room around it
	}
	return a
}

// NewLinearAxis returns a linear axis from 0 to at least the latency given.
func NewLinearAxis(n int, to time.Duration) LatencyAxis {
	return LatencyAxis{hi: tickAtLeast(min(max(to, time.Microsecond), longest)), linear: true, n: n}
}

// bin maps a latency to 0 to n.
func (a LatencyAxis) bin(d time.Duration) float64 {
	if a.linear {
		return float64(d) / float64(a.hi) * float64(a.n)
	}
	return math.Log(float64(max(d, 1))/float64(a.lo)) / math.Log(float64(a.hi)/float64(a.lo)) * float64(a.n)
}

// Shows reports whether a latency lies on the axis.
func (a LatencyAxis) Shows(d time.Duration) bool {
	x := a.bin(d)
	return x >= 0 && x < float64(a.n)
}

// part maps a latency in seconds to 0 to 1.
func (a LatencyAxis) part(s float64) float64 { return a.bin(number.Seconds(s)) / float64(a.n) }

// latency is the inverse of bin.
func (a LatencyAxis) latency(x float64) time.Duration {
	if a.linear {
		return time.Duration(x / float64(a.n) * float64(a.hi))
	}
	return time.Duration(float64(a.lo) * math.Pow(float64(a.hi)/float64(a.lo), x/float64(a.n)))
}

func (a LatencyAxis) firstTick() time.Duration {
	if a.linear {
		return a.step()
	}
	return a.lo
}

func (a LatencyAxis) nextTick(d time.Duration) time.Duration {
	if a.linear {
		return d + a.step()
	}
	return tickAtLeast(d + 1)
}

func (a LatencyAxis) step() time.Duration {
	return tickAtLeast(a.hi / time.Duration(max(1, a.n/12)))
}

// Spread sums up buckets of samples by the bins of an axis. A bucket counts in each bin in proportion to its overlap: otherwise buckets
// and bins of nearly the same width would make stripes.
type Spread struct {
	Bins []float64

	axis LatencyAxis
	per  float64       // bins per factor of e
	end  time.Duration // of the last bucket
	at   float64       // its bin
}

// Spread returns an empty sum.
func (a LatencyAxis) Spread() *Spread {
	return &Spread{
		Bins: make([]float64, a.n), axis: a, end: -1,
		per: float64(a.n) / math.Log(float64(a.hi)/float64(a.lo)),
	}
}

// Add adds a bucket. A heat map does so for every second that it shows, so the logarithm of a shared edge is computed once.
func (s *Spread) Add(from, to time.Duration, samples float64) {
	x0, x1 := s.at, s.bin(to)
	if from != s.end {
		x0 = s.bin(from)
	}
	s.end, s.at = to, x1
	n := s.axis.n
	if s.axis.cut && x0 < 0 { // also the part of a bucket that straddles the edge
		s.Bins[0] += samples * (min(x1, 0) - x0) / (x1 - x0)
	}
	if x1 <= 0 || x0 >= float64(n) || x1 <= x0 {
		return
	}
	each := samples / (x1 - x0)
	for x := max(0, int(x0)); x < n && float64(x) < x1; x++ {
		s.Bins[x] += each * max(0, min(x1, float64(x+1))-max(x0, float64(x)))
	}
}

// bin is the bin on the axis, computed faster.
func (s *Spread) bin(d time.Duration) float64 {
	if s.axis.linear {
		return s.axis.bin(d)
	}
	return math.Log(float64(max(d, 1))/float64(s.axis.lo)) * s.per
}

// longest is the longest latency an axis reaches to, eleven days.
const longest = time.Duration(number.Max)

// tickAtLeast is the next of 1, 2, 5 times a power of ten from 1 µs on.
func tickAtLeast(d time.Duration) time.Duration {
	for e := time.Microsecond; ; e *= 10 {
		for _, m := range [...]time.Duration{1, 2, 5} {
			if m*e >= d || e > longest {
				return m * e
			}
		}
	}
}

// tickAtMost is the one before.
func tickAtMost(d time.Duration) time.Duration {
	best := time.Microsecond
	for e := time.Microsecond; e <= longest; e *= 10 {
		for _, m := range [...]time.Duration{1, 2, 5} {
			if m*e > d {
				return best
			}
			best = m * e
		}
	}
	return best
}
