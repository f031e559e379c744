package tui

import (
	"fmt"
	"slices"

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

// latencyRow is a latency as a table shows it: exact is nil where only a histogram is known.
type latencyRow struct {
	of    *latencyMetric
	name  string
	hist  *metrics.Histogram
	exact *metrics.Statistic
}

// row is the latency in the chosen scope.
func (m *latencyMetric) row(v *view) latencyRow {
	r := latencyRow{of: m, name: m.name, hist: m.picked(v.selected())}
	if v.whole {
		r.hist = m.run(v.s)
	}
	if v.exact() {
		r.exact = m.exact(v.s.Report)
	}
	return r
}

func (v *view) latencies() []latencyRow {
	var out []latencyRow
	for _, i := range []int{metricTTFT, metricTPOT, metricITL, metricE2EL} {
		out = append(out, latencyMetrics[i].row(v))
	}
	return out
}

const (
	nameWidth   = 7 // "TTFT ms"
	figureWidth = 7
)

func drawLatency(c canvas, v *view) {
	cols := latencyColumns(c.w)
	compared := v.baseline != nil && len(cols) > 3
	if compared { // how much the 99th percentile differs takes the place of the 95th
		cols = slices.DeleteFunc(cols, func(col latencyColumn) bool { return col.name == "p95" })
	}
	end := nameWidth + (len(cols)+1)*figureWidth
	y := 0
	if c.h > 4 {
		for i, col := range cols {
			c.right(nameWidth+(i+1)*figureWidth, 0, col.name, label)
		}
		if compared {
			c.right(end, 0, changeName(v), label)
		}
		y = 1
	}
	for _, r := range v.latencies() {
		if y >= c.h {
			return
		}
		drawLatencyRow(c, y, r, cols)
		if compared {
			c.right(end, y, p99Change(r, r.of.olderRow(v)), text)
		}
		y++
	}
	chartBelow(c, y, bandTitle(v, c.w, c.h), func(c canvas) { drawBand(c, v) })
}

func drawLatencyRow(c canvas, y int, r latencyRow, cols []latencyColumn) {
	c.print(0, y, r.name, text)
	unit, figures := r.figures(cols, r.top(cols))
	c.print(5, y, unit, label)
	for i, f := range figures {
		if cols[i].name == "p99" && f.style == text {
			f.style = strong
		}
		c.right(nameWidth+(i+1)*figureWidth, y, shorten(f.text, figureWidth), f.style)
	}
}

// count is how many there are of the latency.
func (r latencyRow) count() int {
	if r.exact != nil {
		return max(r.exact.N, 0)
	}
	return int(min(r.hist.Count(), 1<<62))
}

// empty: there are no figures. A result without its requests has some, but does not say of how many.
func (r latencyRow) empty() bool {
	return r.count() == 0 && (r.exact == nil || r.exact.Mean == 0 && r.exact.Median == 0)
}

// top is the largest figure of the row.
func (r latencyRow) top(cols []latencyColumn) float64 {
	top := 0.0
	for _, col := range cols {
		if v, known := col.of(r); known != absent {
			top = max(top, sane(v))
		}
	}
	return top
}

// figures are those of the row in the unit that suits the largest figure of all that is to be compared; dashes where there
// are none.
func (r latencyRow) figures(cols []latencyColumn, top float64) (unit string, out []span) {
	unit, scale, digits := latencyUnit(top)
	any := false
	for _, col := range cols {
		v, known := col.of(r)
		if r.empty() || known == absent {
			out = append(out, span{"–", label})
			continue
		}
		s := fmt.Sprintf("%.*f", digits, sane(v)*scale)
		if known == guessed {
			s = "~" + s
		}
		any = true
		out = append(out, span{s, text})
	}
	if !any {
		unit = ""
	}
	return unit, out
}
