package tui

// Charts are drawn on cells of our own rather than with ntcharts: all we would use of it is a braille grid, which is the
// thirty lines below, while each of its cells costs 560 bytes, a value that is not finite makes it allocate without
// bound, and its axes measure labels in bytes. So it is not imported at all.

// dots is a grid of braille dots, two across and four down in each cell.
type dots struct {
	w, h int // in cells
	bits []uint8
}

func newDots(w, h int) *dots { return &dots{w, h, make([]uint8, w*h)} }

var dotBits = [4][2]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

func (d *dots) set(x, y int) {
	if x >= 0 && y >= 0 && x < 2*d.w && y < 4*d.h {
		d.bits[y/4*d.w+x/2] |= dotBits[y%4][x%2]
	}
}

// line connects two dots. Both ends lie on the grid, so it is never longer than the grid.
func (d *dots) line(x0, y0, x1, y1 int) {
	dx, dy := abs(x1-x0), -abs(y1-y0)
	sx, sy := 1, 1
	if x0 > x1 {
		sx = -1
	}
	if y0 > y1 {
		sy = -1
	}
	for e := dx + dy; ; {
		d.set(x0, y0)
		if x0 == x1 && y0 == y1 {
			return
		}
		if e2 := 2 * e; e2 >= dy {
			e += dy
			x0 += sx
		} else {
			e += dx
			y0 += sy
		}
	}
}

func abs(a int) int { return max(a, -a) }
