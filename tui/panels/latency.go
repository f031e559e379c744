package panels

import (
	"fmt"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// latencyPanel is the table of latencies: from the histograms while the run goes on, exact once it is over.
var latencyPanel = Panel{name: "latency", title: latencyTitle, draw: drawLatency, foot: (*View).sloFoot}

func latencyTitle(v *View, w, h int) []screen.Span {
	if h-2 >= namedRows {
		return tableTitle(v, "latency")
	}
	names := ""
	cols, compared := v.tableColumns(w - 2)
	for _, col := range cols {
		names += " " + col.name
	}
	if compared {
		names += " " + changeName(v)
	}
	return slices.Insert(tableTitle(v, "latency"), 2, screen.Label.Span(names))
}

// tableTitle is the title of a table of latencies: its scope, and how its figures came about.
func tableTitle(v *View, name string) heading {
	out := heading{screen.Strong.Span(name), screen.Text.Span(" " + v.scope())}
	exact, user := v.exact(), v.userStamped()
	out.when(exact, screen.Label, " · exact")
	out.when(exact && user, screen.Label, ", user stamps")
	out.when(!exact && user, screen.Label, " · user stamps")
	return out
}

// exact reports whether the table can show the figures of the report.
func (v *View) exact() bool { return v.Report != nil && (v.Whole || v.Span == 0) }

// latencyRow is a latency as a table shows it: exact is nil where only a histogram is known.
type latencyRow struct {
	of    metrics.Latency
	name  string
	hist  *metrics.Histogram
	exact *metrics.Statistic
}

// latencyRow is a latency in the chosen scope.
func (v *View) latencyRow(l metrics.Latency) latencyRow {
	r := latencyRow{of: l, name: l.Naming().Title, hist: v.selected().histogram(l)}
	if v.Whole {
		r.hist = &v.Histograms[l]
	}
	if v.exact() {
		r.exact = &v.Report.Statistics[l]
	}
	return r
}

func (v *View) latencies() []latencyRow {
	var out []latencyRow
	for _, l := range []metrics.Latency{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL} {
		if v.plan().Measures(l) {
			out = append(out, v.latencyRow(l))
		}
	}
	return out
}

const (
	nameWidth   = 7 // "TTFT ms"
	figureWidth = 7
)

// namedRows is the height from which on the table has a row with the names of its columns. A lower one has them in its
// title.
const namedRows = 5

// tableColumns are the columns of a table w wide, and whether the change since the baseline follows them, in place of
// the 95th percentile.
func (v *View) tableColumns(w int) (cols []latencyColumn, compared bool) {
	cols = latencyColumns(w)
	if compared = v.Baseline != nil && len(cols) > 3; compared {
		cols = slices.DeleteFunc(cols, func(col latencyColumn) bool { return col.name == "p95" })
	}
	return cols, compared
}

func drawLatency(c screen.Canvas, v *View) {
	cols, compared := v.tableColumns(c.W)
	t, y := latencyTable(v, cols, false, compared, latencySizes{0, nameWidth - 2, 2, figureWidth}), 0
	if c.H >= namedRows {
		t.head(c)
		y = 1
	}
	all := v.latencies()
	if c.H == 2 && v.plan().Measures(metrics.ITL) { // TTFT and ITL
		all = []latencyRow{all[0], all[2]}
	}
	for _, r := range all {
		if y >= c.H {
			return
		}
		line := latencyLine{latencyRow: r, older: v.olderRow(r.of), top: r.top(cols), bold: "p99"}
		t.row(c.Sub(0, y, c.W, 1), line, screen.Text)
		y++
	}
	if c.H-y >= chartRows {
		band := bandPlot(v)
		v.chartBelow(c, y, band.legend(v, c.W, c.H), v.versus(band, bandPlot).draw)
	}
}

// latencyLine is a line of a table of latencies.
type latencyLine struct {
	latencyRow
	older *latencyRow // of the baseline, nil for none
	top   float64     // all figures are in the unit that suits it
	style screen.Style
	bold  string // the column whose figure stands out
	below bool   // the line is that of the baseline, below another one
}

// latencySizes are the blanks before the names of a table and the widths of its columns.
type latencySizes struct{ indent, names, units, figures int }

// latencyTable has the figures of latencies, before them their number if counted, behind them the change of the 99th
// percentile if compared.
func latencyTable(v *View, cols []latencyColumn, counted, compared bool, w latencySizes) *table[latencyLine] {
	name := func(c screen.Canvas, l latencyLine, _ screen.Style) { c.Print(w.indent, 0, l.name, l.style) }
	unit := func(c screen.Canvas, l latencyLine, _ screen.Style) {
		if !l.below && slices.ContainsFunc(cols, l.has) {
			unit, _, _ := latencyUnit(l.top)
			c.Print(0, 0, unit, screen.Label)
		}
	}
	t := &table[latencyLine]{before: []field[latencyLine]{{"", w.indent + w.names, name}, {"", w.units, unit}}}
	add := func(name string, of func(l latencyLine) screen.Span) {
		t.figures = append(t.figures, column[latencyLine]{name, w.figures, of, 0})
	}
	if counted {
		add("n", func(l latencyLine) screen.Span {
			switch {
			case !l.below:
				return screen.Label.Span(number.Count(l.count()))
			case l.count() > 0:
				return l.style.Span(number.Count(l.count()))
			}
			return screen.Span{}
		})
	}
	for _, col := range cols {
		add(col.name, func(l latencyLine) screen.Span { return l.figure(col) })
	}
	if compared {
		add(changeName(v), func(l latencyLine) screen.Span {
			if l.below {
				return screen.Span{}
			}
			return screen.Text.Span(p99Change(l.latencyRow, l.older))
		})
	}
	return t
}

// has reports whether the row has a figure.
func (r latencyRow) has(col latencyColumn) bool {
	_, known := col.of(r)
	return !r.empty() && known != absent
}

// figure is one of the line, a dash where there is none.
func (l latencyLine) figure(col latencyColumn) screen.Span {
	v, known := col.of(l.latencyRow)
	out := screen.Span{Text: dash, Style: l.style}
	switch {
	case !l.empty() && known != absent:
		_, scale, digits := latencyUnit(l.top)
		if out.Text = fmt.Sprintf("%.*f", digits, number.Sane(v)*scale); known == guessed {
			out.Text = "~" + out.Text
		}
		if col.name == l.bold {
			out.Style = screen.Strong
		}
	case !l.below:
		out.Style = screen.Label
	}
	return out
}

// count is how many there are of the latency.
func (r latencyRow) count() int {
	if r.exact != nil {
		return max(r.exact.N, 0)
	}
	return int(min(r.hist.Count(), 1<<62))
}

// empty reports whether there are no figures. A result without its requests has some, but not their number.
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

// latencyColumn is one figure of a row in milliseconds.
type latencyColumn struct {
	name string
	of   func(r latencyRow) (ms float64, known known)
}

// known is how well a figure is known.
type known uint8

const (
	absent  known = iota
	guessed       // from a histogram, in a table that is exact otherwise
	told          // as exact as the table is
)

func quantileColumn(name string, p float64) latencyColumn {
	return latencyColumn{name, func(r latencyRow) (float64, known) {
		if r.exact == nil {
			return metrics.Milliseconds(r.hist.Quantile(p / 100)), told
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
		return metrics.Milliseconds(r.hist.Quantile(p / 100)), guessed
	}}
}

// boundColumn is the mean, the least or the most.
func boundColumn(name string, of func(*metrics.Statistic) float64,
	estimate func(*metrics.Histogram) time.Duration) latencyColumn {
	return latencyColumn{name, func(r latencyRow) (float64, known) {
		if r.exact != nil {
			return of(r.exact), told
		}
		return metrics.Milliseconds(estimate(r.hist)), told
	}}
}

var (
	meanColumn = boundColumn("mean", func(s *metrics.Statistic) float64 { return s.Mean }, (*metrics.Histogram).Mean)
	minColumn  = boundColumn("min", func(s *metrics.Statistic) float64 { return s.Min },
		func(h *metrics.Histogram) time.Duration { return h.Quantile(0) })
	maxColumn = boundColumn("max", func(s *metrics.Statistic) float64 { return s.Max },
		func(h *metrics.Histogram) time.Duration { return h.Quantile(1) })
)

// latencyColumns are the columns that fit; the wider the panel, the more of the tails.
func latencyColumns(w int) []latencyColumn {
	p50, p90, p95, p99 := quantileColumn("p50", 50), quantileColumn("p90", 90), quantileColumn("p95", 95),
		quantileColumn("p99", 99)
	switch {
	case w < nameWidth+3*figureWidth:
		return []latencyColumn{p50, p99}
	case w < nameWidth+5*figureWidth:
		return []latencyColumn{meanColumn, p50, p99}
	case w < nameWidth+8*figureWidth:
		return []latencyColumn{meanColumn, p50, p90, p95, p99}
	}
	return []latencyColumn{minColumn, meanColumn, p50, p90, p95, p99, quantileColumn("p99.9", 99.9), maxColumn}
}

// latencyUnits are the units of rows by their largest figure in milliseconds, which stays below most.
var latencyUnits = [...]struct {
	most   float64
	unit   string
	scale  float64
	digits int
}{
	{1, "µs", 1000, 0}, {10, "ms", 1, 2}, {100, "ms", 1, 1}, {10_000, "ms", 1, 0}, {100_000, "s", 1e-3, 2},
	{1e6, "s", 1e-3, 1},
	{1e8, "s", 1e-3, 0},
}

// latencyUnit chooses one unit for a row by its largest figure, so that the row can be compared at a glance.
func latencyUnit(top float64) (unit string, scale float64, digits int) {
	for _, u := range latencyUnits {
		if top < u.most {
			return u.unit, u.scale, u.digits
		}
	}
	return "d", 1.0 / 86_400_000, 1
}

// latencies are those that a Latency page may show, in the order of the key that goes through them: those that every
// second keeps and that have a name.
var latencies = slices.DeleteFunc(slices.Collect(metrics.Latencies()), func(l metrics.Latency) bool {
	return l >= metrics.NumInWindow || l.Naming().Title == ""
})

// NextLatency is the latency after one in that order that a run can have.
func NextLatency(s *metrics.Snapshot, l metrics.Latency) metrics.Latency {
	for i := slices.Index(latencies, l) + 1; ; i++ {
		if after := latencies[i%len(latencies)]; ShownLatency(s, after) == after {
			return after
		}
	}
}

// ShownLatency is a latency, E2EL where answers come in one piece and do not have it, or ITL where the tokens of chunks
// are not counted.
func ShownLatency(s *metrics.Snapshot, l metrics.Latency) metrics.Latency {
	switch {
	case !s.Plan.Measures(l):
		return metrics.E2EL
	case l == metrics.Pace:
		return metrics.TPOT
	case l == metrics.TokenITL && s.Histograms[l].Count() == 0:
		return metrics.ITL
	}
	return l
}

// pageLatencies are those on the Latency page of this run.
func (v *View) pageLatencies() []metrics.Latency {
	return slices.DeleteFunc(slices.Clone(latencies),
		func(l metrics.Latency) bool { return ShownLatency(v.Snapshot, l) != l })
}

// firstWait is the main latency of a run: TTFT, or E2EL where answers come in one piece.
func (v *View) firstWait() metrics.Latency { return ShownLatency(v.Snapshot, metrics.TTFT) }

// nothing says why there are no samples of a latency.
func (v *View) nothing(l metrics.Latency) string {
	if !v.plan().Measures(l) {
		return "answers are not streamed: no " + l.Naming().Title
	}
	return l.Naming().Nothing
}

// latencyBandPanel shows how the percentiles of the chosen latency moved, percentilesPanel those of the latency by
// which a run is watched, itlOverTimePanel those of ITL.
var (
	latencyBandPanel = timePanel("latency band", bandPlot)
	percentilesPanel = timePanel("ttft over time",
		func(v *View) plot { return highestLast(percentileLines(v, v.firstWait())) })
	itlOverTimePanel = timePanel("itl over time",
		func(v *View) plot { return highestLast(percentileLines(v, metrics.ITL)) })
)

// bandPlot is the band, three lines with their names on terminals with few colours or none.
func bandPlot(v *View) plot {
	p := percentileLines(v, v.Latency)
	p.what, p.chart.Band, p.chart.Named = " p99", true, true
	for i := range p.series {
		// more than one line of the baseline behind three is unreadable
		p.series[i].alone = i > 0
	}
	return p
}

// percentileLines are three percentiles of a latency, second by second, with those of the last seconds in the legend,
// and at the end those of the chosen scope.
func percentileLines(v *View, l metrics.Latency) plot {
	row, window := latencyRow{of: l, hist: v.latelyOf(l)}, v.rateWindow()
	if v.Report != nil && v.cursorSecond() == nil {
		row, window = v.latencyRow(l), v.scope()
	}
	line := func(name string, p float64, sign rune, color screen.Color) series {
		of := &percentile{l, p / 100}
		ms, _ := quantileColumn(name, p).of(row)
		now := orDash(!row.empty(), number.Latency, time.Duration(ms*float64(time.Millisecond)))
		return series{name: name, now: now, sign: sign, color: color, value: of.second, percentile: of}
	}
	p90 := line("p90", 90, 'o', screen.P90)
	p90.spare = true
	return plot{
		v: v, title: l.Naming().Title, compared: true, reversed: true, limits: l.Key(), window: window,
		chart: chart.Plot{Log: true, Nothing: v.nothing(l)},
		series: []series{
			line("p99", 99, '#', screen.P99), p90, line("p50", 50, '.', screen.P50),
		},
	}
}

// highestLast draws the 99th percentile over the others: where all are high, it is seen.
func highestLast(p plot) plot {
	slices.Reverse(p.series)
	p.reversed = false
	return p
}

// percentile is a quantile of a latency, q from 0 to 1.
type percentile struct {
	latency metrics.Latency
	q       float64
}

// second is the percentile of one second.
func (p *percentile) second(w *metrics.Window) float64 { return p.of(&w.Histograms[p.latency]) }

// of is the percentile in seconds, NaN where there are no samples.
func (p *percentile) of(h *metrics.Histogram) float64 {
	if h.Count() == 0 {
		return math.NaN()
	}
	return float64(h.Quantile(p.q)) / float64(time.Second)
}
