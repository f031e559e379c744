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

// ttftPanel and itlPanel are the histograms of two latencies, the first of E2EL where answers come in one piece,
// latencyHistogramPanel that of the chosen latency.
var (
	ttftPanel             = histogramPanel("ttft", (*View).firstWait)
	itlPanel              = histogramPanel("itl", func(*View) metrics.Latency { return metrics.ITL })
	latencyHistogramPanel = histogramPanel("latency histogram", func(v *View) metrics.Latency { return v.Latency })
)

func histogramPanel(name string, of func(v *View) metrics.Latency) Panel {
	return Panel{
		name: name,
		title: func(v *View, w, _ int) []screen.Span {
			l := of(v)
			front, back, other := v.scopes(l)
			out := []screen.Span{screen.Strong.Span(l.Naming().Title), screen.Text.Span(" " + v.scope()),
				screen.Label.Span("  n " + number.Count(int(min(front.Count(), 1<<62))))}
			if back.Count() == 0 {
				return out
			}
			short := ""
			if v.Baseline != nil && v.olderHistogram(l).Count() > 0 {
				short = "  ┄ baseline"
			}
			return noted(out, w, screen.Label, "  ┄ "+other, short)
		},
		draw: func(c screen.Canvas, v *View) {
			l := of(v)
			front, back, _ := v.scopes(l)
			v.histogram(l, c, front, back, v.latencyRow(l).exact).Draw(c, v.Raster)
		},
	}
}

// scopes are the histogram to draw and the one to outline, with the name of the outline: the baseline, if it has the
// latency, or else the scope that is not chosen. The outline is empty where it would be the same.
func (v *View) scopes(l metrics.Latency) (front, outline *metrics.Histogram, other string) {
	window, whole := v.selected().histogram(l), &v.Histograms[l]
	front, outline, other = window, whole, "outline: whole run"
	if v.Whole {
		front, outline, other = whole, window, v.spanText()+" outlined"
	}
	if h := v.olderHistogram(l); h.Count() > 0 {
		return front, h, "baseline " + v.baselineName() + " outlined"
	}
	if v.Span == 0 || window.Count() == whole.Count() {
		outline = &metrics.Histogram{}
	}
	return front, outline, other
}

// olderHistogram is a latency of the baseline; empty where it does not have it.
func (v *View) olderHistogram(l metrics.Latency) *metrics.Histogram {
	if v.Baseline == nil || v.Baseline.Report == nil {
		return &metrics.Histogram{}
	}
	return &v.Baseline.Report.Histograms[l]
}

// histogram is the chart of a latency: the bars of one histogram, the outline of another. exact are the figures of the
// first, once the run is over; nil before.
func (v *View) histogram(l metrics.Latency, c screen.Canvas, front, outline *metrics.Histogram,
	exact *metrics.Statistic) chart.Histogram {
	out := chart.Histogram{Nothing: v.nothing(l)}
	n := chart.HistogramBins(c)
	if n == 0 || front.Count() == 0 && outline.Count() == 0 {
		return out
	}
	out.Axis = v.latencyAxis(n, front, outline)
	switch out.Of = "requests"; l {
	case metrics.ITL:
		out.Of = "gaps"
	case metrics.TokenITL:
		out.Of = "tokens"
	}
	out.Front = chart.Bars{Bins: bins(out.Axis, front), Samples: front.Count()}
	out.Outline = chart.Bars{Bins: bins(out.Axis, outline), Samples: outline.Count()}
	out.Colors = v.barColors(l)
	percentile := func(p float64, extra bool) {
		if front.Count() == 0 || extra && c.W < 70 {
			return
		}
		at := front.Quantile(p / 100)
		value := number.Latency(at)
		if exact != nil {
			if ms, ok := exact.Percentile(p); ok {
				value = number.Latency(time.Duration(ms * float64(time.Millisecond)))
			}
		}
		// with its kind of line: names do not always stand above theirs
		name := []screen.Span{screen.Label.Span(fmt.Sprintf("┊p%g ", p)), screen.Strong.Span(value)}
		out.Annotations = append(out.Annotations,
			chart.ValueAnnotation{At: at, Glyph: '┊', Name: name, Brief: name[:1], Extra: extra})
	}
	limits := v.limits(l.Key())
	limit := func(l chart.Limit) {
		out.Annotations = append(out.Annotations, chart.ValueAnnotation{At: l.At, Glyph: '│',
			Name: []screen.Span{screen.Label.Span("│"), screen.Strong.Span(l.Name)}, Aside: true})
	}
	percentile(99, false)
	if len(limits) > 0 { // the first is more important than the median, which is in the table too
		limit(limits[0])
		limits = limits[1:]
	}
	percentile(50, false)
	for _, l := range limits {
		limit(l)
	}
	percentile(90, true)
	percentile(99.9, true)
	return out
}

// barColors are those of bars within the objectives of a latency, between the strictest and the others, and beyond all;
// without objectives bars say neither good nor bad.
func (v *View) barColors(l metrics.Latency) []chart.ColorFrom {
	var at []time.Duration
	for _, o := range v.goals() {
		if o.Metric.Key() == l.Key() {
			at = append(at, number.Seconds(o.LimitMS/1000))
		}
	}
	if len(at) == 0 {
		return []chart.ColorFrom{{Color: screen.Dimmed}}
	}
	return []chart.ColorFrom{{Color: screen.Good}, {From: slices.Min(at), Color: screen.Waiting},
		{From: slices.Max(at), Color: screen.Bad}}
}

