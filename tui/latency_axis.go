package tui

import (
	"math"
	"time"

	"benchtop/metrics"
)

// latencyAxis maps latencies to columns.
type latencyAxis struct {
	lo, hi time.Duration
	linear bool
	cut    bool // what is below lo counts in the first column
	w      int
}

// early is the share of samples that may lie far below the rest without getting room of their own: chunks that came in one
// read are microseconds apart, where those of a stream are milliseconds.
const early = 0.03

// axis spans what the whole run holds, out to round numbers, so that it seldom changes and both scopes fit.
func (b bars) axis(w int) latencyAxis {
	var lo, hi time.Duration
	first := true
	for _, h := range []*metrics.Histogram{b.front, b.outline} {
		for bucket := range h.Buckets() {
			if first || bucket.From < lo {
				lo, first = bucket.From, false
			}
			hi = max(hi, bucket.To, bucket.From)
		}
	}
	lo, hi = min(lo, longest/10), min(hi, longest)
	if b.v.linear {
		// A few stragglers would press everything else against the left edge.
		edge := max(b.front.Quantile(0.995), b.outline.Quantile(0.995))
		return latencyAxis{hi: tickAtLeast(min(max(edge, time.Microsecond), longest)), linear: true, w: w}
	}
	ax := latencyAxis{lo: tickAtMost(lo), hi: tickAtLeast(hi), w: w}
	ax.cut = lo < ax.lo // gaps of nothing at all, within one read
	if from := tickAtMost(min(b.usual(b.front), b.usual(b.outline))); from > 5*ax.lo {
		ax.lo, ax.cut = from, true
	}
	if ax.hi < 5*ax.lo {
		ax.hi = 5 * ax.lo // a needle needs some room around it
	}
	return ax
}

// usual is where a histogram begins, but for a few early samples.
func (b bars) usual(h *metrics.Histogram) time.Duration {
	if h.Count() == 0 {
		return longest
	}
	return h.Quantile(early)
}

// column is where a latency lies, from 0 to w.
func (a latencyAxis) column(d time.Duration) float64 {
	if a.linear {
		return float64(d) / float64(a.hi) * float64(a.w)
	}
	return math.Log(float64(max(d, 1))/float64(a.lo)) / math.Log(float64(a.hi)/float64(a.lo)) * float64(a.w)
}

// latency is the inverse of column.
func (a latencyAxis) latency(x float64) time.Duration {
	if a.linear {
		return time.Duration(x / float64(a.w) * float64(a.hi))
	}
	return time.Duration(float64(a.lo) * math.Pow(float64(a.hi)/float64(a.lo), x/float64(a.w)))
}

func (a latencyAxis) firstTick() time.Duration {
	if a.linear {
		return a.step()
	}
	return a.lo
}

func (a latencyAxis) nextTick(d time.Duration) time.Duration {
	if a.linear {
		return d + a.step()
	}
	return tickAtLeast(d + 1)
}

func (a latencyAxis) step() time.Duration {
	return tickAtLeast(a.hi / time.Duration(max(1, a.w/12)))
}

// columns spreads the buckets over the columns they cover, in proportion, as a share of all: without that, buckets and
// columns of nearly the same width would beat against each other in stripes.
func (a latencyAxis) columns(h *metrics.Histogram) []float64 {
	out := make([]float64, a.w)
	// A heat map does this for every second it shows, so logarithms are not computed twice.
	per := float64(a.w) / math.Log(float64(a.hi)/float64(a.lo))
	column := func(d time.Duration) float64 { return math.Log(float64(max(d, 1))/float64(a.lo)) * per }
	if a.linear {
		column = a.column
	}
	end, at := time.Duration(-1), 0.0 // of the bucket before
	for b := range h.Buckets() {
		from, to := at, column(b.To)
		if b.From != end {
			from = column(b.From)
		}
		end, at = b.To, to
		if a.cut && from < 0 { // also the part of a bucket that straddles the edge
			out[0] += float64(b.Count) / float64(h.Count()) * (min(to, 0) - from) / (to - from)
		}
		if to <= 0 || from >= float64(a.w) || to <= from {
			continue
		}
		n := float64(b.Count) / float64(h.Count()) / (to - from)
		for x := max(0, int(from)); x < a.w && float64(x) < to; x++ {
			out[x] += n * max(0, min(to, float64(x+1))-max(from, float64(x)))
		}
	}
	return out
}
