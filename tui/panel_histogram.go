package tui

import "benchtop/metrics"

// ttftPanel and itlPanel show how the latencies are spread.
var (
	ttftPanel = histogramPanel("ttft", "TTFT", "no first token yet",
		func(v *view) (window, whole *metrics.Histogram) { return &v.selected().ttft, &v.s.TTFT },
		func(r *metrics.Report) *metrics.Statistic { return &r.TTFT })
	itlPanel = histogramPanel("itl", "ITL", "no second token yet",
		func(v *view) (window, whole *metrics.Histogram) { return &v.selected().itl, &v.s.ITL },
		func(r *metrics.Report) *metrics.Statistic { return &r.ITL })
)

func histogramPanel(name, title, nothing string, pick func(v *view) (window, whole *metrics.Histogram), exact func(*metrics.Report) *metrics.Statistic) panel {
	return panel{
		name: name,
		title: func(v *view, _, _ int) []span {
			window, whole := pick(v)
			front, back, other := window, whole, "whole run outlined"
			if v.whole {
				front, back, other = whole, window, "last "+spanName(v.span)+" outlined"
			}
			out := []span{{title, strong}, {" " + v.scope(), text}, {"  n " + count(int(min(front.Count(), 1<<62))), label}}
			if v.span == 0 || window.Count() == whole.Count() || back.Count() == 0 {
				return out
			}
			return append(out, span{"  ┄ " + other, label})
		},
		draw: func(c canvas, v *view) {
			window, whole := pick(v)
			b := bars{v: v, metric: name, front: window, outline: whole, nothing: nothing}
			if v.whole {
				b.front, b.outline = whole, window
			}
			if v.exact() {
				b.exact = exact(v.s.Report)
			}
			b.draw(c)
		},
	}
}
