package chart

import (
	"math"
	"slices"
	"time"

	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// Histogram is the distribution of a latency. The bars show one scope, the outline behind them another, each as shares of its own samples,
// so that the shapes can be compared.
//
//	           p50 346ms     p99 1.08s
//	      ▂▅▇█┊▅▃            ┊
//	⢀⣀▂▄▆█████┊███▅▄▂▁⠤⠤⣀⣀⣀  ┊
//	──┴10ms──┴20ms────┴50ms──┴100ms──
type Histogram struct {
	Axis           LatencyAxis // of as many bins as the canvas has columns
	Front, Outline Bars
	Colors         []ColorFrom       // of the bars, in order of latency
	Annotations    []ValueAnnotation // the most important first
	Nothing        string            // shown if there is no data
}

// Bars are the samples of one scope by the bins of the axis.
type Bars struct {
	Bins    []float64 // samples by bin; nil for none
	Samples uint64
}

// ColorFrom is the colour of bars from a latency on.
type ColorFrom struct {
	From  time.Duration
	Color screen.Color
}

// ValueAnnotation is a latency marked on a histogram by a vertical line with its name above.
type ValueAnnotation struct {
	At    time.Duration
	Glyph rune
	Name  []screen.Span
	Kept  bool // drawn at the edge if it lies beyond; others are left out
	Extra bool // left out if its name is close to another
}

// HistogramFits reports whether a canvas is large enough for a histogram.
func HistogramFits(c screen.Canvas) bool { return c.W >= 16 && c.H >= 3 }

// Draw fills c with the histogram. The raster may be nil.
func (b Histogram) Draw(c screen.Canvas, r *Raster) {
	front, outline := b.Front.shares(), b.Outline.shares()
	top := 0.0
	for _, n := range slices.Concat(front, outline) {
		top = max(top, n)
	}
	if !HistogramFits(c) || top == 0 {
		c.Center(b.Nothing, screen.Label)
		return
	}
	area := c.Sub(0, 1, c.W, c.H-2)
	r = r.start(area)
	profile(r, outline, top)
	sign := rune(0)
	if c.Terminal().ASCII {
		sign = '.'
	}
	r.paint(area, func(int, int) {}, func() {
		r.draw(r.dots, sign, func(int) cellState { return cellState{style: screen.Dim} })
		b.bars(r, front, top)
	})
	b.axisLine(c)
	b.annotate(c)
}

// bars draws the bars of a scope.
func (b Histogram) bars(r *Raster, heights []float64, top float64) {
	color, next := screen.Plain, b.Colors
	for x, n := range heights {
		for at := b.Axis.latency(float64(x)); len(next) > 0 && at >= next[0].From; next = next[1:] {
			color = next[0].Color
		}
		r.column(x, n/top, screen.Style{Fg: color})
	}
}

// profile traces the outline of a scope.
func profile(r *Raster, heights []float64, top float64) {
	low := 4*r.h - 1
	before := low + 1
	for x, n := range heights {
		y := low + 1
		if n > 0 {
			y = max(0, min(low, int(math.Round((1-n/top)*float64(low)))))
		}
		if y <= low || before <= low {
			r.between(2*x, min(before, low), 2*x, min(y, low))
			if y <= low {
				r.dots = append(r.dots, dot{2*x + 1, y})
			}
		}
		before = y
	}
}

// shares are the bins as shares of all samples. With few samples, groups of neighbours get their mean, so that a thin histogram shows its
// shape and not its noise: about twice the cube root of n bars, by the rule of Rice.
func (b Bars) shares() []float64 {
	out := make([]float64, len(b.Bins))
	first, last := -1, -1
	for x, v := range b.Bins {
		if v = number.Sane(v); v > 0 && b.Samples > 0 {
			out[x] = v / float64(b.Samples)
			if first < 0 {
				first = x
			}
			last = x
		}
	}
	if first < 0 {
		return out
	}
	want := 2 * math.Cbrt(float64(b.Samples))
	size := min(4, int(float64(last-first+1)/max(want, 1)))
	for x := 0; size > 1 && x < len(out); x += size {
		group := out[x:min(x+size, len(out))]
		sum := 0.0
		for _, v := range group {
			sum += v
		}
		for k := range group {
			group[k] = sum / float64(len(group))
		}
	}
	return out
}

// axisLine draws the bottom line with its labels.
func (b Histogram) axisLine(c screen.Canvas) {
	y, ax := c.H-1, b.Axis
	for x := range c.W {
		c.Set(x, y, '─', screen.Line)
	}
	free := 0
	for d := ax.firstTick(); d <= ax.hi && d > 0; d = ax.nextTick(d) {
		x := int(math.Round(ax.bin(d)))
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

// annotationRoom is the least number of columns between an extra annotation and the others.
const annotationRoom = 14

// annotate draws the annotations as lines with their names above them.
func (b Histogram) annotate(c screen.Canvas) {
	var all []placedAnnotation
	for _, m := range b.Annotations {
		at := b.Axis.bin(m.At)
		x := min(max(0, int(at)), c.W-1)
		near := func(p placedAnnotation) bool { return p.x-x < annotationRoom && x-p.x < annotationRoom }
		switch {
		case !m.Kept && !b.Axis.Shows(m.At):
		case m.Extra && (x > c.W-annotationRoom || slices.ContainsFunc(all, near)):
		default:
			all = append(all, placedAnnotation{m, x})
		}
	}
	for _, m := range writeNames(c, all) {
		for y := 1; y < c.H-1; y++ {
			b.annotateCell(c, m.x, y, m.Glyph)
		}
	}
}

// annotateCell draws a cell of a line where it hides no data, or in black on a bar.
func (b Histogram) annotateCell(c screen.Canvas, x, y int, glyph rune) {
	p := c.At(x, y)
	switch {
	case p == nil:
	case p.Glyph == '█' && !c.Terminal().Mono:
		c.Set(x, y, glyph, screen.Style{Fg: screen.Black, Bg: p.Style.Fg})
	case p.Glyph == ' ' || p.Glyph >= 0x2800 && p.Glyph <= 0x28ff || p.Glyph == '.':
		c.Set(x, y, glyph, screen.Text)
	}
}

type placedAnnotation struct {
	ValueAnnotation
	x int
}

// writeNames writes the names into the top row in the order of their lines. A name begins at its line, or further to the left if the next
// name or the edge is in the way. If there is no room for all, the last annotations of the list are left out. It returns the others.
func writeNames(c screen.Canvas, all []placedAnnotation) []placedAnnotation {
	for ; len(all) > 0; all = all[:len(all)-1] {
		sorted := slices.Clone(all)
		slices.SortStableFunc(sorted, func(a, b placedAnnotation) int { return b.x - a.x })
		at := make([]int, len(sorted))
		free := c.W
		for i, m := range sorted {
			at[i] = min(m.x, free-screen.SpansWidth(m.Name))
			free = at[i] - 1
		}
		if at[len(at)-1] < 0 {
			continue
		}
		for i, m := range sorted {
			c.Spans(at[i], 0, m.Name)
		}
		return all
	}
	return nil
}
