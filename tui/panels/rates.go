package panels

import (
	"math"
	"time"

	"benchtop/internal/findings"
	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// Charts of rates and numbers of requests over time.
var (
	tokensPanel = timePanel("tokens", tokensPlot)
	loadPanel   = timePanel("load", loadPlot)
	ratePanel   = timePanel("rate", ratePlot)
)

// nothingYet stands where there is nothing to show yet.
const nothingYet = "waiting for data"

// rateWindow is the time of the rates in titles.
func (v *View) rateWindow() string {
	switch at := v.cursorSecond(); {
	case at != nil:
		return "5s to " + number.RunTime(at.Start+time.Second)
	case v.Report != nil:
		return "mean"
	}
	return "last 5s"
}

// progressNotes are the rate and the number of requests done so far, with the conversations that think between turns,
// the longest first.
func (v *View) progressNotes() []string {
	if v.cursorSecond() != nil {
		return nil
	}
	rate, done := v.rateText(), number.Count(v.Totals.Completed)+" done"
	if v.At < v.plan().Warmup { // no request counts yet
		done = number.Count(v.Totals.WarmedUp) + " warm-up"
	}
	notes := []string{between + rate + " req/s" + between + done, between + rate + " req/s", between + rate + "/s"}
	if s := v.Sessions; s != nil && s.Thinking > 0 && v.Report == nil {
		thinking := between + "thinking " + number.Count(s.Thinking)
		notes = append([]string{thinking + notes[0], thinking + notes[1], thinking}, notes...)
	}
	return notes
}

func outputTokens(w *metrics.Window) int { return w.TokensOut }
func inputTokens(w *metrics.Window) int  { return w.TokensIn }
func finished(w *metrics.Window) int     { return w.Completed }
func sentRequests(w *metrics.Window) int { return w.Sent }

// rate is a line of a count per second.
func (v *View) rate(name string, color screen.Color, of func(*metrics.Window) int) series {
	return series{name: name, color: color,
		value: func(w *metrics.Window) float64 { return perSecond(v.Snapshot, w, of(w)) }}
}

// tokensPlot shows output and input tokens per second.
func tokensPlot(v *View) plot {
	out, in := v.rate("out", screen.Output, outputTokens), v.rate("in", screen.Input, inputTokens)
	out.filled, in.filled = true, true
	out.now = number.Rate(v.cursorRate(outputTokens, func(r *metrics.Report) float64 { return r.OutputThroughput }))
	if !v.OutputExact {
		out.now = "~" + out.now
	}
	in.now = number.Rate(
		v.cursorRate(inputTokens, func(r *metrics.Report) float64 { return r.TotalThroughput - r.OutputThroughput }))
	p := plot{v: v, title: "tokens/s", compared: true, window: v.rateWindow(), chart: chart.Plot{Lanes: true},
		series: []series{out, in}}
	if !v.plan().Generates() {
		p.series = p.series[1:]
	} else if s := v.speedsNow(); s.N > 0 {
		p.notes = []string{between + speed(s, s.Median) + " " + speedUnit}
	}
	if text := v.rtfxText(); text != "" {
		p.notes = []string{between + "RTFx " + text}
	}
	return p
}

// rtfxText is the inverse real-time factor: how many seconds of recordings are done per second; "" without recordings.
func (v *View) rtfxText() string {
	if v.Totals.Audio == 0 {
		return ""
	}
	const parts = 1000 // of a second
	sound := func(w *metrics.Window) int { return int(w.Audio * parts / time.Second) }
	return number.Rate(v.cursorRate(sound, func(r *metrics.Report) float64 { return r.RTFx * parts }) / parts)
}

// speedsNow are the output speeds of the users who finished in the last seconds before the right edge of the charts, or
// of the whole run once it is over.
func (v *View) speedsNow() metrics.Statistic {
	if v.Report != nil && v.cursorSecond() == nil {
		return v.Report.Speeds
	}
	return v.latelyOf(metrics.Pace).Speeds()
}

// loadPlot shows how many requests are queued here, waiting and running.
func loadPlot(v *View) plot {
	held, waiting, running := v.cursorLevels()
	line := func(name string, color screen.Color, now int, of func(*metrics.Window) int) series {
		out := series{name: name, color: color, now: number.Count(now), sparse: true, spare: now == 0,
			value: func(w *metrics.Window) float64 { return float64(of(w)) }}
		if v.whole() {
			mean, most := v.levelOver(of)
			out.now, out.brief, out.spare = meanAndMost(mean, most, said), said(mean), most == 0
		}
		return out
	}
	p := plot{v: v, title: "requests", compared: true, notes: v.progressNotes(), series: []series{
		line("running", screen.Running, running, func(w *metrics.Window) int { return w.Running }),
		line("waiting", screen.Waiting, waiting, func(w *metrics.Window) int { return w.Waiting }),
		line("queued here", screen.Queued, held, func(w *metrics.Window) int { return w.Held }),
	}}
	p.series[0].filled, p.series[0].sparse = true, false
	p.series[0].spare, p.series[1].spare, p.series[2].short = false, false, "queued"
	if !v.plan().Generates() { // an answer in one piece ends as it begins
		p.series = p.series[1:]
	}
	p.overRun = true
	return p
}

// ratePlot shows the requests per second that were asked for, sent and done.
func ratePlot(v *View) plot {
	p := plot{v: v, title: "req/s", compared: true, what: " done", window: v.rateWindow()}
	if t := newTargets(v); t.any() {
		target := series{name: "target", color: screen.Dimmed, alone: true,
			value: func(w *metrics.Window) float64 { return t.at(w.Start + w.Length()/2) }}
		if at := t.at(v.cursorMoment()); !math.IsNaN(at) && (v.State == metrics.Running || v.cursorSecond() != nil) {
			target.now = findings.Number(math.Round(at))
		}
		p.series = append(p.series, target)
	}
	sent, done := v.rate("sent", screen.Input, sentRequests), v.rate("done", screen.Output, finished)
	sent.alone = true
	sent.now = number.Rate(v.cursorRate(sentRequests, func(r *metrics.Report) float64 { return r.SentRate }))
	done.now = number.Rate(v.cursorRate(finished, func(r *metrics.Report) float64 { return r.RequestThroughput }))
	p.series = append(p.series, sent, done)
	return p
}

// targets is the planned rate: of the plan, and of later settings.
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
	if v.Report == nil { // a snapshot has only the first events; later ones are in the log
		for _, e := range v.Log {
			if e.Set != nil && e.At > last {
				t.set = append(t.set, e)
			}
		}
	}
	return t
}

// any reports whether a rate was planned at all.
func (t targets) any() bool {
	if t.plan.Conversations != nil {
		return false // arrivals are conversations, and the chart is of requests
	}
	for _, e := range t.set {
		if e.Set.Rate() > 0 {
			return true
		}
	}
	return t.plan.Paced() && (t.plan.Ramp == nil || t.plan.Ramp.Over > 0)
}

// at is the planned rate at a moment, NaN for none.
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
	case s.Rate() <= 0:
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
