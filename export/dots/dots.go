// Package dots draws on a grid of character cells, by the dots of braille or in plain ASCII.
package dots

import "math"

// Grid is a drawing area of character cells. A cell has two by four dots in braille and one in ASCII. Dot 0, 0 is at
// the bottom left; drawing outside the area has no effect.
type Grid struct {
	Columns, Rows int
	// Width and Height are in dots.
	Width, Height int
	ascii         bool
	cells         []rune
}

// New returns an empty grid.
func New(columns, rows int, ascii bool) *Grid {
	g := &Grid{Columns: columns, Rows: rows, Width: columns, Height: rows, ascii: ascii,
		cells: make([]rune, columns*rows)}
	if !ascii {
		g.Width, g.Height = 2*columns, 4*rows
	}
	return g
}

// bits are the bits of the dots of a cell, by column and from the bottom up.
var bits = [2][4]rune{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}

// Dot draws a dot, or in ASCII the sign in its cell. A letter that Put wrote stays.
func (g *Grid) Dot(x, y int, sign rune) {
	if x < 0 || y < 0 || x >= g.Width || y >= g.Height {
		return
	}
	if g.ascii {
		g.cells[(g.Rows-1-y)*g.Columns+x] = sign
		return
	}
	if c := &g.cells[(g.Rows-1-y/4)*g.Columns+x/2]; *c == 0 || *c > blank {
		*c |= blank | bits[x%2][y%4]
	}
}

// blank is the braille character without a dot.
const blank = 0x2800

// Step draws a dot at height to, and a vertical line from the height of the dot before.
func (g *Grid) Step(x, from, to int) {
	for y := min(from, to); y <= max(from, to); y++ {
		sign := '|'
		if y == to {
			sign = '*'
		}
		g.Dot(x, y, sign)
	}
}

// Line draws a straight line.
func (g *Grid) Line(x0, y0, x1, y1 int) {
	steps := max(abs(x1-x0), abs(y1-y0), 1)
	for i := range steps + 1 {
		part := float64(i) / float64(steps)
		g.Dot(x0+int(math.Round(part*float64(x1-x0))), y0+int(math.Round(part*float64(y1-y0))), '.')
	}
}

func abs(n int) int { return max(n, -n) }

// Put writes a character into the cell of a dot, over its dots.
func (g *Grid) Put(x, y int, sign rune) {
	if x < 0 || y < 0 || x >= g.Width || y >= g.Height {
		return
	}
	if !g.ascii {
		x, y = x/2, y/4
	}
	g.cells[(g.Rows-1-y)*g.Columns+x] = sign
}

// Row is a line of the area, from the top.
func (g *Grid) Row(n int) string {
	line := make([]rune, g.Columns)
	for i, c := range g.cells[n*g.Columns : (n+1)*g.Columns] {
		if line[i] = c; c == 0 {
			line[i] = ' '
		}
	}
	return string(line)
}
