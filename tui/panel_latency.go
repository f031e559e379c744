package tui

import (
	"fmt"
	"time"

	"benchtop/metrics"
)

// tableWidth is what the latency table needs inside its border.
const tableWidth = 42

// latencyPanel is the table of latencies: from the histograms while the run goes on, exact once it is over.
var latencyPanel = panel{"latency", latencyTitle, drawLatency}

func latencyTitle(v *view, _, _ int) []span {
	out := []span{{"latency", strong}, {" " + v.scope(), text}}
	before := " · "
	if v.exact() {
		out = append(out, span{before + "exact", label})
		before = ", "
	}
	if v.userStamped() {
		out = append(out, span{before + "user stamps", label})
	}
	return out
}

// exact: the table can show the report's own figures.
func (v *view) exact() bool { return v.s.Report != nil && (v.whole || v.span == 0) }

type latencyRow struct {
	name  string
	hist  *metrics.Histogram
	exact *metrics.Statistic
}

func (v *view) latencies() []latencyRow {
	s, p := v.s, v.selected()
	rows := []latencyRow{{"TTFT", &p.ttft, nil}, {"TPOT", &p.tpot, nil}, {"ITL", &p.itl, nil}, {"E2EL", &p.e2el, nil}}
	if v.whole {
		rows[0].hist, rows[1].hist, rows[2].hist, rows[3].hist = &s.TTFT, &s.TPOT, &s.ITL, &s.E2EL
	}
	if r := s.Report; v.exact() {
		rows[0].exact, rows[1].exact, rows[2].exact, rows[3].exact = &r.TTFT, &r.TPOT, &r.ITL, &r.E2EL
	}
	return rows
}

// latencyColumn is one figure of a row in milliseconds; sure is false where an exact table has only an estimate.
type latencyColumn struct {
	name string
	of   func(r latencyRow) (ms float64, sure bool)
}

func quantileColumn(name string, p float64) latencyColumn {
	return latencyColumn{name, func(r latencyRow) (float64, bool) {
		if r.exact != nil {
			if p == 50 {
				return r.exact.Median, true
			}
			if v, ok := r.exact.Percentile(p); ok {
				return v, true
			}
		}
		return milliseconds(r.hist.Quantile(p / 100)), r.exact == nil
	}}
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

// latencyColumns are the columns that fit; the wider the panel, the more of the tails.
func latencyColumns(w int) []latencyColumn {
	mean := latencyColumn{"mean", func(r latencyRow) (float64, bool) {
		if r.exact != nil {
			return r.exact.Mean, true
		}
		return milliseconds(r.hist.Mean()), true
	}}
	least := latencyColumn{"min", func(r latencyRow) (float64, bool) {
		if r.exact != nil {
			return r.exact.Min, true
		}
		return milliseconds(r.hist.Quantile(0)), true
	}}
	most := latencyColumn{"max", func(r latencyRow) (float64, bool) {
		if r.exact != nil {
			return r.exact.Max, true
		}
		return milliseconds(r.hist.Quantile(1)), true
	}}
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

const (
	nameWidth   = 7 // "TTFT ms"
	figureWidth = 7
)

func drawLatency(c canvas, v *view) {
	cols := latencyColumns(c.w)
	y := 0
	if c.h > 4 {
		for i, col := range cols {
			c.right(nameWidth+(i+1)*figureWidth, 0, col.name, label)
		}
		y = 1
	}
	for _, r := range v.latencies() {
		if y >= c.h {
			return
		}
		drawLatencyRow(c, y, r, cols)
		y++
	}
}

func drawLatencyRow(c canvas, y int, r latencyRow, cols []latencyColumn) {
	c.print(0, y, r.name, text)
	n := r.hist.Count()
	if r.exact != nil {
		n = uint64(r.exact.N)
	}
	if n == 0 {
		for i := range cols {
			c.right(nameWidth+(i+1)*figureWidth, y, "–", label)
		}
		return
	}
	values := make([]float64, len(cols))
	sure := make([]bool, len(cols))
	top := 0.0
	for i, col := range cols {
		values[i], sure[i] = col.of(r)
		values[i] = sane(values[i])
		top = max(top, values[i])
	}
	unit, scale, digits := latencyUnit(top)
	c.print(5, y, unit, label)
	for i, x := range values {
		s := fmt.Sprintf("%.*f", digits, x*scale)
		if !sure[i] {
			s = "~" + s
		}
		st := text
		if cols[i].name == "p99" {
			st = strong
		}
		c.right(nameWidth+(i+1)*figureWidth, y, shorten(s, figureWidth), st)
	}
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
