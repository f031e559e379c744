package saturation

import (
	"slices"

	"benchtop/metrics"
)

// figures are times in seconds, one for each request, in any order. Unlike a sample they can be emptied and filled again without
// new memory.
type figures []float64

func (f *figures) add(seconds float64) { *f = append(*f, seconds) }

// sorted puts the figures in rising order.
func (f figures) sorted() figures {
	if !slices.IsSorted(f) {
		slices.Sort(f)
	}
	return f
}

// statistic sorts the figures and sums them up.
func (f figures) statistic(percentiles []float64) metrics.Statistic {
	return metrics.StatisticOf(f.sorted(), percentiles)
}

// mergeSorted appends two lists in rising order as one.
func mergeSorted(out, a, b figures) figures {
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
