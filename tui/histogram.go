package tui

import (
	"fmt"
	"math"
	"slices"
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
	metric         string // whose limits are drawn, by vLLM's name
	front, outline *metrics.Histogram
	exact          *metrics.Statistic // of front, once the run is over; nil before
	tails          bool               // more percentiles than the two that matter most, where there is room
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
	if b.outline.Count() > 0 {
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
			area.set(i%d.w, i/d.w, '.', dim)
		} else {
			area.set(i%d.w, i/d.w, 0x2800+rune(bits), dim)
		}
	}
}

// percentileMarks are in the order in which they matter.
var percentileMarks = []float64{99, 50, 90, 99.9}

// crowded: a mark at x has no room for its name between the others, and the limits, so it would only disturb them.
func (b bars) crowded(all []mark, ax latencyAxis, x int) bool {
	const room = 14
	for _, bd := range b.v.bounds(b.metric) {
		if abs(int(ax.column(bd.at))-x) < room {
			return true
		}
	}
	return x > ax.w-room || slices.ContainsFunc(all, func(m mark) bool { return abs(m.x-x) < room })
}

// marks draws the median, the 99th percentile and the limits of the plan as lines with their names above them.
func (b bars) marks(c canvas, ax latencyAxis) {
	var all []mark
	if b.front.Count() > 0 {
		for i, p := range percentileMarks {
			at := b.front.Quantile(p / 100)
			value := latency(at)
			if b.exact != nil {
				if ms, ok := b.exact.Percentile(p); ok {
					value = latency(time.Duration(ms * float64(time.Millisecond)))
				}
			}
			x := min(max(0, int(ax.column(at))), c.w-1)
			if i >= 2 && (!b.tails || b.crowded(all, ax, x)) {
				continue
			}
			all = append(all, mark{x, '┊', []span{{fmt.Sprintf("p%g ", p), label}, {value, strong}}})
		}
	}
	// The first limit matters more than the median, which the table has as well.
	first := min(1, len(all))
	for _, bd := range b.v.bounds(b.metric) {
		if x := ax.column(bd.at); x >= 0 && x < float64(c.w) {
			all = slices.Insert(all, first, mark{int(x), '│', []span{{bd.name, strong}}})
			first = len(all)
		}
	}
	for _, m := range place(c, all) {
		for y := 1; y < c.h-1; y++ {
			b.mark(c, m.x, y, m.glyph)
		}
	}
}

// mark is a vertical line and its name.
type mark struct {
	x     int
	glyph rune
	name  []span
}

// place writes the names into the top row, each beginning at its line, or further to the left where the next name or the
// edge is in the way; in the order of the lines. What finds no room is left out, the last of the list first. It returns the
// marks that were placed.
func place(c canvas, all []mark) []mark {
	for ; len(all) > 0; all = all[:len(all)-1] {
		sorted := slices.Clone(all)
		slices.SortStableFunc(sorted, func(a, b mark) int { return b.x - a.x })
		at := make([]int, len(sorted))
		free := c.w
		for i, m := range sorted {
			at[i] = min(m.x, free-spansWidth(m.name))
			free = at[i] - 1
		}
		if at[len(at)-1] < 0 {
			continue
		}
		for i, m := range sorted {
			c.spans(at[i], 0, m.name)
		}
		return all
	}
	return nil
}

func (b bars) mark(c canvas, x, y int, glyph rune) {
	p := c.at(x, y)
	switch {
	case p == nil:
	case p.glyph == '█' && !b.v.mono:
		c.set(x, y, glyph, style{fg: black, bg: p.style.fg})
	case p.glyph == ' ' || p.glyph >= 0x2800 && p.glyph <= 0x28ff || p.glyph == '.':
		c.set(x, y, glyph, text)
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
