package tui

import (
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
)

// figure is one key figure.
type figure struct {
	name, value string
	style       style
	width       int // columns kept for the value, so that the line stands still while it changes
}

// figures are the key figures in the order in which they are read; the second half is left out first.
func (h header) figures() []figure {
	s, v := h.v.s, h.v
	p := v.selected()
	ttft, itl := p.ttft, p.itl
	if v.whole {
		ttft, itl = s.TTFT, s.ITL
	}
	var exactTTFT, exactITL *metrics.Statistic
	if v.exact() {
		exactTTFT, exactITL = &s.Report.TTFT, &s.Report.ITL
	}
	tokens := rate(recent(s, outputTokens))
	done := rate(recent(s, finished))
	if s.Report != nil {
		tokens, done = rate(s.Report.OutputThroughput), rate(s.Report.RequestThroughput)
	}
	if !s.OutputExact {
		tokens = "~" + tokens
	}
	if t := target(s); t > 0 {
		done = rate(t) + "→" + done
	}
	failed := style{attr: bold}
	if s.Totals.Failed > 0 {
		failed.fg = colorError
	}
	over := figure{"done", count(s.Totals.Done), strong, 5}
	if s.At < v.plan().Warmup {
		over.name, over.value = "warm-up", count(s.Totals.WarmedUp) // nothing counts yet
	}
	out := []figure{
		{"req/s", done, strong, 7},
		{"out tok/s", tokens, style{fg: colorOutput, attr: bold}, 5},
		{"in flight", count(s.Waiting + s.Running), strong, 4},
		{"held", count(s.Held), style{fg: colorHeld, attr: bold}, 4},
		{"waiting", count(s.Waiting), style{fg: colorWaiting, attr: bold}, 4},
		{"running", count(s.Running), style{fg: colorRunning, attr: bold}, 4},
		over,
		{"err", count(s.Totals.Failed), failed, 3},
		{"TTFT p99", p99(&ttft, exactTTFT), strong, 6},
		{"ITL p99", p99(&itl, exactITL), strong, 6},
	}
	if len(v.objectives()) > 0 {
		out = slices.Insert(out, 8, v.goodFigure())
	}
	return out
}

// target is the rate the load is to have now; 0 where it has none.
func target(s *metrics.Snapshot) float64 {
	switch st := &s.Steering; {
	case s.Plan == nil || s.State != metrics.Running || st.Paused:
		return 0
	case st.Changes > 0 && st.InUsers:
		return 0
	case st.Changes > 0 && st.Rate > 0:
		return sane(st.Rate)
	}
	return sane(s.Plan.Target(s.At))
}

// goodFigure is the goodput of the chosen scope, against its target.
func (v *view) goodFigure() figure {
	out := figure{"good", "–", strong, 6}
	if share, known := v.kept().goodput(); known {
		out.value = percent(share)
		if target, _ := v.target(); share < target {
			out.value, out.style = out.value+"!", warning
		}
	}
	return out
}

// p99 comes from the report where there is one, so that no two places on the screen differ.
func p99(h *metrics.Histogram, exact *metrics.Statistic) string {
	if h.Count() == 0 {
		return "–"
	}
	if exact != nil {
		if ms, ok := exact.Percentile(99); ok {
			return latency(time.Duration(ms * float64(time.Millisecond)))
		}
	}
	return latency(h.Quantile(0.99))
}

// spare names the figures a narrow line can do without, the first to go first.
var spare = []string{"ITL p99", "running", "waiting", "TTFT p99", "held", "done", "warm-up", "in flight"}

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

// drawFigures writes the key figures: names above values where there are two lines, in one line or in cells otherwise.
func (h header) drawFigures(c canvas, grid bool) {
	c.clear()
	all := h.figures()
	switch {
	case grid:
		per := max(1, c.w/figureCell)
		drawFigureGrid(c, h.v.clientFigure(all, per*c.h))
		return
	case c.h > 1:
		drawFigureColumns(c, all)
		return
	}
	const gap = 2
	size := func(f figure) int { return len(f.name) + 1 + max(f.width, width(f.value)) }
	all = fewer(all, func(all []figure) bool {
		n := -gap
		for _, f := range all {
			n += size(f) + gap
		}
		return n <= c.w
	})
	x := 0
	for _, f := range all {
		c.print(x, 0, f.name, label)
		c.print(x+len(f.name)+1, 0, f.value, f.style)
		x += size(f) + gap
	}
}

func drawFigureColumns(c canvas, all []figure) {
	size := func(f figure) int { return max(len(f.name), f.width, width(f.value)) }
	n := 0
	for _, f := range all {
		n += size(f)
	}
	gap := min(max((c.w-n)/len(all), 1), 8)
	x := 0
	for _, f := range all {
		c.print(x, 0, f.name, label)
		c.print(x, 1, f.value, f.style)
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

func drawFigureGrid(c canvas, all []figure) {
	per := max(1, c.w/figureCell)
	for i, f := range fewer(all, func(all []figure) bool { return len(all) <= per*c.h }) {
		cell := c.sub(i%per*figureCell, i/per, figureCell-1, 1)
		x := cell.print(0, 0, f.name, label)
		cell.print(x+1, 0, f.value, f.style)
	}
}

// drawTiny puts what matters most on a screen too small for anything else.
func (h header) drawTiny(c canvas) {
	c.clear()
	x, y := 0, 0
	put := func(all ...span) {
		n := spansWidth(all)
		if x > 0 && x+n > c.w {
			x, y = 0, y+1
		}
		if y < c.h {
			x = c.spans(x, y, all) + 2
		}
	}
	byName := map[string]figure{}
	for _, f := range h.figures() {
		byName[f.name] = f
	}
	if c.h > 1 {
		put(stateSign(h.v.s, h.state))
		put(span{clock(h.v.s.At), label})
		if h.behind >= 0 {
			put(span{"FROZEN", strong})
		}
	}
	client, _ := h.v.client()
	if client == limited && c.h > 1 {
		put(span{limitedShort, warning})
	}
	names := []string{"out tok/s", "req/s", "err", "in flight", "TTFT p99", "ITL p99"}
	if _, ok := byName["good"]; ok {
		names[3] = "good"
	}
	for _, name := range names {
		f := byName[name]
		put(span{strings.TrimPrefix(f.name, "out ") + " ", label}, span{f.value, f.style})
		if name == "err" && client == limited && c.h == 1 {
			put(span{limitedShort, warning})
		}
	}
}
