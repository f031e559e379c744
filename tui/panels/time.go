package panels

import (
	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// tokensPanel shows output and input tokens per second over time.
var tokensPanel = panel{"tokens", tokensTitle, func(c screen.Canvas, v *View) { v.versus(tokensPlot).draw(c) }}

func tokensTitle(v *View, w, _ int) []screen.Span {
	out := number.Rate(v.edgeRate(outputTokens, func(r *metrics.Report) float64 { return r.OutputThroughput }))
	in := number.Rate(v.edgeRate(inputTokens, func(r *metrics.Report) float64 { return r.TotalThroughput - r.OutputThroughput }))
	if !v.OutputExact {
		out = "~" + out
	}
	items := []legendItem{{colorOutput, "out", out}, {colorInput, "in", in}}
	if v.Pooling() {
		items = items[1:]
	}
	return noted(legend(w, "tokens/s", items...), w, screen.Label, v.baselineNotes("")...)
}

func outputTokens(w *metrics.Window) int { return w.OutputTokens }
func inputTokens(w *metrics.Window) int  { return w.InputTokens }
func finished(w *metrics.Window) int     { return w.Done }

func tokensPlot(v *View) plot {
	out := plot{v: v, chart: chart.Plot{Lanes: true, Nothing: "no full second yet"}, series: []series{
		{name: "out", color: colorOutput, below: chart.Dotted,
			value: func(w *metrics.Window) float64 { return perSecond(v.Snapshot, w, w.OutputTokens) }},
		{name: "in", color: colorInput, below: chart.Dotted,
			value: func(w *metrics.Window) float64 { return perSecond(v.Snapshot, w, w.InputTokens) }},
	}}
	if v.Pooling() {
		out.series = out.series[1:]
	}
	return out
}

// loadPanel shows how many requests are held, waiting and running over time.
var loadPanel = panel{"load", loadTitle, func(c screen.Canvas, v *View) { v.versus(loadPlot).draw(c) }}

func loadTitle(v *View, w, _ int) []screen.Span {
	held, waiting, running := v.edgeLevels()
	return noted(legend(w, "load",
		legendItem{colorRunning, "running", number.Count(running)},
		legendItem{colorWaiting, "waiting", number.Count(waiting)},
		legendItem{colorHeld, "held", number.Count(held)}), w, screen.Label, v.baselineNotes("")...)
}

func loadPlot(v *View) plot {
	return plot{v: v, chart: chart.Plot{Nothing: "no full second yet"}, series: []series{
		{name: "running", color: colorRunning, below: chart.Dotted,
			value: func(w *metrics.Window) float64 { return float64(w.Running) }},
		{name: "waiting", color: colorWaiting, sparse: true,
			value: func(w *metrics.Window) float64 { return float64(w.Waiting) }},
		{name: "held", color: colorHeld, sparse: true,
			value: func(w *metrics.Window) float64 { return float64(w.Held) }},
	}}
}

// percentilesPanel shows how the time to first token moved, or that of the whole answer where it comes in one piece.
var percentilesPanel = panel{"ttft over time", percentilesTitle, func(c screen.Canvas, v *View) { v.versus(percentilesPlot).draw(c) }}

func percentilesTitle(v *View, w, _ int) []screen.Span {
	names := [...]string{"p50", "p90", "p99"}
	if v.ASCII {
		names = [...]string{"p50 .", "p90 o", "p99 #"}
	}
	return noted(legend(w, v.firstWait().Naming().Title+" by second",
		legendItem{screen.Blue, names[0], ""}, legendItem{screen.Yellow, names[1], ""}, legendItem{screen.Vermilion, names[2], ""}),
		w, screen.Label, v.baselineNotes("")...)
}

func percentilesPlot(v *View) plot { return percentileLines(v, v.firstWait()) }
