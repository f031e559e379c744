package tui

import "math"

// gauge draws a share of 1 as a thin bar along the row y, to half a cell, with a tick where the share ought to be. Bars in
// rows below each other stay apart.
//
//	━━━━━━━━━━━━━━━━╸──│─
func gauge(c canvas, y int, share, target float64, col color, mono bool) {
	level := int(math.Floor(min(sane(share), 1)*float64(2*c.w) + 1e-6))
	rest := '─'
	if mono {
		rest = '·'
	}
	for x := range c.w {
		switch left := level - 2*x; {
		case left >= 2:
			c.set(x, y, '━', style{fg: col})
		case left == 1:
			c.set(x, y, '╸', style{fg: col})
		default:
			c.set(x, y, rest, line)
		}
	}
	if target >= 0 && target <= 1 && c.w > 0 {
		c.set(min(int(target*float64(c.w)), c.w-1), y, '│', strong)
	}
}
