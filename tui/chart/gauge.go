package chart

import (
	"math"

	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// Gauge draws a share of 1 as a thin bar along the row y, to half a cell, with a tick at the target; NaN for none. Bars
// in adjacent rows stay apart.
//
//	━━━━━━━━━━━━━━━━╸──│─
func Gauge(c screen.Canvas, y int, share, target float64, color screen.Color) {
	level := int(math.Floor(min(number.Sane(share), 1)*float64(2*c.W) + 1e-6))
	for x := range c.W {
		switch left := level - 2*x; {
		case left >= 2:
			c.Set(x, y, '━', screen.Style{Fg: color})
		case left == 1:
			c.Set(x, y, '╸', screen.Style{Fg: color})
		default:
			c.Set(x, y, emptyPart(c), screen.Line)
		}
	}
	if target >= 0 && target <= 1 && c.W > 0 {
		c.Set(min(int(target*float64(c.W)), c.W-1), y, '│', screen.Strong)
	}
}

// Moments draws moments as upright strokes on a row. Each moment is a share of the width from 0 to 1.
//
//	⡇⡇⢸⢸⡇⡇⢸     ⢸⡇⡇⢸⢸
func Moments(c screen.Canvas, r *Raster, at []float64, color screen.Color) {
	of := cellState{style: screen.Style{Fg: color}}
	r = r.start(c)
	r.paint(c, func(int, int) {}, func() {
		for _, part := range at {
			x := MomentDot(c, part)
			if c.Terminal().ASCII {
				r.set(x/2, 0, '|', of)
				continue
			}
			for y := range 4 {
				r.dot(x, y, of)
			}
		}
	})
}

// MomentDot is the column of dots of a moment, two to a cell.
func MomentDot(c screen.Canvas, part float64) int {
	return int(math.Round(min(number.Sane(part), 1) * float64(2*c.W-1)))
}

// Bar fills the first line of a canvas with a share of 1, in whole cells.
func Bar(c screen.Canvas, part float64) {
	n := int(part*float64(c.W) + 0.5)
	for x := range c.W {
		if x < n {
			c.Set(x, 0, '━', screen.Text)
		} else {
			c.Set(x, 0, emptyPart(c), screen.Line)
		}
	}
}

// emptyPart is the glyph of a bar beyond its share.
func emptyPart(c screen.Canvas) rune {
	if c.Terminal().Mono {
		return '·'
	}
	return '─'
}