// bins are the samples of a histogram by the bins of an axis; nil if there are none.
func bins(ax chart.LatencyAxis, h *metrics.Histogram) []float64 {
	if h.Count() == 0 {
		return nil
	}
	out := ax.Spread()
	for b := range h.Buckets() {
		out.Add(b.From, b.To, float64(b.Count))
	}
	return out.Bins
}

// The shares of samples that an axis leaves to its outermost bins: the first, and the last.
const inFirst, inLast = 0.01, 0.001

// latencyAxis spans histograms, all but a few samples at either end. Where many samples are far below the others, as
// the gaps between chunks that came in one read, they have a bin of their own.
func (v *View) latencyAxis(n int, all ...*metrics.Histogram) chart.LatencyAxis {
	of := chart.LatencyRange{From: math.MaxInt64}
	of.Short = slices.ContainsFunc(all, apart)
	for _, h := range all {
		if h.Count() == 0 {
			continue
		}
		below := 0.0
		if of.Short {
			below = shortShare(h)
		}
		of.From = min(of.From, h.Quantile(below+inFirst*(1-below)))
		of.To = max(of.To, h.Quantile(1-inLast*(1-below)))
		of.Most = max(of.Most, h.Quantile(1))
	}
	if v.Linear {
		return chart.NewLinearAxis(n, of)
	}
	return chart.NewLatencyAxis(n, of)
}

// shortShare is the share of samples below chart.ShortLatency.
func shortShare(h *metrics.Histogram) float64 {
	if h.Count() == 0 {
		return 0
	}
	return float64(h.Below(chart.ShortLatency)) / float64(h.Count())
}

// apart reports whether a histogram has samples below chart.ShortLatency in a relevant share, and others far above
// them.
func apart(h *metrics.Histogram) bool {
	const least, far = 0.01, 5
	short := shortShare(h)
	return short >= least && short <= 1-least && h.Quantile(short+inFirst*(1-short)) > far*h.Quantile(short/2)
}

// latencyHeatPanel shows the distribution of the chosen latency over time.
var latencyHeatPanel = Panel{name: "latency heat", title: heatTitle, draw: drawHeat, timed: true}

func heatTitle(v *View, w, _ int) []screen.Span {
	out := []screen.Span{screen.Strong.Span(v.Latency.Naming().Title + " heat map")}
	few, many := screen.Label.Span("  few "), screen.Label.Span(" many")
	if screen.SpansWidth(append(out, few, many))+screen.HeatSteps/2 > w-titleFrame {
		few, many = screen.Label.Span("  "), screen.Span{} // the colours are clear without words
	}
	out = append(out, few)
	if chart.Shaded(v.Terminal) {
		for i := range screen.HeatSteps / 2 {
			out = append(out, screen.Style{Fg: screen.Heat((float64(2*i) + 1.5) / screen.HeatSteps)}.Span("█"))
		}
	} else {
		out = append(out, screen.Text.Span(string(chart.HeatGlyphs(v.Terminal)[1:])))
	}
	return append(out, many)
}

// drawHeat draws the number of samples by latency and time, on the axis of the histogram.
func drawHeat(c screen.Canvas, v *View) {
	l := v.Latency
	h := v.selected().histogram(l)
	out := chart.Heat{Nothing: v.nothing(l)}
	if w := chart.Columns(c); w > 0 && h.Count() > 0 {
		t, ws, end := v.overTime()
		out.Time, out.Axis = t, v.latencyAxis(chart.HeatRows(c), h, &v.Histograms[l])
		out.Cells = v.heatCells(w, t, ws, end, latencyBins(l, out.Axis, v.selected().merges))
		out.Limits, out.Annotations, out.Wordless = v.limits(l.Key()), v.annotations(), v.joined
	}
	out.Draw(c, v.Raster)
}

// latencyBins are the samples of a latency in some windows by the bins of an axis.
func latencyBins(l metrics.Latency, ax chart.LatencyAxis, kept merges) func([]*metrics.Window) []float64 {
	merged := merger{kept: kept}
	return func(ws []*metrics.Window) []float64 {
		merged.ws = ws
		return ratesOf(bins(ax, merged.histogram(l)), ws)
	}
}

// ratesOf turns numbers of some windows into rates.
func ratesOf(numbers []float64, ws []*metrics.Window) []float64 {
	last := ws[len(ws)-1]
	for i := range numbers {
		numbers[i] /= (last.Start + last.Length() - ws[0].Start).Seconds()
	}
	return numbers
}

// heatCells are the cells of each place of an axis, for each of w columns, given those of some windows; nil where there
// are none.
func (v *View) heatCells(w int, t chart.TimeAxis, ws []*metrics.Window, end time.Duration,
	of func([]*metrics.Window) []float64) [][]float64 {
	cells := make([][]float64, w)
	for some := range v.sharing(ws, t.Group(w)) {
		column, last := of(some), some[len(some)-1]
		from, to := some[0].Start, last.Start+last.Length()
		// A column belongs to the seconds in which its middle lies.
		part := func(at time.Duration) int { return int(math.Ceil(t.Part(at)*float64(w) - 0.5)) }
		for x := max(0, part(from)); x < min(part(min(to, end)), w); x++ {
			cells[x] = column
		}
	}
	return cells
}
