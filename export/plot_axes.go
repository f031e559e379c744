package export

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// valueAxis goes from 0 to a round number in round steps.
type valueAxis struct{ step, top float64 }

const (
	// maxSteps keeps labels at least two rows apart.
	maxSteps = 5
	// labelWidth fits the labels of values up to maxPlotted, such as 250k and 1.5M.
	labelWidth = 4
	maxPlotted = 500_000_000_000_000
)

// newValueAxis chooses the smallest step of 1, 2 or 5 times a power of ten with at most maxSteps steps. Counts are whole, so
// no step is below 1.
func newValueAxis(most float64) valueAxis {
	step := 1.0
	for i := 0; step*maxSteps < most; i++ {
		if i%3 == 1 {
			step *= 2.5
		} else {
			step *= 2
		}
	}
	return valueAxis{step, step * max(1, math.Ceil(most/step))}
}

// place is the index of a value among n dots.
func (a *valueAxis) place(v float64, n int) int {
	return min(max(int(math.Round(v/a.top*float64(n-1))), 0), n-1)
}

// labels are the labels of the rows, from the top.
func (a *valueAxis) labels(rows, dots int) []string {
	out := make([]string, rows)
	for v := 0.0; v <= a.top; v += a.step {
		out[rows-1-a.place(v, dots)*rows/dots] = shortNumber(v)
	}
	return out
}

// shortNumber writes a round number with few digits.
func shortNumber(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= unit.size {
			return strconv.FormatFloat(v/unit.size, 'g', 4, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// timeSteps are the usual steps of a time axis, in seconds.
var timeSteps = []int{
	1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800,
}

// minTickDistance is the smallest distance between two ticks of the time axis, in columns.
const minTickDistance = 8

// timeAxis draws the axis below the area and the labels of its ticks. The letters of annotations stand on the axis.
func timeAxis(seconds, columns int, marks []annotation, ascii bool) (axis, names string) {
	i := slices.IndexFunc(timeSteps, func(s int) bool { return s*columns >= minTickDistance*seconds })
	if i < 0 {
		i = len(timeSteps) - 1
	}
	step := timeSteps[i]
	corner, line, tick := '└', '─', '┴'
	if ascii {
		corner, line, tick = '+', '-', '+'
	}
	cells := []rune(strings.Repeat(string(line), columns))
	for t := step; t < seconds; t += step {
		cells[t*columns/seconds] = tick
	}
	for _, m := range marks {
		at := int(min(m.at/float64(seconds)*float64(columns), float64(columns-1)))
		for at < columns-1 && cells[at] >= 'a' && cells[at] <= 'z' { // taken: the next free cell
			at++
		}
		cells[at] = m.letter
	}
	row := []rune(strings.Repeat(" ", columns+1))
	for t := 0; t < seconds; t += step {
		label := clock(t)
		at := 1 + t*columns/seconds - len(label)/2
		if at = max(at, 0); at+len(label) <= len(row) {
			copy(row[at:], []rune(label))
		}
	}
	return string(corner) + string(cells), strings.TrimRight(string(row), " ")
}

// clock writes a number of seconds in few characters.
func clock(t int) string {
	if t < 60 {
		return strconv.Itoa(t) + "s"
	}
	text := ""
	for _, unit := range []struct {
		seconds int
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		if n := t / unit.seconds; n > 0 {
			text += strconv.Itoa(n) + unit.name
			t -= n * unit.seconds
		}
	}
	return text
}

// dots is a drawing area of character cells. A cell has two by four dots in braille and one in ASCII. Dot 0, 0 is at the
// bottom left.
type dots struct {
	columns, rows int
	// width and height are in dots.
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

// brailleBits are the bits of the dots of a cell, by column and from the bottom up.
var brailleBits = [2][4]rune{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}

// step draws a point at height to, and a vertical line from the height of the point before.
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

// row is a line of the area, from the top.
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
