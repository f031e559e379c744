package panels

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/screen"
)

// kvPanel shows how full the key-value cache is, and the preemptions that follow when it is too full.
var kvPanel = Panel{name: "kv", title: kvTitle, draw: drawKV, server: true, timed: true}

func kvUsed(s *metrics.ServerSecond) float64    { return 100 * s.KVUsage }
func preempted(s *metrics.ServerSecond) float64 { return s.Preemptions }

func kvTitle(v *View, w, _ int) []screen.Span {
	used, brief := v.serverFigure(func(s *metrics.ServerSecond) float64 { return s.KVUsage }, saidShare)
	title, whose := "KV cache %", v.whose()
	if whose != "" && w >= 66 {
		title += ", mean" + whose
	}
	items := []legendItem{{color: screen.Usage, name: "used", value: used, brief: brief}}
	if n := total(v.serverSpan(), preempted); metrics.Said(n) {
		items = append(items, legendItem{color: screen.Bad, name: "preempted", value: said(n)})
	}
	return v.runLegend(w, title, items...)
}

func drawKV(c screen.Canvas, v *View) {
	if !slices.ContainsFunc(v.Server, func(s metrics.ServerSecond) bool { return metrics.Said(s.KVUsage) }) {
		drawAbsent(c, "", "no KV cache usage from this server")
		return
	}
	used := plot{v: v, chart: chart.Plot{Top: 100}, series: []series{
		{name: "used", color: screen.Usage, filled: true, value: serverValue(v, kvUsed)},
	}}
	n := total(v.serverSpan(), preempted)
	low := max(4, c.H/3)
	if n > 0 && c.H-low >= 6 {
		drawBoth(c, used, plot{v: v, chart: chart.Plot{Nothing: "none"}, series: []series{
			{name: "preempted", color: screen.Bad, filled: true, value: serverValue(v, preempted)},
		}}, low)
		return
	}
	if n > 0 { // the line of so full a cache is far from the bottom
		used.chart.Underline = chart.Underline{Name: "preempted", Color: screen.Bad,
			At: preemptions(v, chart.Columns(c))}
	}
	used.draw(c)
}

// preemptions are the ends of seconds, or of minutes in a chart of so many columns, in which requests were preempted.
func preemptions(v *View, columns int) []time.Duration {
	var out []time.Duration
	t, ws, end := v.overTime()
	of := serverValue(v, preempted)
	for ws := range v.sharing(ws, t.Group(2*columns)) {
		for i := range ws {
			if of(ws[i]) > 0 {
				out = append(out, min(ws[i].Start+ws[i].Length(), end))
			}
		}
	}
	return out
}

// cachePanel shows the success of the prefix cache and of speculative decoding, and counts preemptions.
var cachePanel = Panel{name: "cache", title: cacheTitle, draw: drawCache}

// ratio is a part of a whole, both counted by the server.
type ratio struct {
	name        string
	color       screen.Color
	part, whole func(*metrics.ServerSecond) float64
}

var (
	hits = ratio{"hits", screen.Input, func(s *metrics.ServerSecond) float64 { return s.PrefixHits },
		func(s *metrics.ServerSecond) float64 { return s.PrefixQueries }}
	drafts = ratio{"drafts", screen.Output, func(s *metrics.ServerSecond) float64 { return s.AcceptedTokens },
		func(s *metrics.ServerSecond) float64 { return s.DraftTokens }}
)

func cacheTitle(v *View, _, _ int) []screen.Span {
	return []screen.Span{screen.Strong.Span("server cache"), screen.Text.Span(" " + v.scope())}
}

func drawCache(c screen.Canvas, v *View) {
	all, sums := v.serverSpan(), v.serverSums()
	totals := v.totals()
	if len(v.Server) == 0 && totals.Cached.Of+totals.Ideal.Of == 0 {
		drawAbsent(c, v.ServerAbsent, nothingYet)
		return
	}
	step := min(max(1, c.H/3), 2) // lines from one to the next
	drawShare(c, 0, "prefix hits", sums.HitRate, total(all, hits.part), total(all, hits.whole))
	for _, h := range cacheRows(&totals) {
		drawShare(c, 1, h.name, h.Rate(), float64(h.Tokens), float64(h.Of))
		c = c.Sub(0, 1, c.W, c.H-1)
	}
	y := step
	if metrics.Said(sums.Acceptance) {
		drawShare(c, y, "drafts accepted", sums.Acceptance, total(all, drafts.part), total(all, drafts.whole))
		y += step
	}
	c.Print(0, y, "preemptions", screen.Text)
	n, st := sums.Preemptions, screen.Strong
	if n > 0 {
		st.Fg = screen.Bad
	}
	c.Right(shareEnd(c), y, said(n), st)
	drawHitsBelow(c, y+1, v)
}

// cacheRow are hits of the prefix cache as the requests tell them.
type cacheRow struct {
	name string
	metrics.TokenShare
}

// cacheRows are the hits by the usage of answers, and those of an ideal cache, as far as they are known.
func cacheRows(t *metrics.Counts) []cacheRow {
	rows := []cacheRow{{"  by usage", t.Cached}, {"  ideal", t.Ideal}}
	return slices.DeleteFunc(rows, func(r cacheRow) bool { return r.Of == 0 })
}

// shareNames is the width of the names of the gauges, shareWords that of the counts behind them.
const (
	shareNames = 16
	shareWords = 15
)

func shareEnd(c screen.Canvas) int {
	if c.W < shareNames+shareWords+14 {
		return c.W
	}
	return c.W - shareWords
}

// drawShare is a gauge with its name, its percentage and, where there is room, the counts.
func drawShare(c screen.Canvas, y int, name string, share, part, whole float64) {
	c.Print(0, y, name, screen.Text)
	end := shareEnd(c)
	if !metrics.Said(share) {
		c.Right(end, y, "–", screen.Label)
		return
	}
	if bar := end - shareNames - 6; bar >= 4 {
		chart.Gauge(c.Sub(shareNames, 0, bar, c.H), y, share, math.NaN(), screen.Usage)
	}
	c.Right(end, y, saidShare(share), screen.Strong)
	if end < c.W && metrics.Said(part) && metrics.Said(whole) {
		c.Right(c.W, y, said(part)+" of "+said(whole), screen.Label)
	}
}

// drawHitsBelow is the success of the prefix cache and of drafts by the second, as far as the server counts them.
func drawHitsBelow(c screen.Canvas, y int, v *View) {
	p := plot{v: v, chart: chart.Plot{Top: 100}}
	for _, r := range []*ratio{&hits, &drafts} {
		if !(total(v.serverSpan(), r.whole) > 0) {
			continue
		}
		p.series = append(p.series,
			series{name: r.name, color: r.color, value: serverValue(v, func(s *metrics.ServerSecond) float64 {
				if n := r.whole(s); n > 0 {
					return 100 * r.part(s) / n
				}
				return math.NaN()
			})})
	}
	if len(p.series) > 0 {
		v.chartBelow(c, y, legend(c.W, "% by second", p.items()...), p.draw)
	}
}
