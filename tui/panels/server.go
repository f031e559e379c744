package panels

import (
	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// serverQueuePanel shows how many requests the server runs and keeps waiting, beside how many wait for it by the client's
// own count.
var serverQueuePanel = panel{"server queue", serverQueueTitle, drawServerQueue}

func serverRunning(s *metrics.ServerSecond) float64 { return s.Running }
func serverWaiting(s *metrics.ServerSecond) float64 { return s.Waiting }

func serverQueueTitle(v *View, w, _ int) []screen.Span {
	if len(v.Server) == 0 {
		return []screen.Span{screen.Strong.Span("server queue")}
	}
	_, waiting, _ := v.edgeLevels()
	items := []legendItem{
		{colorRunning, "running", said(newest(v, serverRunning))},
		{colorWaiting, "waiting", said(newest(v, serverWaiting))},
		{screen.Dimmed, v.here("waiting here"), number.Count(waiting)},
	}
	out := legendFit(w, serverName(v, w, items), items...)
	if v.ServerAbsent != "" {
		out = append(out, endedEarly)
	}
	return out
}

// serverName is what the server is called in a title, in as few letters as leave room for the lines and their values.
func serverName(v *View, w int, items []legendItem) string {
	kind := screen.Shorten(screen.Sanitize(v.ServerKind), 16)
	for _, name := range []string{kind + " queue", kind, "server queue"} {
		n := screen.Width(name) + 6
		for _, it := range items {
			n += screen.Width(" ━ " + it.name + " " + it.value)
		}
		if n <= w && kind != "" {
			return name
		}
	}
	return "server"
}

// endedEarly stands in the title of figures that came and then came no more.
var endedEarly = screen.Style{Fg: screen.Orange, Bold: true}.Span(" ! ended")

// hereSign draws what the client itself counts where there are no dots.
const hereSign = '.'

// here is the name of such a line for the legend.
func (v *View) here(name string) string {
	if v.ASCII {
		return name + " " + string(hereSign)
	}
	return name
}

// legendFit leaves out lines from the end until the others fit.
func legendFit(w int, title string, items ...legendItem) []screen.Span {
	for ; len(items) > 0; items = items[:len(items)-1] {
		if out := legend(w, title, items...); len(out) > 1 {
			return out
		}
	}
	return []screen.Span{screen.Strong.Span(title)}
}

func drawServerQueue(c screen.Canvas, v *View) {
	if len(v.Server) == 0 {
		drawAbsent(c, v.ServerAbsent, "the server has not been asked yet")
		return
	}
	c = drawBroken(c, v)
	plot{v: v, chart: chart.Plot{Nothing: "no full second yet"}, series: []series{
		{name: "waiting here", sign: hereSign, color: screen.Dimmed,
			value: func(w *metrics.Window) float64 { return float64(w.Waiting) }},
		{name: "running", color: colorRunning, below: chart.Dotted, value: serverValue(v, serverRunning)},
		{name: "waiting", color: colorWaiting, value: serverValue(v, serverWaiting)},
	}}.draw(c)
}

// drawAbsent says in a few lines why there is nothing to show.
func drawAbsent(c screen.Canvas, why, otherwise string) {
	if why = screen.Sanitize(why); why == "" {
		why = otherwise
	}
	for y, l := range screen.Wrap(why, c.W, min(c.H, 3)) {
		c.Print(0, y, l, screen.Label)
	}
}

// drawBroken says on the first lines that the figures ended early, and returns what is left of the canvas.
func drawBroken(c screen.Canvas, v *View) screen.Canvas {
	why := screen.Sanitize(v.ServerAbsent)
	if why == "" || c.H < 6 {
		return c
	}
	lines := screen.Wrap("! "+why, c.W, min(3, c.H/4)) // the reason stands behind an address
	for y, l := range lines {
		c.Print(0, y, l, screen.Style{Fg: screen.Orange, Bold: true})
	}
	return c.Sub(0, len(lines), c.W, c.H-len(lines))
}

// serverTokensPanel shows the tokens by the server's own count, the output beside what came here. They differ where others
// use the server too.
var serverTokensPanel = panel{"server tokens", serverTokensTitle, drawServerTokens}

// serverOutput and serverPrompt are rates; Unsaid where the server counts a request's tokens when it ends, all at once: that
// would draw the rhythm of ends.
func serverOutput(s *metrics.ServerSecond) float64 {
	if s.OutputAtEnd {
		return metrics.Unsaid()
	}
	return perTook(s, s.OutputTokens)
}

func serverPrompt(s *metrics.ServerSecond) float64 {
	if s.PromptAtEnd {
		return metrics.Unsaid()
	}
	return perTook(s, s.PromptTokens)
}

// tokensAtEnd reports which tokens the server counts when a request ends. The client's own stand in for them.
func tokensAtEnd(v *View) (output, prompt bool) {
	if n := len(v.Server); n > 0 {
		last := &v.Server[n-1]
		return last.OutputAtEnd, last.PromptAtEnd
	}
	return false, false
}

func serverTokensTitle(v *View, w, _ int) []screen.Span {
	outAtEnd, promptAtEnd := tokensAtEnd(v)
	items := []legendItem{
		{colorOutput, "out", said(newest(v, serverOutput))},
		{screen.Dimmed, v.here("out here"), said(v.edgeRate(outputTokens, nil))},
		{colorInput, "prompt", said(newest(v, serverPrompt))},
	}
	if promptAtEnd {
		items[2] = legendItem{colorInput, "prompt here", said(v.edgeRate(inputTokens, nil))}
	}
	if outAtEnd {
		items[1].color, items[1].name = colorOutput, "out here"
		items = items[1:]
	}
	return legendFit(w, "server tok/s", items...)
}

func drawServerTokens(c screen.Canvas, v *View) {
	if len(v.Server) == 0 {
		drawAbsent(c, v.ServerAbsent, "the server has not been asked yet")
		return
	}
	here := series{name: "out here", sign: hereSign, color: screen.Dimmed,
		value: func(w *metrics.Window) float64 { return perSecond(v.Snapshot, w, w.OutputTokens) }}
	prompt := series{name: "prompt", color: colorInput, below: chart.Dotted, value: serverValue(v, serverPrompt)}
	outAtEnd, promptAtEnd := tokensAtEnd(v)
	if promptAtEnd {
		prompt.name, prompt.value = "prompt here", func(w *metrics.Window) float64 { return perSecond(v.Snapshot, w, w.InputTokens) }
	}
	out := plot{v: v, chart: chart.Plot{Nothing: "no full second yet"}, series: []series{here,
		{name: "out", color: colorOutput, below: chart.Dotted, value: serverValue(v, serverOutput)},
	}}
	if outAtEnd {
		here.sign, here.color, here.below = 0, colorOutput, chart.Dotted
		out.series = []series{here}
	}
	in := plot{v: v, chart: chart.Plot{Nothing: "no full second yet"}, series: []series{prompt}}
	if c.H < 7 {
		out.draw(c)
		return
	}
	out.chart.Upper, in.chart.Lower = true, true
	high := c.H/2 + c.H%2
	out.draw(c.Sub(0, 0, c.W, high))
	in.draw(c.Sub(0, high, c.W, c.H-high))
}

// serverTTFTPanel shows the mean TTFT by the server's clock beside ours: what lies between is the way there and back.
var serverTTFTPanel = panel{"server ttft", serverTTFTTitle, drawServerTTFT}

func serverTTFT(s *metrics.ServerSecond) float64 { return meanSeconds(s.TTFT) }

func meanSeconds(l metrics.ServerLatency) float64 {
	if !(l.N > 0) {
		return metrics.Unsaid()
	}
	return number.Sane(l.Mean.Seconds())
}

// ourTTFT is of the same requests: those whose first chunk came in the time that the look tells of.
func ourTTFT(s *metrics.ServerSecond) float64 {
	if s.First.N <= 0 {
		return metrics.Unsaid()
	}
	return number.Sane(s.First.MeanTTFT().Seconds())
}

func serverTTFTTitle(v *View, w, _ int) []screen.Span {
	return legendFit(w, "mean "+v.firstWait().Naming().Title,
		legendItem{screen.Blue, v.here("here"), saidLatency(newest(v, ourTTFT))},
		legendItem{screen.Vermilion, "server", saidLatency(newest(v, serverTTFT))})
}

// saidLatency writes seconds, a dash for none.
func saidLatency(x float64) string {
	if !metrics.Said(x) {
		return "–"
	}
	return number.Latency(number.Seconds(x))
}

func drawServerTTFT(c screen.Canvas, v *View) {
	if len(v.Server) == 0 {
		drawAbsent(c, v.ServerAbsent, "the server has not been asked yet")
		return
	}
	plot{v: v, chart: chart.Plot{Log: true, Nothing: v.firstWait().Naming().Nothing}, limits: v.firstWait().Key(), series: []series{
		{name: "server", color: screen.Vermilion, value: serverValue(v, serverTTFT)},
		{name: "here", sign: hereSign, color: screen.Blue, value: serverValue(v, ourTTFT)},
	}}.draw(c)
}
