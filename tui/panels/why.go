package panels

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// whyPanel shows where the time until the first chunk goes, from when a request is due: held by the client, connecting,
// queued and computed by the server, and the rest.
//
//	held          ━━━━                       120ms   8%
//	connect           ╸                        2ms   0%
//	server queue       ━━━━━━━━━━━━━━        900ms  61%
//	prefill                          ━━━━━━  400ms  27%
//	rest                                   ━  60ms   4%
var whyPanel = Panel{name: "why ttft", title: whyTitle, draw: drawWhy}

// whyPart is one piece of the time; Never if it is not known.
type whyPart struct {
	part  metrics.TTFTPart
	name  string
	sign  rune // where there is no colour
	took  time.Duration
	color screen.Color
}

func (v *View) split() metrics.TTFTSplit {
	if r := v.Report; r != nil && (v.Whole || v.Span == 0) {
		return r.Split
	}
	p, i := v.selected(), 0
	if v.Whole {
		i = 1
	}
	if p.splits[i] == nil {
		from, to := v.stretch()
		t := v.SplitOver(from, to)
		p.splits[i] = &t
	}
	return *p.splits[i]
}

func whyParts(t metrics.TTFTSplit) []whyPart {
	rest := "rest"
	if t.Queue < 0 && t.Prefill < 0 {
		rest = "server + net"
	}
	return []whyPart{
		{metrics.SlotPart, "queued here", 'h', t.SlotWait, screen.Queued},
		{metrics.ConnectPart, "connect", 'c', t.Connect, screen.Dimmed},
		{metrics.QueuePart, "server queue", 'q', t.Queue, screen.Waiting},
		{metrics.PrefillPart, "prefill", 'p', t.Prefill, screen.Input},
		{metrics.RestPart, rest, 'r', t.Rest, screen.Running},
	}
}

// sumOf is the sum of the known parts.
func sumOf(parts []whyPart) time.Duration {
	sum := 0.0
	for _, p := range parts {
		sum += number.Sane(float64(p.took))
	}
	return time.Duration(min(sum, number.Max))
}

func whyTitle(v *View, w, _ int) []screen.Span {
	t := v.split()
	out := []screen.Span{screen.Strong.Span("why " + v.firstWait().Naming().Title), screen.Text.Span(" " + v.scope())}
	if t.N > 0 {
		out = append(out, screen.Label.Span(" · scheduled to first chunk "),
			screen.Strong.Span(number.Latency(sumOf(whyParts(t)))))
	}
	return out
}

func drawWhy(c screen.Canvas, v *View) {
	t := v.split()
	if t.N <= 0 {
		c.Center(v.firstWait().Naming().Nothing, screen.Label)
		return
	}
	parts := whyParts(t)
	sum, limit := sumOf(parts), metrics.NoPart
	if v.Plan != nil {
		limit = t.Bottleneck(v.Plan).Part
	}
	if c.H < len(parts) || c.W < 30 {
		drawWhyShort(c, parts, sum)
		return
	}
	names := 14
	values := c.W - 14 // of the bars' end
	bar := c.Sub(names, 0, values-names-1, c.H)
	from := 0.0
	for y, p := range parts {
		c.Print(0, y, p.name, screen.Text)
		if p.took < 0 {
			c.Right(c.W-6, y, "–", screen.Label)
			continue
		}
		share := shareOf(p.took, sum)
		drawPiece(bar, y, from, from+share, p.color)
		from += share
		st := screen.Text
		if p.part == limit {
			st = screen.Strong
		}
		c.Right(c.W-6, y, number.Latency(p.took), st)
		c.Right(c.W, y, saidShare(share), st)
	}
	y := len(parts)
	if c.H > y {
		for _, words := range screen.Wrap(splitSource(t, v, c.W), c.W, min(2, c.H-y)) {
			c.Print(0, y, words, screen.Label)
			y++
		}
	}
	drawWaitsBelow(c, max(y, len(parts)+1), v)
}

func shareOf(part, sum time.Duration) float64 {
	if sum <= 0 || part < 0 {
		return 0
	}
	return min(number.Sane(float64(part))/float64(sum), 1)
}

// tellsAtEnd reports whether the server counts the waits of a request only when it ends.
func tellsAtEnd(all []metrics.ServerSecond) bool {
	return len(all) > 0 && all[len(all)-1].WaitsAtEnd
}

