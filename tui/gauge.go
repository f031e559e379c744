package tui

import (
	"math"

	"benchtop/tui/screen"

	"benchtop/tui/number"
)

// gauge draws a share of 1 as a thin bar along the row y, to half a cell, with a tick where the share ought to be. Bars in
// rows below each other stay apart.
//
//	━━━━━━━━━━━━━━━━╸──│─
func gauge(c screen.Canvas, y int, share, target float64, col screen.Color, mono bool) {
	level := int(math.Floor(min(number.Sane(share), 1)*float64(2*c.W) + 1e-6))
	rest := '─'
	if mono {
		rest = '·'
	}
	for x := range c.W {
		switch left := level - 2*x; {
		case left >= 2:
			c.Set(x, y, '━', screen.Style{Fg: col})
		case left == 1:
			c.Set(x, y, '╸', screen.Style{Fg: col})
		default:
			c.Set(x, y, rest, screen.Line)
		}
	}
	if target >= 0 && target <= 1 && c.W > 0 {
		c.Set(min(int(target*float64(c.W)), c.W-1), y, '│', screen.Strong)
	}
}
