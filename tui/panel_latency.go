package tui

import (
	"fmt"
	"slices"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// tableWidth is what the latency table needs inside its border.
const tableWidth = 42

// latencyPanel is the table of latencies: from the histograms while the run goes on, exact once it is over.
var latencyPanel = panel{"latency", latencyTitle, drawLatency}

func latencyTitle(v *view, _, _ int) []screen.Span {
	out := []screen.Span{screen.Strong.Span("latency"), screen.Text.Span(" " + v.scope())}
	before := " · "
	if v.exact() {
		out = append(out, screen.Label.Span(before+"exact"))
		before = ", "
	}
	if v.userStamped() {
		out = append(out, screen.Label.Span(before+"user stamps"))
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

func drawLatency(c screen.Canvas, v *view) {
	cols := latencyColumns(c.W)
	compared := v.baseline != nil && len(cols) > 3
	if compared { // how much the 99th percentile differs takes the place of the 95th
		cols = slices.DeleteFunc(cols, func(col latencyColumn) bool { return col.name == "p95" })
	}
	end := nameWidth + (len(cols)+1)*figureWidth
	y := 0
	if c.H > 4 {
		for i, col := range cols {
			c.Right(nameWidth+(i+1)*figureWidth, 0, col.name, screen.Label)
		}
		if compared {
			c.Right(end, 0, changeName(v), screen.Label)
		}
		y = 1
	}
	for _, r := range v.latencies() {
		if y >= c.H {
			return
		}
		drawLatencyRow(c, y, r, cols)
		if compared {
			c.Right(end, y, p99Change(r, r.of.olderRow(v)), screen.Text)
		}
		y++
	}
	chartBelow(c, y, bandTitle(v, c.W, c.H), func(c screen.Canvas) { drawBand(c, v) })
}

func drawLatencyRow(c screen.Canvas, y int, r latencyRow, cols []latencyColumn) {
	c.Print(0, y, r.name, screen.Text)
	unit, figures := r.figures(cols, r.top(cols))
	c.Print(5, y, unit, screen.Label)
	for i, f := range figures {
		if cols[i].name == "p99" && f.Style == screen.Text {
			f.Style = screen.Strong
		}
		c.Right(nameWidth+(i+1)*figureWidth, y, screen.Shorten(f.Text, figureWidth), f.Style)
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
			top = max(top, number.Sane(v))
		}
	}
	return top
}

// figures are those of the row in the unit that suits the largest figure of all that is to be compared; dashes where there
// are none.
func (r latencyRow) figures(cols []latencyColumn, top float64) (unit string, out []screen.Span) {
	unit, scale, digits := latencyUnit(top)
	any := false
	for _, col := range cols {
		v, known := col.of(r)
		if r.empty() || known == absent {
			out = append(out, screen.Label.Span("–"))
			continue
		}
		s := fmt.Sprintf("%.*f", digits, number.Sane(v)*scale)
		if known == guessed {
			s = "~" + s
		}
		any = true
		out = append(out, screen.Text.Span(s))
	}
	if !any {
		unit = ""
	}
	return unit, out
}
