package tui

// pixels is a picture of two square dots to a cell, one above the other, for terminals with colours enough. plain is nothing.
type pixels struct {
	w, h int // in pixels; h is even
	dots []color
}

func newPixels(c canvas) *pixels { return &pixels{c.w, 2 * c.h, make([]color, 2*c.w*c.h)} }

// set colours a pixel, y from the top.
func (p *pixels) set(x, y int, col color) {
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
			case high == plain && low == plain:
				continue
			case high == low:
				used.c.set(x, y, '█', style{fg: high})
			case low == plain:
				used.c.set(x, y, '▀', style{fg: high})
			case high == plain:
				used.c.set(x, y, '▄', style{fg: low})
			default:
				used.c.set(x, y, '▀', style{fg: high, bg: low})
			}
			used.take(x, y, 1)
		}
	}
}
