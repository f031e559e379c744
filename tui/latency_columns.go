package tui

import (
	"time"

	"benchtop/metrics"
)

// latencyColumn is one figure of a row in milliseconds.
type latencyColumn struct {
	name string
	of   func(r latencyRow) (ms float64, known known)
}

// known says how well a figure is known.
type known uint8

const (
	absent  known = iota
	guessed       // from a histogram, in a table that is exact otherwise
	told          // as exact as the table is
)

func quantileColumn(name string, p float64) latencyColumn {
	return latencyColumn{name, func(r latencyRow) (float64, known) {
		if r.exact == nil {
			return milliseconds(r.hist.Quantile(p / 100)), told
		}
		if p == 50 {
			return r.exact.Median, told
		}
		if v, ok := r.exact.Percentile(p); ok {
			return v, told
		}
		if r.hist.Count() == 0 {
			return 0, absent
		}
		return milliseconds(r.hist.Quantile(p / 100)), guessed
	}}
}

// boundColumn is the mean, the least or the most.
func boundColumn(name string, of func(*metrics.Statistic) float64, estimate func(*metrics.Histogram) time.Duration) latencyColumn {
	return latencyColumn{name, func(r latencyRow) (float64, known) {
		if r.exact != nil {
			return of(r.exact), told
		}
		return milliseconds(estimate(r.hist)), told
	}}
}

func meanColumn() latencyColumn {
	return boundColumn("mean", func(s *metrics.Statistic) float64 { return s.Mean }, (*metrics.Histogram).Mean)
}

func maxColumn() latencyColumn {
	return boundColumn("max", func(s *metrics.Statistic) float64 { return s.Max },
		func(h *metrics.Histogram) time.Duration { return h.Quantile(1) })
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

// latencyColumns are the columns that fit; the wider the panel, the more of the tails.
func latencyColumns(w int) []latencyColumn {
	mean, most := meanColumn(), maxColumn()
	least := boundColumn("min", func(s *metrics.Statistic) float64 { return s.Min },
		func(h *metrics.Histogram) time.Duration { return h.Quantile(0) })
	p50, p90, p95, p99 := quantileColumn("p50", 50), quantileColumn("p90", 90), quantileColumn("p95", 95), quantileColumn("p99", 99)
	switch {
	case w < nameWidth+3*figureWidth:
		return []latencyColumn{p50, p99}
	case w < nameWidth+5*figureWidth:
		return []latencyColumn{mean, p50, p99}
	case w < nameWidth+8*figureWidth:
		return []latencyColumn{mean, p50, p90, p95, p99}
	}
	return []latencyColumn{least, mean, p50, p90, p95, p99, quantileColumn("p99.9", 99.9), most}
}

// latencyUnit chooses one unit for a row by its largest figure, so that the row can be compared at a glance.
func latencyUnit(top float64) (unit string, scale float64, digits int) {
	switch {
	case top < 1:
		return "µs", 1000, 0
	case top < 10:
		return "ms", 1, 2
	case top < 100:
		return "ms", 1, 1
	case top < 10_000:
		return "ms", 1, 0
	case top < 100_000:
		return "s", 1e-3, 2
	case top < 1e6:
		return "s", 1e-3, 1
	case top < 1e8:
		return "s", 1e-3, 0
	}
	return "d", 1.0 / 86_400_000, 1
}
