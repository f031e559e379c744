package tui

import (
	"fmt"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
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

func (b bars) draw(c screen.Canvas) {
	if c.W < 16 || c.H < 3 || b.front.Count() == 0 && b.outline.Count() == 0 {
		c.Center(b.nothing, screen.Label)
		return
	}
	ax := b.axis(c.W)
	area := c.Sub(0, 1, c.W, c.H-2)
	front := ax.columns(b.front)
	back := ax.columns(b.outline)
	group(front, b.front.Count())
	group(back, b.outline.Count())
	top := 0.0
	for i := range front {
		top = max(top, front[i], back[i])
	}
	if top == 0 {
		c.Center(b.nothing, screen.Label)
		return
	}
	if b.outline.Count() > 0 {
		b.profile(area, back, top)
	}
	p90, p99 := b.front.Quantile(0.9), b.front.Quantile(0.99)
	for x, n := range front {
		col := screen.Blue
		switch at := ax.latency(float64(x)); {
		case at >= p99:
			col = screen.Vermilion
		case at >= p90:
			col = screen.Yellow
		}
		b.bar(area, x, n/top, col)
	}
	b.axisLine(c, ax)
	b.marks(c, ax)
}

var eighths = []rune(" ▁▂▃▄▅▆▇█")

// bar fills a column from the bottom, to an eighth of a cell.
func (b bars) bar(area screen.Canvas, x int, part float64, col screen.Color) {
	if part <= 0 {
		return
	}
	level := max(1, int(math.Round(part*float64(8*area.H))))
	for y := area.H - 1; y >= 0 && level > 0; y-- {
		area.Set(x, y, eighths[min(level, 8)], screen.Style{Fg: col})
		level -= 8
	}
}

// profile draws the outline of the other scope in dots.
func (b bars) profile(area screen.Canvas, heights []float64, top float64) {
	d := newDots(area.W, area.H)
	low := 4*area.H - 1
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
		if b.v.ASCII {
			area.Set(i%d.w, i/d.w, '.', screen.Dim)
		} else {
			area.Set(i%d.w, i/d.w, 0x2800+rune(bits), screen.Dim)
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
func (b bars) marks(c screen.Canvas, ax latencyAxis) {
	var all []mark
	if b.front.Count() > 0 {
		for i, p := range percentileMarks {
			at := b.front.Quantile(p / 100)
			value := number.Latency(at)
			if b.exact != nil {
				if ms, ok := b.exact.Percentile(p); ok {
					value = number.Latency(time.Duration(ms * float64(time.Millisecond)))
				}
			}
			x := min(max(0, int(ax.column(at))), c.W-1)
			if i >= 2 && (!b.tails || b.crowded(all, ax, x)) {
				continue
			}
			all = append(all, mark{x, '┊', []screen.Span{screen.Label.Span(fmt.Sprintf("p%g ", p)), screen.Strong.Span(value)}})
		}
	}
	// The first limit matters more than the median, which the table has as well.
	first := min(1, len(all))
	for _, bd := range b.v.bounds(b.metric) {
		if x := ax.column(bd.at); x >= 0 && x < float64(c.W) {
			all = slices.Insert(all, first, mark{int(x), '│', []screen.Span{screen.Strong.Span(bd.name)}})
			first = len(all)
		}
	}
	for _, m := range place(c, all) {
		for y := 1; y < c.H-1; y++ {
			b.mark(c, m.x, y, m.glyph)
		}
	}
}

// mark is a vertical line and its name.
type mark struct {
	x     int
	glyph rune
	name  []screen.Span
}

// place writes the names into the top row, each beginning at its line, or further to the left where the next name or the
// edge is in the way; in the order of the lines. What finds no room is left out, the last of the list first. It returns the
// marks that were placed.
func place(c screen.Canvas, all []mark) []mark {
	for ; len(all) > 0; all = all[:len(all)-1] {
		sorted := slices.Clone(all)
		slices.SortStableFunc(sorted, func(a, b mark) int { return b.x - a.x })
		at := make([]int, len(sorted))
		free := c.W
		for i, m := range sorted {
			at[i] = min(m.x, free-screen.SpansWidth(m.name))
			free = at[i] - 1
		}
		if at[len(at)-1] < 0 {
			continue
		}
		for i, m := range sorted {
			c.Spans(at[i], 0, m.name)
		}
		return all
	}
	return nil
}

func (b bars) mark(c screen.Canvas, x, y int, glyph rune) {
	p := c.At(x, y)
	switch {
	case p == nil:
	case p.Glyph == '█' && !b.v.Mono:
		c.Set(x, y, glyph, screen.Style{Fg: screen.Black, Bg: p.Style.Fg})
	case p.Glyph == ' ' || p.Glyph >= 0x2800 && p.Glyph <= 0x28ff || p.Glyph == '.':
		c.Set(x, y, glyph, screen.Text)
	}
}

func (b bars) axisLine(c screen.Canvas, ax latencyAxis) {
	y := c.H - 1
	for x := range c.W {
		c.Set(x, y, '─', screen.Line)
	}
	free := 0
	for d := ax.firstTick(); d <= ax.hi && d > 0; d = ax.nextTick(d) {
		x := int(math.Round(ax.column(d)))
		name := number.Tick(d)
		if ax.cut && d == ax.lo {
			name = "<" + name
		}
		if x < free || x+1+screen.Width(name) > c.W {
			continue
		}
		c.Set(x, y, '┴', screen.Line)
		free = c.Print(x+1, y, name, screen.Label) + 1
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
