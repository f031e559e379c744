package tui

import (
	"math"
	"time"

	"benchtop/metrics"
)

// kvPanel shows how full the key-value cache is, and the preemptions that follow when it is too full.
var kvPanel = panel{"kv", kvTitle, drawKV}

func kvUsed(s *metrics.ServerSecond) float64    { return 100 * s.KVUsage }
func preempted(s *metrics.ServerSecond) float64 { return s.Preemptions }

func kvTitle(v *view, w, _ int) []span {
	items := []legendItem{{blue, "used", saidShare(newest(v, kvUsed) / 100)}}
	if n := total(v.serverSpan(), preempted); metrics.Said(n) {
		items = append(items, legendItem{vermilion, "preempted", said(n)})
	}
	return legendFit(w, "KV cache %", items...)
}

func drawKV(c canvas, v *view) {
	if len(v.s.Server) == 0 {
		drawAbsent(c, v.s.ServerAbsent, "the server has not been asked yet")
		return
	}
	if !metrics.Said(total(v.s.Server, kvUsed)) {
		drawAbsent(c, "", "the server does not say how full its cache is")
		return
	}
	used := plot{v: v, top: 100, nothing: "no full second yet", series: []series{
		{name: "used", color: blue, below: dotted, value: serverValue(v, kvUsed)},
	}}
	n := total(v.serverSpan(), preempted)
	low := max(4, c.h/3)
	if n > 0 && c.h-low >= 6 {
		used.upper = true
		used.draw(c.sub(0, 0, c.w, c.h-low))
		plot{v: v, nothing: "none", series: []series{
			{name: "preempted", color: vermilion, below: dotted, value: serverValue(v, preempted)},
		}}.draw(c.sub(0, c.h-low, c.w, low))
		return
	}
	used.draw(c)
	if n > 0 {
		underlinePreempted(c, v)
	}
}

// underlinePreempted marks the time in which requests were preempted at the bottom of a chart, where a cache so full has no
// line.
func underlinePreempted(c canvas, v *view) {
	f, ok := v.overTime(c, false)
	if !ok {
		return
	}
	y, first := f.area.h-1, f.area.w
	for i := range f.windows {
		w := &f.windows[i]
		if s := serverIn(v.s.Server, w); s == nil || !(s.Preemptions > 0) {
			continue
		}
		if x := f.ts.column(min(w.Start+time.Second, f.end)); x >= 0 && x < f.area.w {
			f.area.set(x, y, '━', style{fg: vermilion})
			first = min(first, x)
		}
	}
	if name := "preempted "; first < f.area.w && first >= width(name) {
		f.area.right(first, y, name, label)
	}
}

// cachePanel counts what the server's shortcuts brought: the prefix cache and speculative decoding, and what was undone.
var cachePanel = panel{"cache", cacheTitle, drawCache}

func cacheTitle(v *view, _, _ int) []span {
	return []span{{"server cache", strong}, {" " + v.scope(), text}}
}

func drawCache(c canvas, v *view) {
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
	step := min(max(1, c.h/3), 2) // lines from one to the next
	drawShare(c, 0, v, "prefix hits", sums.HitRate, hits, queries)
	drawShare(c, step, v, "drafts kept", sums.Acceptance, accepted, drafts)
	c.print(0, 2*step, "preemptions", text)
	n, st := sums.Preemptions, strong
	if n > 0 {
		st.fg = colorError
	}
	c.right(shareEnd(c), 2*step, said(n), st)
	drawHitsBelow(c, 2*step+1, v)
}

// shareNames is what the names of the gauges take, shareWords what stands behind them.
const (
	shareNames = 13
	shareWords = 15
)

func shareEnd(c canvas) int {
	if c.w < shareNames+shareWords+14 {
		return c.w
	}
	return c.w - shareWords
}

// drawShare is a gauge with its name, its percentage and, where there is room, what it is a share of.
func drawShare(c canvas, y int, v *view, name string, share, part, whole float64) {
	c.print(0, y, name, text)
	end := shareEnd(c)
	if !metrics.Said(share) {
		c.right(end, y, "–", label)
		return
	}
	if bar := end - shareNames - 6; bar >= 4 {
		gauge(c.sub(shareNames, 0, bar, c.h), y, share, math.NaN(), blue, v.mono)
	}
	c.right(end, y, saidShare(share), strong)
	if end < c.w && metrics.Said(part) && metrics.Said(whole) {
		c.right(c.w, y, said(part)+" of "+said(whole), label)
	}
}
