package chart

import (
	"math"
	"slices"
	"time"

	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// Line is a line of a plot.
type Line struct {
	Name   string
	Points []Point // in order of time
	Older  []Point // the same line of a baseline, broken and dim behind all lines; nil for none
	Color  screen.Color
	Filled bool // the area below, in a shade of its colour, stands for the line if the terminal has enough colours
	Sign   rune // of the line in ASCII; 0 for the first letter of its name
	Sparse bool // stretches at the bottom of the axis are left out, where they would cover other lines
}

// Point is a value at a moment; NaN is a gap.
type Point struct {
	At    time.Duration
	Value float64
}

// Plot draws lines over time, without the axis of time: charts above each other share it. The vertical axis is linear
// from 0, or logarithmic for latencies.
//
//	10k         ⢀⣀
//	 5k    ⣀⠤⠔⠊⠁
//	  0 ⠤⠊⠁
type Plot struct {
	Time  TimeAxis
	Lines []Line // later ones are drawn over earlier ones
	Lanes bool   // each line has a lane and an axis of its own, the first the highest, if there is room
	Log   bool   // values are latencies in seconds on a logarithmic axis
	// lines are percentiles, highest first, with areas between them if the terminal has enough colours
	Band        bool
	Top         float64 // the least upper end of a linear axis
	Named       bool    // lines carry their names, as they always do without colours
	Wordless    bool    // a plot above has the words of the annotations
	Limits      []Limit
	Annotations []Annotation
	Underline   Underline
	Nothing     string // shown if there is no data
}

// Draw fills c with the plot. The raster may be nil.
func (p Plot) Draw(c screen.Canvas, r *Raster) {
	used := newTaken(plotArea(c))
	area := used.c
	low, top := extremes(p.Lines)
	if area.W == 0 || p.Time.Shown <= 0 || len(p.Lines) == 0 || p.Log && top == 0 {
		c.Center(p.Nothing, screen.Label)
		return
	}
	if p.Lanes && area.H < LanesRows {
		p.Lanes, p.Lines = false, p.Lines[:1]
		low, top = extremes(p.Lines)
	}
	if p.worded() && area.H >= wordedRows {
		used.above = 1
		area = area.Sub(0, 1, area.W, area.H-1)
	}
	lanes := p.split(area)
	if p.Lanes {
		for i, l := range p.Lines {
			low, top := extremes(p.Lines[i : i+1])
			lanes[i].scale = p.scale(c, lanes[i].area, low, top, screen.Style{Fg: l.Color})
		}
	} else {
		scale := p.scale(c, area, low, top, screen.Label)
		for i := range lanes {
			lanes[i].scale = scale
		}
	}
	band := p.Band && Shaded(c.Terminal())
	p.data(pen{r.start(area), p.Time, c.Terminal()}, area, used, lanes, band)
	if c.Terminal().Mono || p.Named && !band {
		p.names(area, used, lanes)
	}
	used.limits(p.Limits, lanes[0].scale)
	used.annotate(p.Annotations, p.Time, !p.Wordless)
	used.underline(p.Underline, p.Time)
}

// LanesRows is the least height of a chart with lanes; a lower one shows the first line alone.
const LanesRows = 8

// wordedRows is the least height of a chart whose top row is kept for the words of annotations.
const wordedRows = 4

// worded reports whether annotations have words.
func (p Plot) worded() bool {
	return !p.Wordless && slices.ContainsFunc(p.Annotations, func(a Annotation) bool { return a.Name != "" })
}

// data draws the lines, or the band.
func (p Plot) data(pen pen, area screen.Canvas, used *usedCells, lanes []lane, band bool) {
	older := make([][]dot, len(p.Lines))
	for i, l := range p.Lines {
		older[i] = pen.trace(lanes[i], l.Older, l.Sparse)
	}
	lower, upper := pen.areas(lanes, p.Lines), pen.lines(lanes, p.Lines)
	if band {
		lower, upper = pen.band(p.Lines, lanes[0].scale), func() {}
	}
	pen.r.paint(area, func(x, y int) { used.cell(x, y+used.above) }, func() {
		lower()
		for _, dots := range older {
			pen.older(dots)
		}
		upper()
	})
}

// lane is the place of a line: a part of the area, the number of rows above it, and the scale in it.
type lane struct {
	area  screen.Canvas
	above int
	scale scale
}

// split gives each line the whole area, or a lane of its own.
func (p Plot) split(area screen.Canvas) []lane {
	out := make([]lane, len(p.Lines))
	y := 0
	for i := range out {
		out[i].area = area
		if p.Lanes {
			rest := len(out) - i
			h := (area.H - y + rest - 1) / rest
			if rest > 1 && area.H >= 5 {
				h = min(h+area.H/8, area.H-y-1)
			}
			out[i] = lane{area: area.Sub(0, y, area.W, h), above: y}
			y += h
		}
	}
	return out
}

// extremes finds the smallest value above 0 and the largest.
func extremes(lines []Line) (low, top float64) {
	low = math.Inf(1)
	for _, l := range lines {
		for _, points := range [...][]Point{l.Points, l.Older} {
			for _, p := range points {
				if v := number.Sane(p.Value); v > 0 {
					low, top = min(low, v), max(top, v)
				}
			}
		}
	}
	return low, top
}

// scale draws the vertical axis of an area within c.
func (p Plot) scale(c, area screen.Canvas, low, top float64, st screen.Style) scale {
	a := axis{c.Sub(0, area.Y-c.Y, axisWidth, area.H), st}
	if p.Log {
		return a.logarithmic(low, top)
	}
	return a.linear(max(top, p.Top))
}

// band returns a function that draws three percentiles, the highest first, as areas of two tones with bright edges, in
// halves of cells:
//
//	   1s┤        ▄▀▀▀▄▄▀▀  p99
//	     │     ▄▀▀░░░░░░░░
//	100ms┤▀▀▀▀░░▄▄▄▄▀▀▀▀▄  p90
//	     │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒
//	     │▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄  p50
//
// Lower lines cover higher ones. The warm-up is grey.
func (p pen) band(lines []Line, at scale) (draw func()) {
	rows := make([][]int, len(lines))
	for i, l := range lines {
		rows[i] = p.columns(l, at)
	}
	warm := p.time.warm(p.r.w)
	return func() {
		for x := range p.r.w {
			for i := 0; i+1 < len(rows) && x >= warm; i++ {
				p.tone(x, rows[i][x], rows[i+1][x], screen.Shade(lines[i].Color))
			}
			for i, l := range lines {
				color := l.Color
				if x < warm {
					color = screen.Dimmed
				}
				p.r.pixel(x, rows[i][x], color)
			}
		}
	}
}

// tone fills a column between two lines, from the row of the upper one to that of the lower one; -1 for none.
func (p pen) tone(x, upper, lower int, color screen.Color) {
	if upper < 0 || lower < 0 {
		return
	}
	for y := max(upper, 2*p.r.top); y <= lower && y < 2*(p.r.top+p.r.rows); y++ {
		p.r.pixel(x, y, color)
	}
}

// columns are the rows, in halves of cells, at which a line crosses each column on a logarithmic axis; -1 for none.
func (p pen) columns(l Line, at scale) []int {
	out := make([]int, p.r.w)
	for x := range out {
		out[x] = -1
	}
	from, last := -1, 0.0
	for _, pt := range l.Points {
		if math.IsNaN(pt.Value) {
			from = -1
			continue
		}
		x := p.time.dot(pt.At, p.r.w) / 2
		if from < 0 {
			from, last = x, pt.Value
		}
		// on the line between the two points, as far as there are columns
		for k := max(from, 0); k <= min(x, p.r.w-1); k++ {
			v := pt.Value
			if x > from {
				v = last * math.Pow(pt.Value/last, float64(k-from)/float64(x-from))
			}
			out[k] = at.row(v, 2*p.r.h)
		}
		from, last = x, pt.Value
	}
	return out
}
