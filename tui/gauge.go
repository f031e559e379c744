package tui

import "math"

// gauge draws a share of 1 as a bar along the row y, to an eighth of a cell, with a tick where the share ought to be.
//
//	████████████████▌░░│░
func gauge(c canvas, y int, share, target float64, col color) {
	level := int(math.Floor(min(sane(share), 1)*float64(8*c.w) + 1e-6))
	for x := range c.w {
		switch left := level - 8*x; {
		case left >= 8:
			c.set(x, y, '█', style{fg: col})
		case left > 0:
			c.set(x, y, lefts[left], style{fg: col})
		default:
			c.set(x, y, '░', line)
		}
	}
	if !(target >= 0 && target <= 1) || c.w == 0 {
		return
	}
	x := min(int(target*float64(c.w)), c.w-1)
	if c.at(x, y).glyph == '█' {
		c.set(x, y, '│', style{fg: black, bg: col})
	} else {
		c.set(x, y, '│', text)
	}
}

// lefts fill a cell from the left by so many eighths.
var lefts = []rune(" ▏▎▍▌▋▊▉")
