package panels

import (
	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
	"fmt"
	"math"
	"slices"
	"time"
)

// ttftPanel and itlPanel are the histograms of two latencies, the first of E2EL where answers come in one piece, latencyHistogramPanel that of the
// chosen latency.
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
			out := []screen.Span{screen.Strong.Span(l.Naming().Title), screen.Text.Span(" " + v.scope()), screen.Label.Span("  n " + number.Count(int(min(front.Count(), 1<<62))))}
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
			var exact *metrics.Statistic
			if v.exact() {
				exact = &v.Report.Statistics[l]
			}
			v.histogram(l, c, front, back, exact).Draw(c, v.Raster)
		},
	}
}

// scopes are the histogram to draw and the one to outline, with the name of the outline: the baseline, if it has the latency, or else the scope that
// is not chosen. The outline is empty where it would be the same.
func (v *View) scopes(l metrics.Latency) (front, outline *metrics.Histogram, other string) {
	window, whole := v.selected().histogram(l), &v.Histograms[l]
	front, outline, other = window, whole, "whole run outlined"
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

// histogram is the chart of a latency: the bars of one histogram, the outline of another. exact are the figures of the first, once the
// run is over; nil before.
func (v *View) histogram(l metrics.Latency, c screen.Canvas, front, outline *metrics.Histogram, exact *metrics.Statistic) chart.Histogram {
	out := chart.Histogram{Nothing: v.nothing(l)}
	if !chart.HistogramFits(c) || front.Count() == 0 && outline.Count() == 0 {
		return out
	}
	out.Axis = v.latencyAxis(c.W, front, outline)
	out.Front = chart.Bars{Bins: bins(out.Axis, front), Samples: front.Count()}
	out.Outline = chart.Bars{Bins: bins(out.Axis, outline), Samples: outline.Count()}
	out.Colors = []chart.ColorFrom{
		{Color: screen.Blue}, {From: front.Quantile(0.9), Color: screen.Yellow}, {From: front.Quantile(0.99), Color: screen.Vermilion},
	}
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
		name := []screen.Span{screen.Label.Span(fmt.Sprintf("p%g ", p)), screen.Strong.Span(value)}
		out.Annotations = append(out.Annotations, chart.ValueAnnotation{At: at, Glyph: '┊', Name: name, Kept: true, Extra: extra})
	}
	limits := slices.DeleteFunc(v.limits(l.Key()), func(at chart.Limit) bool { return !out.Axis.Shows(at.At) })
	limit := func(l chart.Limit) {
		out.Annotations = append(out.Annotations, chart.ValueAnnotation{At: l.At, Glyph: '│', Name: []screen.Span{screen.Strong.Span(l.Name)}})
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

// early is the share of samples that may lie far below the rest without room on the axis: chunks that came in one read are microseconds apart,
// those of a stream milliseconds.
const early = 0.03

// latencyAxis spans two histograms. A linear axis leaves out a few stragglers, which would press everything else against the left edge.
func (v *View) latencyAxis(n int, all ...*metrics.Histogram) chart.LatencyAxis {
	of := chart.LatencyRange{Usual: math.MaxInt64}
	edge, first := time.Duration(0), true
	for _, h := range all {
		for b := range h.Buckets() {
			if first || b.From < of.Least {
				of.Least, first = b.From, false
			}
			of.Most = max(of.Most, b.To, b.From)
		}
		if h.Count() > 0 {
			of.Usual = min(of.Usual, h.Quantile(early))
		}
		edge = max(edge, h.Quantile(0.995))
	}
	if v.Linear {
		return chart.NewLinearAxis(n, edge)
	}
	return chart.NewLatencyAxis(n, of)
}
