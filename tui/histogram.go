package tui

import (
	"math"
	"time"

	"benchtop/metrics"
)

// bars draws a latency histogram: how often each latency came, on a logarithmic axis unless linear. The bars show one
// scope, the outline behind them the other, each scaled to its own number, so that the shapes can be compared.
//
//	           p50 346ms     p99 1.08s
//	      ▂▅▇█┊▅▃            ┊
//	⢀⣀▂▄▆█████┊███▅▄▂▁⠤⠤⣀⣀⣀  ┊
//	──┴10ms──┴20ms────┴50ms──┴100ms──
type bars struct {
	v              *view
	front, outline *metrics.Histogram
	exact          *metrics.Statistic // of front, once the run is over; nil before
	nothing        string
}

func (b bars) draw(c canvas) {
	if c.w < 16 || c.h < 3 || b.front.Count() == 0 && b.outline.Count() == 0 {
		c.center(b.nothing, label)
		return
	}
	ax := b.axis(c.w)
	area := c.sub(0, 1, c.w, c.h-2)
	front := ax.columns(b.front)
	back := ax.columns(b.outline)
	group(front, b.front.Count())
	group(back, b.outline.Count())
	top := 0.0
	for i := range front {
		top = max(top, front[i], back[i])
	}
	if top == 0 {
		c.center(b.nothing, label)
		return
	}
	if b.front.Count() != b.outline.Count() { // else both are the whole run
		b.profile(area, back, top)
	}
	p90, p99 := b.front.Quantile(0.9), b.front.Quantile(0.99)
	for x, n := range front {
		col := blue
		switch at := ax.latency(float64(x)); {
		case at >= p99:
			col = vermilion
		case at >= p90:
			col = yellow
		}
		b.bar(area, x, n/top, col)
	}
	b.axisLine(c, ax)
	b.marks(c, ax)
}

var eighths = []rune(" ▁▂▃▄▅▆▇█")

// bar fills a column from the bottom, to an eighth of a cell.
func (b bars) bar(area canvas, x int, part float64, col color) {
	if part <= 0 {
		return
	}
	level := max(1, int(math.Round(part*float64(8*area.h))))
	for y := area.h - 1; y >= 0 && level > 0; y-- {
		area.set(x, y, eighths[min(level, 8)], style{fg: col})
		level -= 8
	}
}

// profile draws the outline of the other scope in dots.
func (b bars) profile(area canvas, heights []float64, top float64) {
	d := newDots(area.w, area.h)
	low := 4*area.h - 1
	prev := low + 1
	for x, n := range heights {
		y := low + 1
		if n > 0 {
			y = max(0, min(low, int(math.Round((1-n/top)*float64(low)))))
		}
		if y <= low || prev <= low {
			d.line(2*x, min(prev, low), 2*x, min(y, low))
			if y <= low {
				d.set(2*x+1, y)
			}
		}
		prev = y
	}
	for i, bits := range d.bits {
		if bits == 0 {
			continue
		}
		if b.v.ascii {
			area.set(i%d.w, i/d.w, '.', label)
		} else {
			area.set(i%d.w, i/d.w, 0x2800+rune(bits), label)
		}
	}
}

// marks writes where the median and the 99th percentile are.
func (b bars) marks(c canvas, ax latencyAxis) {
	if b.front.Count() == 0 {
		return
	}
	free := c.w
	for _, m := range []struct {
		name string
		q    float64
	}{{"p99 ", 0.99}, {"p50 ", 0.5}} {
		at := b.front.Quantile(m.q)
		x := min(max(0, int(ax.column(at))), c.w-1)
		for y := 1; y < c.h-1; y++ {
			b.mark(c, x, y)
		}
		value := latency(at)
		if b.exact != nil {
			if ms, ok := b.exact.Percentile(100 * m.q); ok {
				value = latency(time.Duration(ms * float64(time.Millisecond)))
			}
		}
		n := len(m.name) + width(value)
		left := x
		if left+n > free {
			left = free - n
		}
		if left < 0 {
			continue
		}
		c.print(left, 0, m.name, label)
		c.print(left+len(m.name), 0, value, strong)
		free = left - 1
	}
}

func (b bars) mark(c canvas, x, y int) {
	p := c.at(x, y)
	switch {
	case p == nil:
	case p.glyph == '█' && !b.v.mono:
		c.set(x, y, '┊', style{fg: black, bg: p.style.fg})
	case p.glyph == ' ' || p.glyph >= 0x2800 && p.glyph <= 0x28ff || p.glyph == '.':
		c.set(x, y, '┊', text)
	}
}

func (b bars) axisLine(c canvas, ax latencyAxis) {
	y := c.h - 1
	for x := range c.w {
		c.set(x, y, '─', line)
	}
	free := 0
	for d := ax.firstTick(); d <= ax.hi && d > 0; d = ax.nextTick(d) {
		x := int(math.Round(ax.column(d)))
		name := tickLabel(d)
		if ax.cut && d == ax.lo {
			name = "<" + name
		}
		if x < free || x+1+width(name) > c.w {
			continue
		}
		c.set(x, y, '┴', line)
		free = c.print(x+1, y, name, label) + 1
	}
}

