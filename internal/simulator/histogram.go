package simulator

import (
	"slices"
	"sort"
	"time"
)

// histogram counts durations as a Prometheus histogram does: each bucket up to and including its bound in seconds.
type histogram struct {
	bounds []float64 // seconds, ascending
	counts []int     // one per bound and one for what is above all
	sum    time.Duration
}

func newHistogram(bounds ...float64) histogram {
	return histogram{bounds: bounds, counts: make([]int, len(bounds)+1)}
}

func (h *histogram) add(d time.Duration) {
	h.counts[sort.SearchFloat64s(h.bounds, d.Seconds())]++
	h.sum += d
}

func (h *histogram) clone() histogram {
	return histogram{bounds: h.bounds, counts: slices.Clone(h.counts), sum: h.sum}
}
