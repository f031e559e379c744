package chart

import (
	"math"

	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// Heat is a heat map: the number of samples by time, to the right, and latency, upwards. Colours follow the root of the
// number, so that few samples are visible beside many.
//
//	 1s       ░ ░░▒░
//	     ░░▒▒▒▒▓▓▓▓▓
//	1ms ▓███████▒▒▒░
type Heat struct {
	Time TimeAxis
	Axis LatencyAxis // of HeatRows places
	// Names are those of other places than latencies, from the bottom, at most HeatRows; nil for latencies
	Names []string
	// samples a second of each place, from the bottom, for each of Columns columns; nil for none
	Cells [][]float64
	// Shares: cells are shares from 0 to 1, whose colour does not follow that of others
	Shares      bool
	Limits      []Limit
	Annotations []Annotation
	Wordless    bool // a plot above has the words of the annotations
	Nothing     string
}

// HeatRows is the number of places, one above the other, of a heat map on a canvas; 0 if the canvas is too small.
func HeatRows(c screen.Canvas) int {
	rows := plotArea(c).H
	if Shaded(c.Terminal()) {
		rows *= 2
	}
	return rows
}

// Shaded reports whether a terminal has enough colours for a heat map. If not, the map is drawn in patterns.
func Shaded(t screen.Terminal) bool { return t.Filled && !t.ASCII }

// HeatGlyphs are the patterns of a cell, from no samples to the most.
func HeatGlyphs(t screen.Terminal) []rune {
	if t.ASCII {
		return []rune(" .:*#")
	}
	return []rune(" ░▒▓█")
}

// heatLeast is the least share of the maximum that is drawn. Anything less is the edge of a bucket that reaches a
// little into a place.
const heatLeast = 1e-4

// Draw fills c with the map. The raster may be nil.
func (h Heat) Draw(c screen.Canvas, r *Raster) {
	area := plotArea(c)
	if area.W == 0 || h.Time.Shown <= 0 {
		c.Center(h.Nothing, screen.Label)
		return
	}
	scale := func(s float64) float64 { return h.Axis.part(s) }
	left := axis{c.Sub(0, 0, axisWidth, area.H), screen.Label}
	if left.names(h.Names); h.Names == nil {
		left.latencies(h.Axis.ticks, scale)
	}
	if h.Axis.first > 0 {
		left.put(area.H-1, shortName)
	}
	used := newTaken(area)
	r, most := r.start(area), h.most()
	r.paint(area, used.cell, func() { h.fill(r, most, c.Terminal()) })
	used.limits(h.Limits, scale)
	used.annotate(h.Annotations, h.Time, !h.Wordless)
}

// most is the largest number of samples of a place.
func (h Heat) most() float64 {
	most := 0.0
	for _, column := range h.Cells {
		for _, n := range column {
			most = max(most, number.Sane(n))
		}
	}
	return most
}

// fill colours the places of a strip, or fills whole cells with patterns.
func (h Heat) fill(r *Raster, most float64, t screen.Terminal) {
	glyphs, each := HeatGlyphs(t), 1
	if Shaded(t) {
		each = 2
	}
	for x, column := range h.Cells {
		for y := each * r.top; y < each*(r.top+r.rows); y++ {
			i := (each*r.h - 1 - y) * len(column) / (each * r.h)
			if i >= len(column) {
				continue
			}
			n := number.Sane(column[i])
			part := math.Sqrt(n / most)
			switch {
			case h.Shares:
				part = max(0, min(n, 1))
			case n == 0, n < most*heatLeast:
				continue
			}
			if Shaded(t) {
				r.pixel(x, y, screen.Heat(part))
				continue
			}
			level := min(1+int(part*float64(len(glyphs)-1)), len(glyphs)-1)
			r.set(x, y, glyphs[level], cellState{})
		}
	}
}
