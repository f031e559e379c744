package tui

import (
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// kvPanel shows how full the key-value cache is, and the preemptions that follow when it is too full.
var kvPanel = panel{"kv", kvTitle, drawKV}

func kvUsed(s *metrics.ServerSecond) float64    { return 100 * s.KVUsage }
func preempted(s *metrics.ServerSecond) float64 { return s.Preemptions }

func kvTitle(v *view, w, _ int) []screen.Span {
	items := []legendItem{{screen.Blue, "used", saidShare(newest(v, kvUsed) / 100)}}
	if n := total(v.serverSpan(), preempted); metrics.Said(n) {
		items = append(items, legendItem{screen.Vermilion, "preempted", said(n)})
	}
	return legendFit(w, "KV cache %", items...)
}

func drawKV(c screen.Canvas, v *view) {
	if len(v.s.Server) == 0 {
		drawAbsent(c, v.s.ServerAbsent, "the server has not been asked yet")
		return
	}
	if !metrics.Said(total(v.s.Server, kvUsed)) {
		drawAbsent(c, "", "the server does not say how full its cache is")
		return
	}
	used := plot{v: v, top: 100, nothing: "no full second yet", series: []series{
		{name: "used", color: screen.Blue, below: dotted, value: serverValue(v, kvUsed)},
	}}
	n := total(v.serverSpan(), preempted)
	low := max(4, c.H/3)
	if n > 0 && c.H-low >= 6 {
		used.upper = true
		used.draw(c.Sub(0, 0, c.W, c.H-low))
		plot{v: v, nothing: "none", series: []series{
			{name: "preempted", color: screen.Vermilion, below: dotted, value: serverValue(v, preempted)},
		}}.draw(c.Sub(0, c.H-low, c.W, low))
		return
	}
	used.draw(c)
	if n > 0 {
		underlinePreempted(c, v)
	}
}

// underlinePreempted marks the time in which requests were preempted at the bottom of a chart, where a cache so full has no
// line.
func underlinePreempted(c screen.Canvas, v *view) {
	f, ok := v.overTime(c, false)
	if !ok {
		return
	}
	y, first := f.area.H-1, f.area.W
	for i := range f.windows {
		w := &f.windows[i]
		if s := serverIn(v.s.Server, w); s == nil || !(s.Preemptions > 0) {
			continue
		}
		if x := f.ts.column(min(w.Start+time.Second, f.end)); x >= 0 && x < f.area.W {
			f.area.Set(x, y, '━', screen.Style{Fg: screen.Vermilion})
			first = min(first, x)
		}
	}
	if name := "preempted "; first < f.area.W && first >= screen.Width(name) {
		f.area.Right(first, y, name, screen.Label)
	}
}

// cachePanel counts what the server's shortcuts brought: the prefix cache and speculative decoding, and what was undone.
var cachePanel = panel{"cache", cacheTitle, drawCache}

func cacheTitle(v *view, _, _ int) []screen.Span {
	return []screen.Span{screen.Strong.Span("server cache"), screen.Text.Span(" " + v.scope())}
}

func drawCache(c screen.Canvas, v *view) {
	all := v.serverSpan()
	if len(v.s.Server) == 0 {
		drawAbsent(c, v.s.ServerAbsent, "the server has not been asked yet")
		return
	}
	hits := total(all, func(s *metrics.ServerSecond) float64 { return s.PrefixHits })
	queries := total(all, func(s *metrics.ServerSecond) float64 { return s.PrefixQueries })
	accepted := total(all, func(s *metrics.ServerSecond) float64 { return s.AcceptedTokens })
	drafts := total(all, func(s *metrics.ServerSecond) float64 { return s.DraftTokens })
	from, to := v.stretch()
	sums := metrics.ServerOver(all, from, to)
	step := min(max(1, c.H/3), 2) // lines from one to the next
	drawShare(c, 0, v, "prefix hits", sums.HitRate, hits, queries)
	drawShare(c, step, v, "drafts kept", sums.Acceptance, accepted, drafts)
	c.Print(0, 2*step, "preemptions", screen.Text)
	n, st := sums.Preemptions, screen.Strong
	if n > 0 {
		st.Fg = colorError
	}
	c.Right(shareEnd(c), 2*step, said(n), st)
	drawHitsBelow(c, 2*step+1, v)
}

// shareNames is what the names of the gauges take, shareWords what stands behind them.
const (
	shareNames = 13
	shareWords = 15
)

func shareEnd(c screen.Canvas) int {
	if c.W < shareNames+shareWords+14 {
		return c.W
	}
	return c.W - shareWords
}

// drawShare is a gauge with its name, its percentage and, where there is room, what it is a share of.
func drawShare(c screen.Canvas, y int, v *view, name string, share, part, whole float64) {
	c.Print(0, y, name, screen.Text)
	end := shareEnd(c)
	if !metrics.Said(share) {
		c.Right(end, y, "–", screen.Label)
		return
	}
	if bar := end - shareNames - 6; bar >= 4 {
		gauge(c.Sub(shareNames, 0, bar, c.H), y, share, math.NaN(), screen.Blue, v.Mono)
	}
	c.Right(end, y, saidShare(share), screen.Strong)
	if end < c.W && metrics.Said(part) && metrics.Said(whole) {
		c.Right(c.W, y, said(part)+" of "+said(whole), screen.Label)
	}
}
