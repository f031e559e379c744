package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// Histogram is the distribution of a latency. The bars show one scope, the outline behind them another, each as shares
// of its own samples, so that the shapes can be compared. The scale at the left is that of a column.
//
//	            p50 346ms     p99 1.08s  SLO 5s →
//	12%    ▂▅▇█┊▅▃            ┊
//	 6% ▂▄▆█████┊███▅▄▂▁⠤⠤⣀⣀⣀  ┊
//	    ──┴10ms──┴20ms────┴50ms──┴100ms→
type Histogram struct {
	Axis           LatencyAxis // of HistogramBins
	Front, Outline Bars
	Of             string            // the samples that the scale is a share of, such as "requests"
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
	Brief []screen.Span // the name where there is no room for all of them, nil for none
	Aside bool          // beyond the axis its name stands at the edge with an arrow, without a line
	Extra bool          // left out if its name is close to another
}

// shareWidth is that of the scale of shares: four columns of label and a blank.
const shareWidth = 5

// HistogramBins is the number of columns of bars on a canvas; 0 if it is too small for a histogram.
func HistogramBins(c screen.Canvas) int {
	switch {
	case c.W < 16 || c.H < 3:
		return 0
	case c.W < 30:
		return c.W
	}
	return c.W - shareWidth
}

// Draw fills c with the histogram. The raster may be nil.
func (b Histogram) Draw(c screen.Canvas, r *Raster) {
	bins := HistogramBins(c)
	front, outline := b.shares(b.Front), b.shares(b.Outline)
	top := b.top(front, outline)
	if bins == 0 || top == 0 {
		c.Center(b.Nothing, screen.Label)
		return
	}
	left := c.W - bins
	area := c.Sub(left, 1, bins, c.H-2)
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
	b.axisLine(c.Sub(left, c.H-1, bins, 1))
	b.annotate(c, area)
	if left > 0 {
		shareAxis(c.Sub(0, 1, left, area.H), top)
		b.note(area, 0, "of "+b.Of)
	}
	if b.Axis.first > 0 && len(front) > 0 && front[0] > top { // taller than the scale
		b.note(area, 1, percent(front[0]))
	}
}

// top is the upper end of the scale: a round share at or above all columns of the scale of latencies.
func (b Histogram) top(all ...[]float64) float64 {
	most, short := 0.0, 0.0
	for _, shares := range all {
		for x, share := range shares {
			if x < b.Axis.first {
				short = max(short, share)
			} else {
				most = max(most, share)
			}
		}
	}
	most = cmp.Or(most, short)
	if most == 0 {
		return 0
	}
	for _, p := range tops {
		if p/100 >= most {
			return p / 100
		}
	}
	return 1
}

// tops are the upper ends of the scale in percent: their halves are short numbers, too.
var tops = [...]float64{0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 30, 40, 50, 60, 80}

// shareAxis writes the scale: its upper end, and the half where there is room.
func shareAxis(c screen.Canvas, top float64) {
	a := axis{c, screen.Label}
	a.put(0, percent(top))
	if c.H >= 6 {
		a.put(c.H/2, percent(top/2))
	}
}

// percent writes a share in at most four columns.
func percent(share float64) string {
	p := 100 * number.Sane(share)
	if p >= 9.95 {
		return fmt.Sprintf("%.0f%%", p)
	}
	return number.TrimZero(fmt.Sprintf("%.1f", p)) + "%"
}

// note writes words into the top row of the bars where no data is in the way.
func (b Histogram) note(area screen.Canvas, x int, words string) {
	for k := range screen.Width(words) {
		if p := area.At(x+k, 0); p == nil || p.Glyph != ' ' {
			return
		}
	}
	area.Print(x, 0, words, screen.Label)
}

