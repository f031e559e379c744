package panels

import (
	"fmt"
	"slices"

	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// percentileTablePanel is the full table of all latencies: from the histograms while the run goes on, exact once it is
// over.
var percentileTablePanel = Panel{name: "percentiles", title: percentileTableTitle, draw: drawPercentiles}

func percentileTableTitle(v *View, w, h int) []screen.Span {
	var out []screen.Span = tableTitle(v, "percentiles")
	if s := v.speeds(); s.N > 0 && !v.speedsFit(h-2) {
		out = noted(out, w, screen.Label, between+"p50 "+speed(s, s.Median)+" "+speedUnit)
	}
	if v.Baseline == nil {
		return out
	}
	return noted(out, w, screen.Label, " · vs baseline "+v.baselineName(), " · against baseline")
}

// olderRow is a latency of the baseline, in the same stretch if it has that; nil where it does not have the latency.
func (v *View) olderRow(l metrics.Latency) *latencyRow {
	if v.Baseline == nil || v.Baseline.Report == nil {
		return nil
	}
	r := &latencyRow{of: l, name: "baseline"}
	if from, to, ok := v.olderStretch(); ok {
		r.hist = v.olderSum(l, from, to)
	} else {
		r.hist, r.exact = v.olderHistogram(l), &v.Baseline.Report.Statistics[l]
	}
	if r.empty() {
		return nil
	}
	return r
}

// sizes of the table of percentiles.
const (
	percentileWidth = 8
	countWidth      = 8
	unitWidth       = 3
	longName        = 19 // "first answer token"
	shortName       = 8  // "ITL/tok"
	// fullTable is the width of all columns.
	fullTable = 2 + longName + unitWidth + countWidth + 9*percentileWidth
)

// percentileColumns are the columns that fit into w. The least important are left out first.
func percentileColumns(w int) []latencyColumn {
	all := []latencyColumn{
		meanColumn, quantileColumn("p50", 50), quantileColumn("p75", 75), quantileColumn("p90", 90),
		quantileColumn("p95", 95), quantileColumn("p99", 99), quantileColumn("p99.9", 99.9), maxColumn,
	}
	for _, name := range []string{"p75", "p99.9", "max", "p95", "mean", "p90"} {
		if len(all)*percentileWidth <= w {
			break
		}
		all = slices.DeleteFunc(all, func(c latencyColumn) bool { return c.name == name })
	}
	return all
}

// drawPercentiles writes a row for each latency, the chosen one with a sign before it. The figures of the baseline
// stand below each row where there is room; the change of the 99th percentile always stands at the end.
//
//	             n    mean     p50     p90     p99   Δp99
//	› TTFT  ms 4723     415     346     589    1080  +12%
//	  TPOT  ms 4640      42      35      59     108   -3%
func drawPercentiles(c screen.Canvas, v *View) {
	names := longName
	if c.W < 2+longName+unitWidth+countWidth+5*percentileWidth {
		names = shortName
	}
	left := 2 + names + unitWidth
	counted := c.W >= left+countWidth+4*percentileWidth
	if counted {
		left += countWidth
	}
	compared := v.Baseline != nil && c.W >= left+3*percentileWidth
	room := c.W - left
	if compared {
		room -= percentileWidth
	}
	cols := percentileColumns(room)
	t := latencyTable(v, cols, counted, compared, latencySizes{2, names, unitWidth, percentileWidth})
	y, all := 0, v.pageLatencies()
	if c.H > len(all)/2 {
		t.head(c)
		y++
	}
	pairs := v.Baseline != nil && c.H-y >= 2*len(all) // the figures of the baseline stand below
	first, lines := 0, c.H-y
	if lines < len(all) { // too few: the chosen one must be among them
		first = min(max(0, slices.Index(all, v.Latency)-lines+1), len(all)-lines)
	}
	for i := first; i < len(all) && y < c.H; i++ {
		r, older := v.latencyRow(all[i]), v.olderRow(all[i])
		if names == shortName {
			r.name = r.of.Naming().Short
		}
		top, st := r.top(cols), screen.Text
		if pairs && older != nil { // both are in one unit
			top = max(top, older.top(cols))
		}
		if r.of == v.Latency {
			c.Print(0, y, ">", screen.Strong)
			st = screen.Strong
		}
		t.row(c.Sub(0, y, c.W, 1), latencyLine{latencyRow: r, older: older, top: top, style: st}, screen.Text)
		y++
		if pairs {
			drawBelow(c.Sub(0, y, c.W, 1), t, older, names, top)
			y++
		}
	}
	if v.speedsFit(c.H) {
		drawSpeeds(c.Sub(0, y, c.W, 1), v)
	}
}

// drawBelow writes the figures of the baseline, if it has the latency.
func drawBelow(c screen.Canvas, t *table[latencyLine], older *latencyRow, names int, top float64) {
	if older != nil {
		older.name = screen.Shorten("  "+older.name, names)
		t.row(c, latencyLine{latencyRow: *older, top: top, style: screen.Dim, below: true}, screen.Text)
	}
}

// drawSpeeds writes a line with the output speeds of users. Its low percentiles are those of slow users, so it names
// its own figures.
func drawSpeeds(c screen.Canvas, v *View) {
	s := v.speeds()
	x := c.Print(2, 0, speedUnit, screen.Text)
	all := []figure{{name: "mean", value: speed(s, s.Mean)}, {name: "p50", value: speed(s, s.Median)}}
	for _, p := range slices.Backward(s.Percentiles) {
		if p.P < 50 {
			all = append(all, figure{name: fmt.Sprintf("p%g", p.P), value: speed(s, p.Value)})
		}
	}
	for _, f := range all {
		words := []screen.Span{screen.Label.Span("  " + f.name + " "), screen.Text.Span(f.value)}
		if x+screen.SpansWidth(words) >= c.W {
			return
		}
		x = c.Spans(x, 0, words)
	}
}

// speedsFit reports whether a table of so many lines has one for the output speeds. The title of a lower one has their
// median.
func (v *View) speedsFit(lines int) bool {
	rows := len(v.pageLatencies())
	if v.Baseline != nil && lines > 2*rows {
		rows *= 2
	}
	return lines > 1+rows && v.plan().Measures(metrics.Pace)
}

// speedUnit names the output speed of users.
const speedUnit = "tok/s/user"

// speeds are the output speeds of users in the chosen scope.
func (v *View) speeds() metrics.Statistic {
	if v.exact() {
		return v.Report.Speeds
	}
	return v.latencyRow(metrics.Pace).hist.Speeds()
}

// speed writes an output speed, a dash where there is none.
func speed(s metrics.Statistic, of float64) string { return orDash(s.N > 0, number.Rate, of) }

// changeName is the name of the column of p99Change. It shows where a part of this run is compared with the whole
// baseline.
func changeName(v *View) string {
	if _, _, ok := v.olderStretch(); !ok && !v.finishedWhole() {
		if v.ASCII {
			return "+-all"
		}
		return "Δwhole"
	}
	if v.ASCII {
		return "p99 +-"
	}
	return "Δp99"
}

// p99Change is the change of the 99th percentile from that of the baseline.
func p99Change(r latencyRow, older *latencyRow) string {
	if older == nil || r.empty() {
		return "–"
	}
	of := quantileColumn("p99", 99).of
	now, a := of(r)
	before, b := of(*older)
	if a == absent || b == absent {
		return "–"
	}
	return change(now, before)
}

// change writes how much a figure differs from an earlier one, in percent.
func change(now, before float64) string {
	now, before = number.Sane(now), number.Sane(before)
	part, ok := metrics.Change(now, before)
	switch {
	case !ok:
		return "–"
	case part < 10:
		return text.Change(part)
	}
	return "×" + number.Short(now/before)
}
