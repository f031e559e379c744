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

// figure is one key figure.
type figure struct {
	name, value string
	style       screen.Style
	width       int // columns kept for the value, so that the line stands still while it changes
}

// figures are the key figures in the order in which they are read; the second half is left out first.
func (h Header) figures() []figure {
	s, v := h.View.Snapshot, h.View
	done := number.Rate(v.rateNow(finished, func(r *metrics.Report) float64 { return r.RequestThroughput }))
	if t := target(s); t > 0 {
		done = number.Rate(t) + "→" + done
	}
	failed := screen.Style{Bold: true}
	if s.Totals.Failed > 0 {
		failed.Fg = screen.Bad
	}
	over := figure{"done", number.Count(s.Totals.Done), screen.Strong, 5}
	if s.At < v.plan().Warmup {
		over.name, over.value = "warm-up", number.Count(s.Totals.WarmedUp) // no request counts yet
	}
	out := []figure{
		{"req/s", done, screen.Strong, 7},
		h.View.tokensFigure(),
		{"in flight", number.Count(s.Waiting + s.Running), screen.Strong, 4},
		{"held", number.Count(s.Held), screen.Style{Fg: screen.Queued, Bold: true}, 4},
		{"waiting", number.Count(s.Waiting), screen.Style{Fg: screen.Waiting, Bold: true}, 4},
		{"running", number.Count(s.Running), screen.Style{Fg: screen.Running, Bold: true}, 4},
		over,
		{"err", number.Count(s.Totals.Failed), failed, 3},
		v.p99Figure(v.firstWait()),
	}
	if !s.Pooling() {
		out = append(out, v.p99Figure(metrics.ITL))
	}
	if len(v.ShownObjectives()) > 0 {
		out = slices.Insert(out, 8, v.goodFigure())
	}
	return out
}

// tokensFigure is the rate of the tokens: of the answers, or of the prompts where answers have none.
func (v *View) tokensFigure() figure {
	if v.Pooling() {
		rate := v.rateNow(inputTokens, func(r *metrics.Report) float64 { return r.TotalThroughput })
		return figure{"in tok/s", number.Rate(rate), screen.Style{Fg: screen.Input, Bold: true}, 5}
	}
	rate := v.rateNow(outputTokens, func(r *metrics.Report) float64 { return r.OutputThroughput })
	out := figure{"out tok/s", number.Rate(rate), screen.Style{Fg: screen.Output, Bold: true}, 5}
	if !v.OutputExact {
		out.value = "~" + out.value
	}
	return out
}

// p99Figure is the 99th percentile of a latency.
func (v *View) p99Figure(l metrics.Latency) figure {
	return figure{l.Naming().Title + " p99", v.latencyRow(l).p99(), screen.Strong, 6}
}

// target is the planned rate of the moment; 0 where there is none.
func target(s *metrics.Snapshot) float64 {
	switch st := &s.Steering; {
	case s.Plan == nil || s.State != metrics.Running || st.Paused:
		return 0
	case st.Changes > 0 && st.InUsers:
		return 0
	case st.Changes > 0 && st.Rate > 0:
		return number.Sane(st.Rate)
	}
	return number.Sane(s.Plan.Target(s.At))
}

// goodFigure is the goodput of the chosen scope, against its target.
func (v *View) goodFigure() figure {
	out := figure{"good", "–", screen.Strong, 6}
	t := v.totals()
	if share, known := goodput(&t); known {
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

// spare names the figures that a narrow line leaves out, in this order.
var spare = []string{"ITL p99", "running", "waiting", "TTFT p99", "held", "done", "warm-up", "in flight", "E2EL p99"}

// fewer leaves out figures until the rest fit.
func fewer(all []figure, fit func([]figure) bool) []figure {
	for _, name := range spare {
		if fit(all) {
			break
		}
		all = slices.DeleteFunc(all, func(f figure) bool { return f.name == name })
	}
	return all
}

// DrawFigures writes the key figures: names above values where there are two lines, in one line or in cells otherwise.
func (h Header) DrawFigures(c screen.Canvas, grid bool) {
	c.Clear()
	all := h.figures()
	switch {
	case grid:
		per := max(1, c.W/figureCell)
		drawFigureGrid(c, h.View.clientFigure(all, per*c.H))
		return
	case c.H > 1:
		drawFigureColumns(c, all)
		return
	}
	const gap = 2
	size := func(f figure) int { return len(f.name) + 1 + max(f.width, screen.Width(f.value)) }
	all = fewer(all, func(all []figure) bool {
		n := -gap
		for _, f := range all {
			n += size(f) + gap
		}
		return n <= c.W
	})
	x := 0
	for _, f := range all {
		c.Print(x, 0, f.name, screen.Label)
		c.Print(x+len(f.name)+1, 0, f.value, f.style)
		x += size(f) + gap
	}
}

func drawFigureColumns(c screen.Canvas, all []figure) {
	size := func(f figure) int { return max(len(f.name), f.width, screen.Width(f.value)) }
	n := 0
	for _, f := range all {
		n += size(f)
	}
	gap := min(max((c.W-n)/len(all), 1), 8)
	x := 0
	for _, f := range all {
		c.Print(x, 0, f.name, screen.Label)
		c.Print(x, 1, f.value, f.style)
		x += size(f) + gap
	}
}

const figureCell = 18

// figureLines is how many lines the key figures take on a small screen.
func figureLines(w, h int, objectives bool) int {
	figures := 10
	if objectives {
		figures++
	}
	per := max(1, w/figureCell)
	return min((figures+per-1)/per, max(3, h/5))
}

func drawFigureGrid(c screen.Canvas, all []figure) {
	per := max(1, c.W/figureCell)
	for i, f := range fewer(all, func(all []figure) bool { return len(all) <= per*c.H }) {
		cell := c.Sub(i%per*figureCell, i/per, figureCell-1, 1)
		x := cell.Print(0, 0, f.name, screen.Label)
		cell.Print(x+1, 0, f.value, f.style)
	}
}

// DrawTiny draws the most important figures on a screen too small for anything else.
func (h Header) DrawTiny(c screen.Canvas) {
	c.Clear()
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
	byName := map[string]figure{}
	for _, f := range h.figures() {
		byName[f.name] = f
	}
	if c.H > 1 {
		put(StateSign(h.View.Snapshot, h.State))
		put(screen.Label.Span(number.Clock(h.View.At)))
		if h.Behind >= 0 {
			put(screen.Strong.Span("FROZEN"))
		}
	}
	client, _ := h.View.client()
	if client == limited && c.H > 1 {
		put(screen.Warning.Span(limitedShort))
	}
	names := []string{h.View.tokensFigure().name, "req/s", "err", "in flight", h.View.firstWait().Naming().Title + " p99", "ITL p99"}
	if _, ok := byName["good"]; ok {
		names[3] = "good"
	}
	for _, name := range names {
		f, ok := byName[name]
		if !ok {
			continue
		}
		put(screen.Label.Span(strings.TrimPrefix(f.name, "out ")+" "), f.style.Span(f.value))
		if name == "err" && client == limited && c.H == 1 {
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
	tokens := outputTokens
	if h.View.Pooling() {
		tokens = inputTokens
	}
	x := c.Print(0, c.H-1, "tok/s ", screen.Label)
	values := make([]float64, 0, c.W)
	for i := max(0, len(ws)-c.W); i < len(ws); i++ {
		values = append(values, perSecond(h.View.Snapshot, &ws[i], tokens(&ws[i])))
	}
	chart.Sparkline(c.Sub(x, 0, c.W-x, c.H), h.View.Raster, values, screen.Style{Fg: screen.Output})
}