// bars draws the bars of a scope.
func (b Histogram) bars(r *Raster, heights []float64, top float64) {
	color, next := screen.Plain, b.Colors
	for x, n := range heights {
		for len(next) > 0 && (next[0].From == 0 || x > b.Axis.column(next[0].From)) {
			color, next = next[0].Color, next[1:]
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

// shares are the bins as shares of all samples. With few samples, groups of neighbours get their mean, so that a thin
// histogram shows its shape and not its noise: about twice the cube root of n bars, by the rule of Rice.
func (b Histogram) shares(of Bars) []float64 {
	out := make([]float64, len(of.Bins))
	first, last := -1, -1
	for x, v := range of.Bins {
		if v = number.Sane(v); v > 0 && of.Samples > 0 {
			out[x] = v / float64(of.Samples)
			if first < 0 && x >= b.Axis.first {
				first = x
			}
			last = x
		}
	}
	if first < 0 {
		return out
	}
	want := 2 * math.Cbrt(float64(of.Samples))
	size := min(4, int(float64(last-first+1)/max(want, 1)))
	for x := b.Axis.first; size > 1 && x < len(out); x += size {
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

// axisLine draws the line of latencies with its labels.
func (b Histogram) axisLine(c screen.Canvas) {
	ax := b.Axis
	for x := range c.W {
		c.Set(x, 0, '─', screen.Line)
	}
	from, to := 0, c.W
	if ax.first > 0 {
		from = c.Print(0, 0, "<0.1ms", screen.Label) + 1
	}
	if ax.beyond {
		to--
		c.Set(to, 0, '→', screen.Label)
	}
	labels := ax.labels(from, to, false)
	if len(labels) < enoughTicks {
		labels = ax.labels(from, to, true)
	}
	for _, l := range labels {
		c.Set(l.x, 0, '┴', screen.Line)
		c.Print(l.x+1, 0, l.name, screen.Label)
	}
}

// tickLabel is the name of a tick to the right of its column.
type tickLabel struct {
	x    int
	name string
}

// labels are those of the ticks that fit from one column to another.
func (a LatencyAxis) labels(from, to int, close bool) (out []tickLabel) {
	for _, d := range a.ticks(close) {
		x, name := int(math.Round(a.bin(d))), number.Tick(d)
		if end := x + 1 + screen.Width(name); x >= from && end <= to {
			out = append(out, tickLabel{x, name})
			from = end + 1
		}
	}
	return out
}

// annotationRoom is the least number of columns between an extra annotation and the others.
const annotationRoom = 14

// annotate draws the annotations as lines in the area of the bars, with their names in the top row of c.
func (b Histogram) annotate(c, area screen.Canvas) {
	left := c.W - area.W
	var all []placedAnnotation
	for _, m := range b.Annotations {
		p := placedAnnotation{m, left + b.Axis.column(m.At), !b.Axis.short(m.At)}
		if m.Aside && !b.Axis.Shows(m.At) {
			p.lined = false
			if p.x > left+area.W/2 {
				p.Name = append(slices.Clone(m.Name), screen.Label.Span(" →"))
			} else {
				p.Name = append([]screen.Span{screen.Label.Span("← ")}, m.Name...)
			}
		}
		near := func(o placedAnnotation) bool { return o.x-p.x < annotationRoom && p.x-o.x < annotationRoom }
		if m.Extra && (p.x > c.W-annotationRoom || slices.ContainsFunc(all, near)) {
			continue
		}
		all = append(all, p)
	}
	for _, m := range writeNames(c, all) {
		for y := 0; m.lined && y < area.H; y++ {
			b.annotateCell(area, m.x-left, y, m.Glyph)
		}
	}
}

// annotateCell draws a cell of a line where it hides no data, or in black on a bar.
func (b Histogram) annotateCell(c screen.Canvas, x, y int, glyph rune) {
	p := c.At(x, y)
	switch {
	case p == nil:
	case p.Glyph == '█' && !c.Terminal().Mono:
		c.Set(x, y, glyph, screen.Style{Fg: screen.Inverse, Bg: p.Style.Fg})
	case p.Glyph == ' ' || p.Glyph >= 0x2800 && p.Glyph <= 0x28ff || p.Glyph == '.':
		c.Set(x, y, glyph, screen.Text)
	}
}

type placedAnnotation struct {
	ValueAnnotation
	x     int
	lined bool
}

// writeNames writes the names into the top row in the order of their lines. A name begins at its line, or further to
// the left if the next name or the right edge is in the way, or to the right if the left edge is. If there is no room
// for all, the last annotations of the list have their brief names, or are left out. It returns the others.
func writeNames(c screen.Canvas, all []placedAnnotation) []placedAnnotation {
	for len(all) > 0 {
		sorted := slices.Clone(all)
		slices.SortStableFunc(sorted,
			func(a, b placedAnnotation) int { return cmp.Or(b.x-a.x, cmp.Compare(b.At, a.At)) })
		at := make([]int, len(sorted))
		free := c.W
		for i, m := range sorted {
			at[i] = min(m.x, free-screen.SpansWidth(m.Name))
			free = at[i] - 1
		}
		free = 0
		for i, m := range slices.Backward(sorted) {
			at[i] = max(at[i], free)
			free = at[i] + screen.SpansWidth(m.Name) + 1
		}
		if last := &all[len(all)-1]; free > c.W+1 {
			if last.Name, last.Brief = last.Brief, nil; last.Name == nil || last.Extra {
				all = all[:len(all)-1]
			}
			continue
		}
		for i, m := range sorted {
			c.Spans(at[i], 0, m.Name)
			if at[i] != m.x && strings.HasPrefix(m.Name[0].Text, string(m.Glyph)) {
				c.Print(at[i], 0, " ", screen.Label) // which would seem to be its line
			}
		}
		return all
	}
	return nil
}
