package tui

import (
	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// ttftPanel and itlPanel show how two latencies are spread, latencyHistogramPanel whichever is chosen.
var (
	ttftPanel             = histogramPanel("ttft", func(*view) *latencyMetric { return &latencyMetrics[metricTTFT] })
	itlPanel              = histogramPanel("itl", func(*view) *latencyMetric { return &latencyMetrics[metricITL] })
	latencyHistogramPanel = histogramPanel("latency histogram", (*view).latencyMetric)
)

func histogramPanel(name string, of func(v *view) *latencyMetric) panel {
	return panel{
		name: name,
		title: func(v *view, w, _ int) []screen.Span {
			m := of(v)
			front, back, other := m.scopes(v)
			out := []screen.Span{screen.Strong.Span(m.name), screen.Text.Span(" " + v.scope()), screen.Label.Span("  n " + number.Count(int(min(front.Count(), 1<<62))))}
			if back.Count() == 0 {
				return out
			}
			short := ""
			if v.baseline != nil && m.older(v).Count() > 0 {
				short = "  ┄ baseline"
			}
			return noted(out, w, screen.Label, "  ┄ "+other, short)
		},
		draw: func(c screen.Canvas, v *view) {
			m := of(v)
			front, back, _ := m.scopes(v)
			b := bars{v: v, metric: m.plan, front: front, outline: back, nothing: m.nothing, tails: c.W >= 70}
			if v.exact() {
				b.exact = m.exact(v.s.Report)
			}
			b.draw(c)
		},
	}
}

// scopes are the histogram to draw and the one to outline, with words for that: the run to compare with, if it knows this
// latency, or else the scope that was not chosen. Where there is nothing to outline that one is empty.
func (m *latencyMetric) scopes(v *view) (front, outline *metrics.Histogram, other string) {
	window, whole := m.picked(v.selected()), m.run(v.s)
	front, outline, other = window, whole, "whole run outlined"
	if v.whole {
		front, outline, other = whole, window, v.spanWords()+" outlined"
	}
	if h := m.older(v); h.Count() > 0 {
		return front, h, "baseline " + v.baselineName() + " outlined"
	}
	if v.span == 0 || window.Count() == whole.Count() {
		outline = &metrics.Histogram{}
	}
	return front, outline, other
}

// older is what the run to compare with has of the latency; empty where it does not know.
func (m *latencyMetric) older(v *view) *metrics.Histogram {
	if v.baseline == nil || v.baseline.Report == nil {
		return &metrics.Histogram{}
	}
	return m.saved(v.baseline.Report)
}