// splitSource is the source of the times inside the server. Without one, its counters may still have a part.
func splitSource(t metrics.TTFTSplit, v *View, w int) string {
	long, brief, server := "source: none, the server reports no parts", "source: none", v.Server
	switch {
	case v.plan().SeveralRoles():
		long = "source: none, each engine has a part of a wait"
	case slices.ContainsFunc(server, func(s metrics.ServerSecond) bool { return s.Queue.N > 0 || s.Prefill.N > 0 }):
		long, brief = "source: /metrics, too little data here", "too little data"
	case tellsAtEnd(server):
		long, brief = "source: /metrics, at the end of requests", "/metrics, at the end"
	}
	switch t.Source {
	case metrics.SplitByRequests:
		long, brief = "source: per-request metrics", "per-request metrics"
	case metrics.SplitByMetrics:
		long, brief = "source: /metrics", "/metrics"
		if tellsAtEnd(server) {
			long = "source: /metrics, of completed requests"
		}
		if t.OfOthers() { // the counters include requests of other clients
			seen, own := number.Count(t.Seen), number.Count(t.N+t.More)
			if t.OthersToo() {
				long, brief = long+", includes other requests: "+seen+", own "+own,
					brief+", others too: "+seen+", own "+own
				break
			}
			of := ", of " + seen + " requests, own " + own
			long, brief = long+of, brief+of
		}
	}
	if screen.Width(long) <= w {
		return long
	}
	return brief
}

// drawPiece draws a stretch of a bar, to half a cell, and half a cell at least.
func drawPiece(c screen.Canvas, y int, from, to float64, col screen.Color) {
	if c.W <= 0 || to <= from {
		return
	}
	a := int(min(from, 1)*float64(2*c.W) + 0.5)
	b := max(int(min(to, 1)*float64(2*c.W)+0.5), a+1)
	if a >= 2*c.W {
		a, b = 2*c.W-1, 2*c.W
	}
	for x := a / 2; x <= (b-1)/2 && x < c.W; x++ {
		glyph := '━'
		switch {
		case 2*x < a:
			glyph = '╺'
		case 2*x+1 >= b:
			glyph = '╸'
		}
		c.Set(x, y, glyph, screen.Style{Fg: col})
	}
}

// drawWhyShort is one bar of all pieces, and the largest in words.
func drawWhyShort(c screen.Canvas, parts []whyPart, sum time.Duration) {
	from, most := 0.0, parts[0]
	for _, p := range parts {
		share := shareOf(p.took, sum)
		for x := int(from * float64(c.W)); x < int((from+share)*float64(c.W)+1e-9); x++ {
			c.Set(x, 0, p.sign, screen.Style{Fg: p.color, Bold: true})
		}
		from += share
		if p.took > most.took {
			most = p
		}
	}
	c.Print(0, 1, most.name+" "+number.Latency(most.took)+" "+saidShare(shareOf(most.took, sum)), screen.Strong)
}

// drawWaitsBelow shows the parts of the time until the first chunk by the second: of the requests whose answers have
// them, where those are at least half of all, else the client's own parts of all.
func drawWaitsBelow(c screen.Canvas, y int, v *View) {
	enough := func(w *metrics.Window, told int) int {
		if 2*told >= w.TTFTParts.N {
			return told
		}
		return 0
	}
	waits := func(w *metrics.Window) (of *metrics.TTFTParts, n int) {
		if n := enough(w, w.Reported.N); n > 0 {
			return &w.Reported.TTFTParts, n
		}
		return &w.TTFTParts, w.TTFTParts.N
	}
	mean := func(name string, col screen.Color, of func(*metrics.Window) (time.Duration, int)) series {
		return series{name: name, color: col, value: func(w *metrics.Window) float64 {
			if sum, n := of(w); n > 0 {
				return metrics.Milliseconds(max(0, sum)) / float64(n)
			}
			return math.NaN()
		}}
	}
	p := plot{v: v, series: []series{
		mean(v.firstWait().Naming().Title, screen.P50,
			func(w *metrics.Window) (time.Duration, int) { all, n := waits(w); return all.TTFT, n }),
		mean("prefill", screen.Input, func(w *metrics.Window) (time.Duration, int) {
			return w.Reported.Prefill, enough(w, w.Reported.Prefilled)
		}),
		mean("queue", screen.Waiting,
			func(w *metrics.Window) (time.Duration, int) { return w.Reported.Queue, enough(w, w.Reported.Queued) }),
		mean("queued here", screen.Queued,
			func(w *metrics.Window) (time.Duration, int) { all, n := waits(w); return all.SlotWait, n }),
	}}
	v.chartBelow(c, y, legend(c.W+titleFrame, "mean ms", p.items()...), p.draw)
}
