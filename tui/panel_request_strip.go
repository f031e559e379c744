package tui

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// drawStrip draws the chunks of a request on a line of time: a tick for each, so that gaps can be seen, and where the first
// one came. note stands in its place if there is nothing to draw.
//
//	129 chunks · ITL min 12.1ms  p50 22.3ms  max 210ms
//	          ⡇⡇⢸⢸⡇⡇⢸     ⢸⡇⡇⢸⢸
//	0─────────┴TTFT 123ms───────3.02s
func drawStrip(c screen.Canvas, v *view, q *metrics.RequestDetail, note string) {
	if note != "" || c.H < 3 || c.W < 8 {
		c.Print(0, 0, note, screen.Label)
		return
	}
	c.Spans(0, 0, gapWords(q.Chunks))
	end := v.s.At
	if over(q.State) {
		end = max(q.Ended, q.Chunks[len(q.Chunks)-1].At)
	}
	took := max(end-q.Sent, time.Millisecond)
	dot := func(at time.Duration) int {
		part := number.Sane(float64(at-q.Sent) / float64(took))
		return int(math.Round(min(part, 1) * float64(2*c.W-1)))
	}
	ticks := make([]uint8, c.W)
	for i := range q.Chunks {
		x := dot(q.Chunks[i].At)
		for row := range 4 {
			ticks[x/2] |= dotBits[row][x%2]
		}
	}
	for x, bits := range ticks {
		switch {
		case bits != 0 && v.ASCII:
			c.Set(x, 1, '|', screen.Style{Fg: colorOutput})
		case bits != 0:
			c.Set(x, 1, 0x2800+rune(bits), screen.Style{Fg: colorOutput})
		}
	}
	drawStripAxis(c, q, took, dot(q.Chunks[0].At)/2)
}

func drawStripAxis(c screen.Canvas, q *metrics.RequestDetail, took time.Duration, first int) {
	for x := range c.W {
		c.Set(x, 2, '─', screen.Line)
	}
	c.Print(0, 2, "0", screen.Label)
	last := number.Latency(took)
	if !over(q.State) {
		last = "now " + last
	}
	c.Right(c.W, 2, last, screen.Label)
	room := c.W - screen.Width(last) - 1 // of what stands before the end
	if q.TTFT < 0 {
		return
	}
	c.Set(first, 2, '┴', screen.Text)
	name := "TTFT " + number.Latency(q.TTFT)
	switch n := screen.Width(name); {
	case first+1+n <= room:
		c.Print(first+1, 2, name, screen.Text)
	case first-n > 1:
		c.Print(first-n, 2, name, screen.Text)
	}
}

// gapWords say how many chunks came and how far apart.
func gapWords(chunks []metrics.Chunk) []screen.Span {
	out := []screen.Span{screen.Strong.Span(number.Count(len(chunks))), screen.Label.Span(" chunks")}
	if len(chunks) < 2 {
		return out
	}
	gaps := make([]time.Duration, 0, len(chunks)-1)
	for i := range chunks[1:] {
		gaps = append(gaps, max(0, chunks[i+1].At-chunks[i].At))
	}
	slices.Sort(gaps)
	out = append(out, screen.Label.Span(" · ITL"))
	for _, g := range []struct {
		name string
		at   int
	}{{" min ", 0}, {"  p50 ", len(gaps) / 2}, {"  max ", len(gaps) - 1}} {
		out = append(out, screen.Label.Span(g.name), screen.Text.Span(number.Latency(gaps[g.at])))
	}
	return out
}
