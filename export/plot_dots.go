package export

// dots is a drawing area of character cells. In braille a cell has two by four dots, in ASCII it is one itself. The dot
// 0, 0 is at the bottom left.
type dots struct {
	columns, rows int
	// width and height in dots.
	width, height int
	ascii         bool
	cells         []rune
}

func newDots(columns, rows int, ascii bool) dots {
	d := dots{columns: columns, rows: rows, width: columns, height: rows, ascii: ascii, cells: make([]rune, columns*rows)}
	if !ascii {
		d.width, d.height = 2*columns, 4*rows
	}
	return d
}

// brailleBits of the dots of a cell, by column and then from the bottom up.
var brailleBits = [2][4]rune{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}

// step draws the point x at height to, and a line down or up to it from the height of the point before.
func (d *dots) step(x, from, to int) {
	for y := min(from, to); y <= max(from, to); y++ {
		if d.ascii {
			sign := '|'
			if y == to {
				sign = '*'
			}
			d.cells[(d.rows-1-y)*d.columns+x] = sign
			continue
		}
		d.cells[(d.rows-1-y/4)*d.columns+x/2] |= brailleBits[x%2][y%4]
	}
}

// row is one line of the area, from the top.
func (d *dots) row(n int) string {
	line := make([]rune, d.columns)
	for i, c := range d.cells[n*d.columns : (n+1)*d.columns] {
		switch {
		case c == 0:
			line[i] = ' '
		case d.ascii:
			line[i] = c
		default:
			line[i] = 0x2800 | c
		}
	}
	return string(line)
}
