package panels

import (
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// ratePanel shows the requests per second that were asked for, sent and done over time.
var ratePanel = panel{"rate", rateTitle, func(c screen.Canvas, v *View) { v.versus(ratePlot).draw(c) }}

func rateTitle(v *View, w, _ int) []screen.Span {
	s := v.Snapshot
	sent := number.Rate(v.edgeRate(sentRequests, func(r *metrics.Report) float64 { return r.SentRate }))
	done := number.Rate(v.edgeRate(finished, func(r *metrics.Report) float64 { return r.RequestThroughput }))
	items := []legendItem{{colorSent, "sent", sent}, {colorRunning, "done", done}}
	if t := newTargets(v); t.any() {
		now := ""
		if at := t.at(v.edgeMoment()); !math.IsNaN(at) && (s.State == metrics.Running || v.edge() != nil) {
			now = loadNumber(math.Round(at))
		}
		items = append([]legendItem{{colorHeld, "target", now}}, items...)
	}
	out := legend(w, "req/s", items...)
	out = noted(out, w, screen.Label, v.baselineNotes(" done")...)
	return noted(out, w, screen.Strong, v.answerNotes()...)
}

// colorSent is that of requests that went out.
const colorSent = screen.Blue

func sentRequests(w *metrics.Window) int { return w.Sent }

func ratePlot(v *View) plot {
	p := plot{v: v, chart: chart.Plot{Nothing: "no full second yet"}}
	if t := newTargets(v); t.any() {
		p.series = append(p.series, series{name: "target", color: colorHeld, alone: true,
			value: func(w *metrics.Window) float64 { return t.at(w.Start + time.Second/2) }})
	}
	p.series = append(p.series,
		series{name: "sent", color: colorSent, alone: true,
			value: func(w *metrics.Window) float64 { return perSecond(v.Snapshot, w, w.Sent) }},
		series{name: "done", color: colorRunning, below: chart.Dotted,
			value: func(w *metrics.Window) float64 { return perSecond(v.Snapshot, w, w.Done) }})
	return p
}

// targets is the rate that was asked for: by the plan, and by whoever set another.
type targets struct {
	plan *metrics.Plan
	set  []metrics.LogEntry // in order of time
}

func newTargets(v *View) targets {
	t := targets{plan: v.plan()}
	events := v.Marks
	if v.Report != nil {
		events = v.Report.Events
	}
	last := time.Duration(-1)
	for _, e := range events {
		last = max(last, e.At)
		if e.Set != nil {
			t.set = append(t.set, e)
		}
	}
	if v.Report == nil { // only the first marks are kept; what was set since is in the log
		for _, e := range v.Log {
			if e.Set != nil && e.At > last {
				t.set = append(t.set, e)
			}
		}
	}
	return t
}

// any: a rate was asked for at all.
func (t targets) any() bool {
	for _, e := range t.set {
		if e.Set.Rate > 0 {
			return true
		}
	}
	return t.plan.Paced() && (t.plan.Ramp == nil || t.plan.Ramp.Over > 0)
}

// at is the rate at a moment, NaN where none was asked for.
func (t targets) at(at time.Duration) float64 {
	i := len(t.set) - 1
	for i >= 0 && t.set[i].At > at {
		i--
	}
	if i < 0 {
		return positive(t.plan.Target(at))
	}
	switch s := t.set[i].Set; {
	case s.Paused:
		return 0
	case s.Rate <= 0:
		return math.NaN()
	default:
		return positive(s.LoadAt(at - t.set[i].At))
	}
}

func positive(v float64) float64 {
	if v = number.Sane(v); v == 0 {
		return math.NaN()
	}
	return v
}

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
