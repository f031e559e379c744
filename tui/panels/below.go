package panels

import (
	"math"
	"sort"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// chartRows is the room that a panel of few lines must have left, as when it is zoomed, to show below them how its figures moved:
// a blank line, a heading and the chart.
const chartRows = 10

// chartBelow draws a chart with a heading from row y on, if there is room for it.
func chartBelow(c screen.Canvas, y int, heading []screen.Span, draw func(c screen.Canvas)) {
	if c.H-y < chartRows {
		return
	}
	c.Spans(0, y+1, heading)
	draw(c.Sub(0, y+2, c.W, c.H-y-2))
}

// drawGoodputBelow is the share of the requests of each second that met every objective.
func drawGoodputBelow(c screen.Canvas, y int, v *View) {
	if len(v.ShownObjectives()) == 0 {
		return
	}
	good := series{name: "goodput", color: screen.Green, below: chart.Dotted, value: func(w *metrics.Window) float64 {
		share, known := part(w.Good, w.Done+w.Failed)
		if !known {
			return math.NaN()
		}
		return 100 * share
	}}
	chartBelow(c, y, legend(c.W, "% of the requests that ended in a second", legendItem{good.color, good.name, ""}),
		plot{v: v, chart: chart.Plot{Top: 100, Nothing: "no request is done yet"}, series: []series{good}}.draw)
}

// drawHitsBelow is what the server's shortcuts brought by the second, as far as it tells.
func drawHitsBelow(c screen.Canvas, y int, v *View) {
	p := plot{v: v, chart: chart.Plot{Top: 100, Nothing: "no full second yet"}}
	var items []legendItem
	add := func(name string, col screen.Color, part, whole func(*metrics.ServerSecond) float64) {
		if !(total(v.serverSpan(), whole) > 0) {
			return
		}
		p.series = append(p.series, series{name: name, color: col, value: serverValue(v, func(s *metrics.ServerSecond) float64 {
			if n := whole(s); n > 0 {
				return 100 * part(s) / n
			}
			return math.NaN()
		})})
		items = append(items, legendItem{col, name, ""})
	}
	add("hits", screen.Blue, func(s *metrics.ServerSecond) float64 { return s.PrefixHits },
		func(s *metrics.ServerSecond) float64 { return s.PrefixQueries })
	add("drafts", screen.Green, func(s *metrics.ServerSecond) float64 { return s.AcceptedTokens },
		func(s *metrics.ServerSecond) float64 { return s.DraftTokens })
	if len(items) > 0 {
		chartBelow(c, y, legend(c.W, "% by second", items...), p.draw)
	}
}

// drawGPUsBelow is how busy the accelerators were and what they drew, all of them together.
func drawGPUsBelow(c screen.Canvas, y int, v *View) {
	use := func(g *metrics.GPU) float64 { return 100 * g.Use }
	power := func(g *metrics.GPU) float64 { return g.Power }
	mean := func(sum float64, n int) float64 { return sum / float64(n) }
	all := func(sum float64, _ int) float64 { return sum }
	chartBelow(c, y, legend(c.W, "by second", legendItem{screen.Green, "use %, the mean", ""}, legendItem{screen.Yellow, "power W, the sum", ""}),
		plot{v: v, chart: chart.Plot{Lanes: true, Nothing: "no full second yet"}, series: []series{
			{name: "use", color: screen.Green, below: chart.Dotted, value: gpuValue(v, use, mean)},
			{name: "power", color: screen.Yellow, below: chart.Dotted, value: gpuValue(v, power, all)},
		}}.draw)
}

// gpuValue is a figure of those accelerators that tell it over time, for a plot.
func gpuValue(v *View, of func(*metrics.GPU) float64, join func(sum float64, n int) float64) func(*metrics.Window) float64 {
	return func(w *metrics.Window) float64 {
		sum, n := 0.0, 0
		if s := gpusIn(v.GPUs, w); s != nil {
			for i := range s.GPUs {
				if x := of(&s.GPUs[i]); metrics.Said(x) {
					sum, n = sum+number.Sane(x), n+1
				}
			}
		}
		if n == 0 {
			return math.NaN()
		}
		return join(sum, n)
	}
}

// gpusIn is the look at the accelerators that covers the middle of a second, as serverIn has it; nil if there is none.
func gpusIn(all []metrics.GPUSecond, w *metrics.Window) *metrics.GPUSecond {
	mid := w.Start + time.Second/2
	i := sort.Search(len(all), func(i int) bool { return all[i].At >= mid })
	return covering(all, i, mid, func(s *metrics.GPUSecond) (at, took time.Duration) { return s.At, s.Took })
}

// drawWaitsBelow is where the time until the first chunk went by the second: of the requests whose answers told, where that is
// at least half of them, else the client's own part of all.
func drawWaitsBelow(c screen.Canvas, y int, v *View) {
	enough := func(w *metrics.Window, told int) bool { return told > 0 && 2*told >= w.Waits.N }
	mean := func(name string, col screen.Color, of func(*metrics.Window) (time.Duration, int)) series {
		return series{name: name, color: col, value: func(w *metrics.Window) float64 {
			sum, n := of(w)
			if n <= 0 {
				return math.NaN()
			}
			return milliseconds(max(0, sum)) / float64(n)
		}}
	}
	told := func(of func(*metrics.Told) (time.Duration, int)) func(*metrics.Window) (time.Duration, int) {
		return func(w *metrics.Window) (time.Duration, int) {
			if sum, n := of(&w.Told); enough(w, n) {
				return sum, n
			}
			return 0, 0
		}
	}
	ours := func(of func(*metrics.Waits) time.Duration) func(*metrics.Window) (time.Duration, int) {
		return func(w *metrics.Window) (time.Duration, int) {
			if enough(w, w.Told.N) {
				return of(&w.Told.Waits), w.Told.N
			}
			return of(&w.Waits), w.Waits.N
		}
	}
	p := plot{v: v, chart: chart.Plot{Nothing: "no first token yet"}, series: []series{
		mean("ttft", screen.Green, ours(func(w *metrics.Waits) time.Duration { return w.TTFT })),
		mean("prefill", screen.Blue, told(func(t *metrics.Told) (time.Duration, int) { return t.Prefill, t.Prefilled })),
		mean("queue", colorWaiting, told(func(t *metrics.Told) (time.Duration, int) { return t.Queue, t.Queued })),
		mean("held", colorHeld, ours(func(w *metrics.Waits) time.Duration { return w.SlotWait })),
	}}
	var items []legendItem
	for _, s := range p.series {
		items = append(items, legendItem{s.color, s.name, ""})
	}
	chartBelow(c, y, legend(c.W, "means by second, ms", items...), p.draw)
}
