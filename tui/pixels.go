package tui

import "benchtop/tui/screen"

// pixels is a picture of two square dots to a cell, one above the other, for terminals with colours enough. plain is nothing.
type pixels struct {
	w, h int // in pixels; h is even
	dots []screen.Color
}

func newPixels(c screen.Canvas) *pixels {
	return &pixels{c.W, 2 * c.H, make([]screen.Color, 2*c.W*c.H)}
}

// set colours a pixel, y from the top.
func (p *pixels) set(x, y int, col screen.Color) {
	if x >= 0 && y >= 0 && x < p.w && y < p.h {
		p.dots[y*p.w+x] = col
	}
}

// paint puts the picture on the canvas it was made for. Cells with nothing in them stay as they are.
func (p *pixels) paint(used *taken) {
	for y := range p.h / 2 {
		for x := range p.w {
			high, low := p.dots[2*y*p.w+x], p.dots[(2*y+1)*p.w+x]
			switch {
			case high == screen.Plain && low == screen.Plain:
				continue
			case high == low:
				used.c.Set(x, y, '█', screen.Style{Fg: high})
			case low == screen.Plain:
				used.c.Set(x, y, '▀', screen.Style{Fg: high})
			case high == screen.Plain:
				used.c.Set(x, y, '▄', screen.Style{Fg: low})
			default:
				used.c.Set(x, y, '▀', screen.Style{Fg: high, Bg: low})
			}
			used.take(x, y, 1)
		}
	}
}
