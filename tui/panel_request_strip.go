package tui

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// drawStrip draws the chunks of a request on a line of time: a tick for each, so that gaps can be seen, and where the first
// one came. note stands in its place if there is nothing to draw.
//
//	129 chunks · ITL min 12.1ms  p50 22.3ms  max 210ms
//	          ⡇⡇⢸⢸⡇⡇⢸     ⢸⡇⡇⢸⢸
//	0─────────┴TTFT 123ms───────3.02s
func drawStrip(c canvas, v *view, q *metrics.RequestDetail, note string) {
	if note != "" || c.h < 3 || c.w < 8 {
		c.print(0, 0, note, label)
		return
	}
	c.spans(0, 0, gapWords(q.Chunks))
	end := v.s.At
	if over(q.State) {
		end = max(q.Ended, q.Chunks[len(q.Chunks)-1].At)
	}
	took := max(end-q.Sent, time.Millisecond)
	dot := func(at time.Duration) int {
		part := sane(float64(at-q.Sent) / float64(took))
		return int(math.Round(min(part, 1) * float64(2*c.w-1)))
	}
	ticks := make([]uint8, c.w)
	for i := range q.Chunks {
		x := dot(q.Chunks[i].At)
		for row := range 4 {
			ticks[x/2] |= dotBits[row][x%2]
		}
	}
	for x, bits := range ticks {
		switch {
		case bits != 0 && v.ascii:
			c.set(x, 1, '|', style{fg: colorOutput})
		case bits != 0:
			c.set(x, 1, 0x2800+rune(bits), style{fg: colorOutput})
		}
	}
	drawStripAxis(c, q, took, dot(q.Chunks[0].At)/2)
}

func drawStripAxis(c canvas, q *metrics.RequestDetail, took time.Duration, first int) {
	for x := range c.w {
		c.set(x, 2, '─', line)
	}
	c.print(0, 2, "0", label)
	last := latency(took)
	if !over(q.State) {
		last = "now " + last
	}
	c.right(c.w, 2, last, label)
	room := c.w - width(last) - 1 // of what stands before the end
	if q.TTFT < 0 {
		return
	}
	c.set(first, 2, '┴', text)
	name := "TTFT " + latency(q.TTFT)
	switch n := width(name); {
	case first+1+n <= room:
		c.print(first+1, 2, name, text)
	case first-n > 1:
		c.print(first-n, 2, name, text)
	}
}

// gapWords say how many chunks came and how far apart.
func gapWords(chunks []metrics.Chunk) []span {
	out := []span{{count(len(chunks)), strong}, {" chunks", label}}
	if len(chunks) < 2 {
		return out
	}
	gaps := make([]time.Duration, 0, len(chunks)-1)
	for i := range chunks[1:] {
		gaps = append(gaps, max(0, chunks[i+1].At-chunks[i].At))
	}
	slices.Sort(gaps)
	out = append(out, span{" · ITL", label})
	for _, g := range []struct {
		name string
		at   int
	}{{" min ", 0}, {"  p50 ", len(gaps) / 2}, {"  max ", len(gaps) - 1}} {
		out = append(out, span{g.name, label}, span{latency(gaps[g.at]), text})
	}
	return out
}
