package tui

import (
	"cmp"
	"math"
	"slices"

	"benchtop/tui/screen"
)

// loose is the pattern of a dotted area, one of the eight dots of a cell. Nobody knows what is behind them: few dots are
// fainter than a line on black and on white, where a colour between would not be.
var loose = [2]uint8{dotBits[1][0], dotBits[3][0]} // of even and odd columns

// trace puts the line on a grid of dots.
func (p plot) trace(on lane, l []point, s series, ts timeScale) *dots {
	d := newDots(on.area.W, on.area.H)
	bottom := 4*on.area.H - 1
	row := func(v float64) int { return int(math.Round((1 - min(max(on.scale(v), 0), 1)) * float64(bottom))) }
	flat := func(i int) bool { return i < 0 || i >= len(l) || math.IsNaN(l[i].v) || row(l[i].v) == bottom }
	px, py := -1, -1
	for i, pt := range l {
		if math.IsNaN(pt.v) || s.sparse && flat(i-1) && flat(i) && flat(i+1) {
			px = -1
			continue
		}
		x, y := ts.dot(pt.x), row(pt.v)
		if px < 0 {
			px, py = x, y
		}
		d.line(px, py, x, y)
		px, py = x, y
	}
	if s.behind { // with gaps, so that it is told apart without colour as well
		for i := range d.bits {
			if i%d.w%3 == 2 {
				d.bits[i] = 0
			}
		}
	}
	return d
}

// paint puts one line on the area, over what is there already. A cell has one colour, so the later line takes it, with
// the dots of the lines drawn before it, but not of their areas: so a line on an area stands out. The first columns, those
// of the warm-up, are in grey: they count for nothing.
func (p plot) paint(area screen.Canvas, d *dots, drawn []uint8, used *taken, s series, warm int) {
	mark := '*'
	if s.behind {
		mark = '\''
	} else if p.v.ASCII && s.name != "" {
		mark = s.sign
		if mark == 0 {
			mark = rune(s.name[0])
		}
	}
	for x := range area.W {
		st, under := screen.Style{Fg: s.color}, s.below
		if !p.v.Filled || p.v.ASCII {
			under = bare
		}
		if s.behind {
			st, under = screen.Dim, bare
		}
		if x < warm {
			st = screen.Dim
			if under == dotted {
				under = bare
			}
		}
		var above [2]bool // per column of dots: the line was higher up
		for y := range area.H {
			i := y*d.w + x
			bits := d.bits[i]
			if bits == 0 && !above[0] && !above[1] {
				continue
			}
			if bits != 0 {
				used.take(x, y+area.Y-used.c.Y, 1)
				drawn[i] |= bits
			}
			if p.v.ASCII {
				if bits != 0 {
					area.Set(x, y, mark, st)
				}
				continue
			}
			glyph := drawn[i]
			for col := range 2 {
				for row := range 4 {
					if bits&dotBits[row][col] != 0 {
						above[col] = true
					} else if above[col] && under == dotted {
						glyph |= dotBits[row][col] & loose[x%2]
					}
				}
			}
			switch {
			case bits != 0:
				area.Set(x, y, 0x2800+rune(glyph), st)
			case drawn[i] != 0: // a line of before
			case under == dotted:
				area.Set(x, y, 0x2800+rune(glyph&loose[x%2]), st)
			case under == cleared:
				area.Set(x, y, ' ', screen.Text)
			}
		}
	}
}

// names writes each line's name at its right end, for eyes and terminals without colour.
func (p plot) names(used *taken, lines [][]point, lanes []lane) {
	area := used.c
	type name struct {
		text string
		row  int
		v    float64
	}
	var all []name
	for i, l := range lines {
		if len(l) == 0 || math.IsNaN(l[len(l)-1].v) {
			continue
		}
		on, v := lanes[i], l[len(l)-1].v
		row := on.area.Y - area.Y + int((1-min(max(on.scale(v), 0), 1))*float64(on.area.H-1))
		all = append(all, name{" " + p.series[i].name, row, v})
	}
	// Names keep the order of their lines and a row each.
	slices.SortStableFunc(all, func(a, b name) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(b.v, a.v)) })
	for i := range all {
		if i > 0 {
			all[i].row = max(all[i].row, all[i-1].row+1)
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		all[i].row = min(all[i].row, area.H-len(all)+i)
		area.Right(area.W, all[i].row, all[i].text, screen.Text)
		used.take(area.W-screen.Width(all[i].text), all[i].row, screen.Width(all[i].text))
	}
}
