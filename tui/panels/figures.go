package panels

import (
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// figure is a figure with its name.
type figure struct {
	name, value string
	style       screen.Style
}

// figures are the key figures in the order in which they are read, for a screen too small for charts.
func (h Header) figures() []figure {
	s, v := h.View.Snapshot, h.View
	failed := screen.Style{Bold: true}
	if s.Totals.Failed > 0 {
		failed.Fg = screen.Bad
	}
	out := []figure{v.tokensFigure(), {"req/s", v.rateText(), screen.Strong},
		{"err", number.Count(s.Totals.Failed), failed}}
	if text := v.rtfxText(); text != "" {
		out = slices.Insert(out, 1, figure{"RTFx", text, screen.Strong})
	}
	if len(v.ShownObjectives()) > 0 {
		out = append(out, v.goodFigure())
	} else {
		out = append(out, figure{"in flight", number.Count(s.Waiting + s.Running), screen.Strong})
	}
	out = append(out, v.p99Figure(v.firstWait()))
	if v.plan().Measures(metrics.ITL) {
		out = append(out, v.p99Figure(metrics.ITL))
	}
	return out
}

// rateText is the planned rate and the rate of the requests that were done: 45→33.
func (v *View) rateText() string {
	done := number.Rate(v.rateNow(finished, func(r *metrics.Report) float64 { return r.RequestThroughput }))
	if t := target(v.Snapshot); t > 0 {
		return number.Rate(t) + "→" + done
	}
	return done
}

// tokensFigure is the rate of the tokens: of the answers, or of the prompts where answers have none.
func (v *View) tokensFigure() figure {
	if !v.plan().Generates() {
		rate := v.rateNow(inputTokens, func(r *metrics.Report) float64 { return r.TotalThroughput })
		return figure{"in tok/s", number.Rate(rate), screen.Style{Fg: screen.Input, Bold: true}}
	}
	rate := v.rateNow(outputTokens, func(r *metrics.Report) float64 { return r.OutputThroughput })
	out := figure{"out tok/s", number.Rate(rate), screen.Style{Fg: screen.Output, Bold: true}}
	if !v.OutputExact {
		out.value = "~" + out.value
	}
	return out
}

// p99Figure is the 99th percentile of a latency.
func (v *View) p99Figure(l metrics.Latency) figure {
	return figure{l.Naming().Title + " p99", v.latencyRow(l).p99(), screen.Strong}
}

// target is the planned rate of the moment; 0 where there is none.
func target(s *metrics.Snapshot) float64 {
	switch st := &s.Steering; {
	case s.Plan == nil || s.State != metrics.Running || st.Paused:
		return 0
	case st.Changes > 0 && (st.Unit == metrics.Users || st.Value > 0):
		return number.Sane(st.Rate())
	}
	return number.Sane(s.Plan.Target(s.At))
}

// goodFigure is the goodput of the chosen scope, against its target.
func (v *View) goodFigure() figure {
	out := figure{"good", "–", screen.Strong}
	t := v.totals()
	if share, known := goodput(&t, v.missing().Any); known {
		out.value = percent(share)
		if target, _ := v.target(); share < target {
			out.value, out.style = out.value+"!", screen.Warning
		}
	}
	return out
}

// p99 is the 99th percentile, from the report where there is one, so that no two places on the screen differ.
func (r latencyRow) p99() string {
	ms, _ := quantileColumn("p99", 99).of(r)
	return orDash(r.hist.Count() > 0, number.Latency, time.Duration(ms*float64(time.Millisecond)))
}

// DrawTiny draws the most important figures on a screen too small for anything else.
func (h Header) DrawTiny(c screen.Canvas) {
	c.Clear()
	if h.View.Back > 0 { // there is no chart to scroll
		now := *h.View
		now.Back, now.picked = 0, nil
		h.View = &now
	}
	x, y := 0, 0
	put := func(all ...screen.Span) {
		n := screen.SpansWidth(all)
		if x > 0 && x+n > c.W {
			x, y = 0, y+1
		}
		if y < c.H {
			x = c.Spans(x, y, all) + 2
		}
	}
	if c.H > 1 {
		put(StateSign(h.View.Snapshot, h.State))
		put(screen.Label.Span(number.Clock(h.View.At)))
		if h.Behind >= 0 {
			put(screen.Strong.Span("FROZEN"))
		}
	}
	if o := h.View.Dead(); o != nil && c.H > 1 {
		put(screen.Warning.Span("no answer for " + number.Coarse(h.View.At-o.Since)))
	}
	client, _ := h.View.client()
	if client == limited && c.H > 1 {
		put(screen.Warning.Span(limitedShort))
	}
	for _, f := range h.figures() {
		put(screen.Label.Span(strings.TrimPrefix(f.name, "out ")+" "), f.style.Span(f.value))
		if f.name == "err" && client == limited && c.H == 1 {
			put(screen.Warning.Span(limitedShort))
		}
	}
	h.drawTinyTokens(c.Sub(0, y+1, c.W, min(c.H-y-1, 3)))
}

// drawTinyTokens draws the tokens of the last seconds where there is room left.
func (h Header) drawTinyTokens(c screen.Canvas) {
	ws := closedWindows(h.View.Snapshot)
	if len(ws) == 0 || c.H == 0 {
		return
	}
	_, tokens := h.View.plan().Tokens()
	x := c.Print(0, c.H-1, "tok/s ", screen.Label)
	values := make([]float64, 0, c.W)
	for i := max(0, len(ws)-c.W); i < len(ws); i++ {
		values = append(values, perSecond(h.View.Snapshot, ws[i], tokens(ws[i])))
	}
	chart.Sparkline(c.Sub(x, 0, c.W-x, c.H), h.View.Raster, values, screen.Style{Fg: screen.Output})
}
