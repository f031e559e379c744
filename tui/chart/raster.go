// Package chart draws data: lines over time, histograms, heat maps, bands of percentiles, gauges. A chart takes plain
// data (values, moments, styles, a scale) and a rectangle of the screen. It knows neither snapshots nor pages nor keys:
// panels turn a snapshot into that data.
//
//	values ──axis──> 0 to 1 ──> dots, eighths, halves ──> Raster: a canvas of ntcharts ──> cells of the screen
//	                               │                         ┊
//	    0.42 ──log──> 0.61 ──┬──> line:   dot (2x, 4y)  ⠤⠒⠉   ┊ one raster serves all charts,
//	                         ├──> column: eighths       ▂▅█  ┊ one after the other, and is kept
//	                         └──> pixel:  upper, lower  ▀▄   ┊ from frame to frame
//
//	╭ canvas ───────────╮  Axes, limits, annotations and (without colours) names of lines are written on the screen.
//	│10k         ⢀⣀     │  Limits and annotations go behind the data: a cell with a dot of a line is taken.
//	│  0 ⠤⠤⠤⠔⠒⠊⠉        │
package chart

import (
	"math"

	"github.com/NimbleMarkets/ntcharts/canvas"
	"github.com/NimbleMarkets/ntcharts/canvas/graph"
	"github.com/NimbleMarkets/ntcharts/canvas/runes"
	"github.com/charmbracelet/lipgloss"

	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// Raster is a canvas of ntcharts that the data of a chart is drawn on before it is copied to the screen. A cell of the
// canvas takes 560 bytes, so one raster is kept from frame to frame, serves all charts in turn, and is one strip high:
// a higher chart is drawn strip by strip. The zero value is ready. A raster is not safe for concurrent use.
//
// A cell holds 2x4 dots, eight eighths from the bottom, or two halves. Columns and rows count from the upper left of
// the chart. NaN and infinities never reach the canvas, which would loop over them without end. Drawing outside the
// strip has no effect.
type Raster struct {
	w, h      int // of the chart
	top, rows int // of the strip in it
	canvas    canvas.Model
	states    []cellState // the canvas, as many in a row as it has columns
	dots      []dot       // of the lines of a chart, traced once for all strips
}

// stripRows is the height of the canvas: most charts of a screen of 120x40 fit into one strip.
const stripRows = 10

// cellState is kept for each cell of the canvas: its style on the screen, since styles of lipgloss are not comparable,
// and the last line drawn through it.
type cellState struct {
	style screen.Style
	line  int // counted from 1; 0 for other data, belowLine for the area below a line
}

// belowLine marks a cell of the area below a line.
const belowLine = -1

// dot is the place of a dot, from the upper left of a chart.
type dot struct{ x, y int }

// unstyled is the style of all cells of the canvas.
var unstyled lipgloss.Style

// start begins a chart that fills an area. It returns a new raster if there is none.
func (r *Raster) start(area screen.Canvas) *Raster {
	if r == nil {
		r = new(Raster)
	}
	r.w, r.h, r.dots = area.W, area.H, r.dots[:0]
	if r.w > r.canvas.Width() {
		r.canvas = canvas.New(r.w, stripRows)
		r.states = make([]cellState, r.w*stripRows)
	}
	return r
}

// paint copies a chart to its area of the screen, strip by strip: draw is called for each strip. Empty cells stay as
// they are; taken is called for the others, except for areas below lines.
func (r *Raster) paint(area screen.Canvas, taken func(x, y int), draw func()) {
	for r.top = 0; r.top < r.h; r.top += stripRows {
		r.rows = min(stripRows, r.h-r.top)
		for y := range r.rows {
			r.canvas.FillLine(y, canvas.Cell{})
		}
		draw()
		r.copy(area, taken)
	}
}

// copy copies the strip onto an area of the screen.
func (r *Raster) copy(area screen.Canvas, taken func(x, y int)) {
	for y := r.top; y < r.top+r.rows; y++ {
		for x := range r.w {
			glyph := r.glyph(x, y)
			if glyph == 0 {
				continue
			}
			of := *r.at(x, y)
			st := of.style
			if glyph == upperHalf {
				glyph, st = half(st)
			}
			area.Set(x, y, glyph, st)
			if of.line != belowLine {
				taken(x, y)
			}
		}
	}
}

// at returns the state of a cell; nil outside the strip.
func (r *Raster) at(x, y int) *cellState {
	if y -= r.top; x < 0 || y < 0 || x >= r.w || y >= r.rows {
		return nil
	}
	return &r.states[y*r.canvas.Width()+x]
}

// cell is the place of a cell on the canvas.
func (r *Raster) cell(x, y int) canvas.Point { return canvas.Point{X: x, Y: y - r.top} }

// glyph is the rune of a cell, 0 for nothing.
func (r *Raster) glyph(x, y int) rune { return r.canvas.Cell(r.cell(x, y)).Rune }

// set puts a rune into a cell, whatever was there.
func (r *Raster) set(x, y int, glyph rune, of cellState) {
	if p := r.at(x, y); p != nil {
		r.canvas.SetCell(r.cell(x, y), canvas.NewCellWithStyle(glyph, unstyled))
		*p = of
	}
}

// dotRunes are the braille characters of a single dot: rows of a cell from the top, its two columns.
var dotRunes = func() (out [4][2]rune) {
	// in the order of Unicode
	for i, at := range [8][2]int{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {3, 0}, {3, 1}} {
		var one runes.PatternDots
		one[i] = true
		out[at[0]][at[1]] = runes.BraillePatternFromPatternDots(one)
	}
	return out
}()

// dot adds a dot to those of its cell, two to a cell across and four down. What is below it in the cell becomes its
// ground: an area that fills at least half of the cell.
func (r *Raster) dot(x, y int, of cellState) {
	if x < 0 || y < 0 {
		return
	}
	if p := r.at(x/2, y/4); p != nil {
		switch glyph := r.glyph(x/2, y/4); {
		case glyph >= runes.LowerBlockFour && glyph <= runes.FullBlock:
			of.style.Bg = p.style.Fg
		case glyph != 0:
			of.style.Bg = p.style.Bg
		}
		graph.DrawBrailleRune(&r.canvas, r.cell(x/2, y/4), dotRunes[y%4][x%2], unstyled)
		*p = of
	}
}

// between appends the dots of the line between two dots to those of a chart. A diagonal step gets a dot at its corner:
// thinner lines hardly stand out from dotted areas.
func (r *Raster) between(x0, y0, x1, y1 int) {
	most := canvas.Point{X: 2*r.w - 1, Y: 4*r.h - 1}
	on := func(x, y int) canvas.Point { return canvas.Point{X: min(max(x, 0), most.X), Y: min(max(y, 0), most.Y)} }
	var before canvas.Point
	for i, p := range graph.GetLinePoints(on(x0, y0), on(x1, y1)) {
		if left, right := before, p; i > 0 && left.X != right.X && left.Y != right.Y {
			if left.X > right.X {
				left, right = right, left
			}
			r.dots = append(r.dots, dot{right.X, left.Y})
		}
		r.dots = append(r.dots, dot{p.X, p.Y})
		before = p
	}
}

// draw draws dots, or with a sign, as in ASCII, their cells.
func (r *Raster) draw(dots []dot, sign rune, of func(x int) cellState) {
	for _, d := range dots {
		if sign != 0 {
			r.set(d.x/2, d.y/4, sign, of(d.x/2))
		} else {
			r.dot(d.x, d.y, of(d.x/2))
		}
	}
}

// column fills a column from the bottom, to an eighth of a cell; the least is an eighth.
func (r *Raster) column(x int, part float64, st screen.Style) {
	bottom := r.top + r.rows - 1
	if !(part > 0) || r.at(x, bottom) == nil {
		return
	}
	high := max(1, math.Round(min(part, 1)*float64(8*r.h))) / 8
	high = min(high-float64(r.h-1-bottom), float64(r.rows)) // of it in this strip
	graph.DrawColumnBottomToTop(&r.canvas, r.cell(x, bottom), high, unstyled)
	for y := range int(math.Ceil(high)) {
		*r.at(x, bottom-y) = cellState{style: st}
	}
}

// block fills a cell by so many eighths.
func block(eighths int) rune { return runes.LowerBlockElementFromFloat64(float64(eighths) / 8) }

// Halves of cells.
const (
	upperHalf = '▀'
	lowerHalf = runes.LowerBlockFour
)

// pixel colours a half of a cell, y from the top.
func (r *Raster) pixel(x, y int, color screen.Color) {
	if x < 0 || y < 0 {
		return
	}
	p := r.at(x, y/2)
	if p == nil {
		return
	}
	st := screen.Style{}
	if r.glyph(x, y/2) == upperHalf {
		st = p.style
	}
	if y%2 == 0 {
		st.Fg = color
	} else {
		st.Bg = color
	}
	r.set(x, y/2, upperHalf, cellState{style: st})
}

// half returns a cell of two halves, Fg above Bg, with as few colours as possible.
func half(st screen.Style) (rune, screen.Style) {
	switch {
	case st.Fg == st.Bg:
		return runes.FullBlock, screen.Style{Fg: st.Fg}
	case st.Fg == screen.Plain:
		return lowerHalf, screen.Style{Fg: st.Bg}
	}
	return upperHalf, st
}

// Sparkline fills c with the last values as columns, the newest at the right, scaled to their maximum. The raster may
// be nil.
func Sparkline(c screen.Canvas, r *Raster, values []float64, st screen.Style) {
	values = values[max(0, len(values)-c.W):]
	top := 0.0
	for _, v := range values {
		top = max(top, number.Sane(v))
	}
	if top == 0 {
		return
	}
	r = r.start(c)
	r.paint(c, func(int, int) {}, func() {
		for i, v := range values {
			r.column(c.W-len(values)+i, number.Sane(v)/top, st)
		}
	})
}
