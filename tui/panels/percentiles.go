package panels

import (
	"fmt"
	"math"
	"slices"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// percentileTablePanel is the full table of all latencies: from the histograms while the run goes on, exact once it is over.
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

// drawPercentiles writes a row for each latency, the chosen one with a sign before it. The figures of the baseline stand below each row where there
// is room; the change of the 99th percentile always stands at the end.
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
	t := percentileTable{c: c, v: v, cols: percentileColumns(room), left: left, names: names, counted: counted, compared: compared}
	y, all := 0, v.pageLatencies()
	if c.H > len(all)/2 {
		t.head()
		y++
	}
	t.pairs = v.Baseline != nil && c.H-y >= 2*len(all)
	first, lines := 0, c.H-y
	if lines < len(all) { // too few: the chosen one must be among them
		first = min(max(0, slices.Index(all, v.Latency)-lines+1), len(all)-lines)
	}
	for i := first; i < len(all) && y < c.H; i++ {
		r, older := v.latencyRow(all[i]), v.olderRow(all[i])
		t.row(y, r, older)
		y++
		if t.pairs {
			t.below(y, r, older)
			y++
		}
	}
	if v.speedsFit(c.H) {
		t.speeds(y)
	}
}

type percentileTable struct {
	c                 screen.Canvas
	v                 *View
	cols              []latencyColumn
	left, names       int
	counted, compared bool
	pairs             bool // the figures of the baseline stand below
}

func (t percentileTable) head() {
	if t.counted {
		t.c.Right(t.left, 0, "n", screen.Label)
	}
	for i, col := range t.cols {
		t.c.Right(t.left+(i+1)*percentileWidth, 0, col.name, screen.Label)
	}
	if t.compared {
		t.c.Right(t.left+(len(t.cols)+1)*percentileWidth, 0, changeName(t.v), screen.Label)
	}
}

func (t percentileTable) row(y int, r latencyRow, older *latencyRow) {
	name, st := r.name, screen.Text
	if t.names == shortName {
		name = r.of.Naming().Short
	}
	if r.of == t.v.Latency {
		t.c.Print(0, y, ">", screen.Strong)
		st = screen.Strong
	}
	t.c.Print(2, y, name, st)
	unit, figures := r.figures(t.cols, t.top(r, older))
	t.c.Print(2+t.names, y, unit, screen.Label)
	if t.counted {
		t.c.Right(t.left, y, number.Count(r.count()), screen.Label)
	}
	for k, f := range figures {
		if f.Style == screen.Text {
			f.Style = st
		}
		t.c.Right(t.left+(k+1)*percentileWidth, y, screen.Shorten(f.Text, percentileWidth-1), f.Style)
	}
	if t.compared {
		t.c.Right(t.left+(len(t.cols)+1)*percentileWidth, y, p99Change(r, older), screen.Text)
	}
}

// speeds writes a line with the output speeds of users. Its low percentiles are those of slow users, so it names its own figures.
func (t percentileTable) speeds(y int) {
	s := t.v.speeds()
	x := t.c.Print(2, y, speedUnit, screen.Text)
	all := []figure{{name: "mean", value: speed(s, s.Mean)}, {name: "p50", value: speed(s, s.Median)}}
	for _, p := range slices.Backward(s.Percentiles) {
		if p.P < 50 {
			all = append(all, figure{name: fmt.Sprintf("p%g", p.P), value: speed(s, p.Value)})
		}
	}
	for _, f := range all {
		words := []screen.Span{screen.Label.Span("  " + f.name + " "), screen.Text.Span(f.value)}
		if x+screen.SpansWidth(words) >= t.c.W {
			return
		}
		x = t.c.Spans(x, y, words)
	}
}

// speedsFit reports whether a table of so many lines has one for the output speeds. The title of a lower one has their median.
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

// below writes the figures of the baseline below a row.
func (t percentileTable) below(y int, r latencyRow, older *latencyRow) {
	if older == nil {
		return
	}
	t.c.Print(2, y, screen.Shorten("  "+older.name, t.names), screen.Dim)
	_, figures := older.figures(t.cols, t.top(r, older))
	if t.counted && older.count() > 0 {
		t.c.Right(t.left, y, number.Count(older.count()), screen.Dim)
	}
	for k, f := range figures {
		t.c.Right(t.left+(k+1)*percentileWidth, y, screen.Shorten(f.Text, percentileWidth-1), screen.Dim)
	}
}

// top is the largest figure of both rows where both are there, so that they are in one unit.
func (t percentileTable) top(r latencyRow, older *latencyRow) float64 {
	if older == nil || !t.pairs {
		return r.top(t.cols)
	}
	return max(r.top(t.cols), older.top(t.cols))
}

// changeName is the name of the column of p99Change. It shows where a part of this run is compared with the whole baseline.
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
	case part == 0:
		return "0%"
	case math.Abs(part) < 0.0995:
		return fmt.Sprintf("%+.1f%%", 100*part)
	case part < 10:
		return fmt.Sprintf("%+.0f%%", 100*part)
	}
	return "×" + number.Short(now/before)
}