// latencyAxis maps latencies to columns.
type latencyAxis struct {
	lo, hi time.Duration
	linear bool
	cut    bool // what is below lo counts in the first column
	w      int
}

// early is the share of samples that may lie far below the rest without getting room of their own: chunks that came in one
// read are microseconds apart, where those of a stream are milliseconds.
const early = 0.005

// axis spans what the whole run holds, out to round numbers, so that it seldom changes and both scopes fit.
func (b bars) axis(w int) latencyAxis {
	var lo, hi time.Duration
	first := true
	for _, h := range []*metrics.Histogram{b.front, b.outline} {
		for bucket := range h.Buckets() {
			if first || bucket.From < lo {
				lo, first = bucket.From, false
			}
			hi = max(hi, bucket.To, bucket.From)
		}
	}
	lo, hi = min(lo, longest/10), min(hi, longest)
	if b.v.linear {
		// A few stragglers would press everything else against the left edge.
		edge := max(b.front.Quantile(0.995), b.outline.Quantile(0.995))
		return latencyAxis{hi: tickAtLeast(min(max(edge, time.Microsecond), longest)), linear: true, w: w}
	}
	ax := latencyAxis{lo: tickAtMost(lo), hi: tickAtLeast(hi), w: w}
	ax.cut = lo < ax.lo // gaps of nothing at all, within one read
	if from := tickAtMost(min(b.usual(b.front), b.usual(b.outline))); from > 5*ax.lo {
		ax.lo, ax.cut = from, true
	}
	if ax.hi < 5*ax.lo {
		ax.hi = 5 * ax.lo // a needle needs some room around it
	}
	return ax
}

// usual is where a histogram begins, but for a few early samples.
func (b bars) usual(h *metrics.Histogram) time.Duration {
	if h.Count() == 0 {
		return longest
	}
	return h.Quantile(early)
}

// column is where a latency lies, from 0 to w.
func (a latencyAxis) column(d time.Duration) float64 {
	if a.linear {
		return float64(d) / float64(a.hi) * float64(a.w)
	}
	return math.Log(float64(max(d, 1))/float64(a.lo)) / math.Log(float64(a.hi)/float64(a.lo)) * float64(a.w)
}

// latency is the inverse of column.
func (a latencyAxis) latency(x float64) time.Duration {
	if a.linear {
		return time.Duration(x / float64(a.w) * float64(a.hi))
	}
	return time.Duration(float64(a.lo) * math.Pow(float64(a.hi)/float64(a.lo), x/float64(a.w)))
}

func (a latencyAxis) firstTick() time.Duration {
	if a.linear {
		return a.step()
	}
	return a.lo
}

func (a latencyAxis) nextTick(d time.Duration) time.Duration {
	if a.linear {
		return d + a.step()
	}
	return tickAtLeast(d + 1)
}

func (a latencyAxis) step() time.Duration {
	return tickAtLeast(a.hi / time.Duration(max(1, a.w/12)))
}

// columns spreads the buckets over the columns they cover, in proportion, as a share of all: without that, buckets and
// columns of nearly the same width would beat against each other in stripes.
func (a latencyAxis) columns(h *metrics.Histogram) []float64 {
	out := make([]float64, a.w)
	for b := range h.Buckets() {
		from, to := a.column(b.From), a.column(b.To)
		if a.cut && from < 0 { // also the part of a bucket that straddles the edge
			out[0] += float64(b.Count) / float64(h.Count()) * (min(to, 0) - from) / (to - from)
		}
		if to <= 0 || from >= float64(a.w) || to <= from {
			continue
		}
		n := float64(b.Count) / float64(h.Count()) / (to - from)
		for x := max(0, int(from)); x < a.w && float64(x) < to; x++ {
			out[x] += n * max(0, min(to, float64(x+1))-max(from, float64(x)))
		}
	}
	return out
}

// group gives neighbouring columns their mean where there are few samples, so that a thin histogram shows its shape and
// not its noise: about twice the cube root of n bars, as Rice has it.
func group(cols []float64, n uint64) {
	first, last := -1, -1
	for x, v := range cols {
		if v > 0 {
			if first < 0 {
				first = x
			}
			last = x
		}
	}
	if first < 0 {
		return
	}
	want := 2 * math.Cbrt(float64(n))
	size := min(4, int(float64(last-first+1)/max(want, 1)))
	for x := 0; size > 1 && x < len(cols); x += size {
		end := min(x+size, len(cols))
		sum := 0.0
		for _, v := range cols[x:end] {
			sum += v
		}
		for k := x; k < end; k++ {
			cols[k] = sum / float64(end-x)
		}
	}
}
