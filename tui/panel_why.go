package tui

import (
	"slices"
	"time"

	"benchtop/metrics"
)

// whyPanel shows where the time until the first chunk goes, from when a request is due: held by the client, connecting,
// queued and computed by the server, and the rest.
//
//	held          ━━━━                       120ms   8%
//	connect           ╸                        2ms   0%
//	server queue       ━━━━━━━━━━━━━━        900ms  61%
//	prefill                          ━━━━━━  400ms  27%
//	rest                                   ━  60ms   4%
var whyPanel = panel{"why ttft", whyTitle, drawWhy}

// whyPart is one piece of the time; Never if nobody tells.
type whyPart struct {
	name  string
	sign  rune // where there is no colour
	took  time.Duration
	color color
}

func (v *view) split() metrics.TTFTSplit {
	if r := v.s.Report; r != nil && (v.whole || v.span == 0) {
		return r.Split
	}
	p, i := v.selected(), 0
	if v.whole {
		i = 1
	}
	if p.splits[i] == nil {
		from, to := v.stretch()
		t := v.s.SplitOver(from, to)
		p.splits[i] = &t
	}
	return *p.splits[i]
}

func whyParts(t metrics.TTFTSplit) []whyPart {
	rest := "rest"
	if t.Queue < 0 && t.Prefill < 0 {
		rest = "server, way"
	}
	return []whyPart{
		{"held", 'h', t.Held, colorHeld},
		{"connect", 'c', t.Connect, yellow},
		{"server queue", 'q', t.Queue, colorWaiting},
		{"prefill", 'p', t.Prefill, blue},
		{rest, 'r', t.Rest, green},
	}
}

// sumOf is the sum of what is known.
func sumOf(parts []whyPart) time.Duration {
	sum := 0.0
	for _, p := range parts {
		sum += sane(float64(p.took))
	}
	return time.Duration(min(sum, limit))
}

func whyTitle(v *view, w, _ int) []span {
	t := v.split()
	out := []span{{"why TTFT", strong}, {" " + v.scope(), text}}
	if t.N > 0 {
		out = append(out, span{" · due to first chunk ", label}, span{latency(sumOf(whyParts(t))), strong})
	}
	return out
}

func drawWhy(c canvas, v *view) {
	t := v.split()
	if t.N <= 0 {
		c.center("no first token yet", label)
		return
	}
	parts := whyParts(t)
	sum := sumOf(parts)
	if c.h < len(parts) || c.w < 30 {
		drawWhyShort(c, parts, sum)
		return
	}
	names := 14
	values := c.w - 14 // of the bars' end
	bar := c.sub(names, 0, values-names-1, c.h)
	from := 0.0
	for y, p := range parts {
		c.print(0, y, p.name, text)
		if p.took < 0 {
			c.right(c.w-6, y, "–", label)
			continue
		}
		share := shareOf(p.took, sum)
		drawPiece(bar, y, from, from+share, p.color)
		from += share
		st := text
		if share >= 0.4 {
			st = strong
		}
		c.right(c.w-6, y, latency(p.took), st)
		c.right(c.w, y, saidShare(share), st)
	}
	if c.h > len(parts) {
		c.print(0, len(parts), splitSource(t, toldOfAPart(v.s.Server), c.w), label)
	}
	drawWaitsBelow(c, len(parts)+1, v)
}

func shareOf(part, sum time.Duration) float64 {
	if sum <= 0 || part < 0 {
		return 0
	}
	return min(sane(float64(part))/float64(sum), 1)
}

// toldOfAPart reports whether the server's page ever told how long requests waited inside it.
func toldOfAPart(all []metrics.ServerSecond) bool {
	return slices.ContainsFunc(all, func(s metrics.ServerSecond) bool { return s.Queue.N > 0 || s.Prefill.N > 0 })
}

// splitSource says in words who told what happened inside the server. Where nobody did, its page may have told of a part.
func splitSource(t metrics.TTFTSplit, part bool, w int) string {
	long, brief := "inside the server: unknown, it does not say", "server: unknown"
	if part {
		long, brief = "inside the server: unknown, its /metrics saw too little of this", "server: seen too little"
	}
	switch t.Source {
	case metrics.SplitByRequests:
		long, brief = "inside the server: by the server, per request", "by the server, per request"
	case metrics.SplitByMetrics:
		long, brief = "inside the server: from its /metrics", "from /metrics"
		if t.Seen != t.N { // nobody can tell whose they are, but that they are not the same
			of := ", of " + count(t.Seen) + " requests, ours " + count(t.N)
			long, brief = long+of, brief+of
		}
	}
	if width(long) <= w {
		return long
	}
	return brief
}

// drawPiece draws a stretch of a bar, to half a cell; whatever is there at all is seen.
func drawPiece(c canvas, y int, from, to float64, col color) {
	if c.w <= 0 || to <= from {
		return
	}
	a := int(min(from, 1)*float64(2*c.w) + 0.5)
	b := max(int(min(to, 1)*float64(2*c.w)+0.5), a+1)
	if a >= 2*c.w {
		a, b = 2*c.w-1, 2*c.w
	}
	for x := a / 2; x <= (b-1)/2 && x < c.w; x++ {
		glyph := '━'
		switch {
		case 2*x < a:
			glyph = '╺'
		case 2*x+1 >= b:
			glyph = '╸'
		}
		c.set(x, y, glyph, style{fg: col})
	}
}

// drawWhyShort is one bar of all pieces, and the largest in words.
func drawWhyShort(c canvas, parts []whyPart, sum time.Duration) {
	from, most := 0.0, parts[0]
	for _, p := range parts {
		share := shareOf(p.took, sum)
		for x := int(from * float64(c.w)); x < int((from+share)*float64(c.w)+1e-9); x++ {
			c.set(x, 0, p.sign, style{fg: p.color, attr: bold})
		}
		from += share
		if p.took > most.took {
			most = p
		}
	}
	c.print(0, 1, most.name+" "+latency(most.took)+" "+saidShare(shareOf(most.took, sum)), strong)
}
