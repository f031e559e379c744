package chart

import (
	"cmp"
	"math"
	"slices"

	"benchtop/tui/screen"
)

// pen draws lines on a raster.
type pen struct {
	r        *Raster
	time     Time
	terminal screen.Terminal
}

// trace calls f for each dot of a line, rows counted from the top of the raster.
func (p pen) trace(on lane, l Line, f func(x, y int)) {
	rows := 4 * on.area.H
	if rows == 0 {
		return
	}
	row := func(i int) int { return on.scale.row(l.Points[i].Value, rows) }
	flat := func(i int) bool {
		return i < 0 || i >= len(l.Points) || math.IsNaN(l.Points[i].Value) || row(i) == rows-1
	}
	x0, y0 := -1, -1
	for i, pt := range l.Points {
		if math.IsNaN(pt.Value) || l.Sparse && flat(i-1) && flat(i) && flat(i+1) {
			x0 = -1
			continue
		}
		x, y := p.time.dot(pt.At, p.r.w), row(i)+4*on.above
		if x0 < 0 {
			x0, y0 = x, y
		}
		p.r.between(x0, y0, x, y, f)
		x0, y0 = x, y
	}
}

// older draws the line of a baseline: dim, and broken, so that it is told apart without colours too. It does not cover a band.
func (p pen) older(on lane, l Line) {
	of := beside{screen.Dim, 0}
	p.trace(on, l, func(x, y int) {
		switch {
		case x/2%3 == 2 || p.r.glyph(x/2, y/4) == upperHalf:
		case p.terminal.ASCII:
			p.r.set(x/2, y/4, '\'', of)
		default:
			p.r.dot(x, y, of)
		}
	})
}

// lines draws lines over each other. A cell has one colour: that of the last line through it. The dots of earlier lines stay in it, those
// of their areas do not, so that a line stands out on an area.
func (p pen) lines(lanes []lane, all []Line, filled bool) {
	warm := p.time.warm(p.r.w)
	tops := make([][]int, len(all)) // of each line, the highest dot of each column of dots
	for i, l := range all {
		tops[i] = make([]int, 2*p.r.w)
		for x := range tops[i] {
			tops[i][x] = math.MaxInt
		}
		mark := '*'
		switch {
		case l.Sign != 0:
			mark = l.Sign
		case l.Name != "":
			mark = rune(l.Name[0])
		}
		of := beside{screen.Style{Fg: l.Color}, uint8(i + 1)}
		grey := beside{screen.Dim, uint8(i + 1)}
		p.trace(lanes[i], l, func(x, y int) {
			tops[i][x] = min(tops[i][x], y)
			st := of
			if x/2 < warm {
				st = grey
			}
			if p.terminal.ASCII {
				p.r.set(x/2, y/4, mark, st)
			} else {
				p.r.dot(x, y, st)
			}
		})
	}
	if filled {
		p.areas(lanes, all, tops, warm)
	}
}

// loose is the row of the single dot of a dotted area in cells of even and of odd columns. The dot is at the left of the cell. Few dots are
// fainter than a line on black and on white alike; no colour is.
var loose = [2]int{1, 3}

// areas fills the areas below the lines, beginning with the last line: where areas overlap, the last one is seen.
func (p pen) areas(lanes []lane, all []Line, tops [][]int, warm int) {
	claimed := make([]int, p.r.w) // per column, the row from which on an area of a later line lies
	for i := len(all) - 1; i >= 0; i-- {
		l, bottom := all[i], lanes[i].above+lanes[i].area.H
		if i == len(all)-1 || lanes[i].above != lanes[i+1].above {
			for x := range claimed {
				claimed[x] = bottom
			}
		}
		for x := range p.r.w {
			top := min(tops[i][2*x], tops[i][2*x+1])
			if top == math.MaxInt || l.Below == Bare || l.Below == Dotted && x < warm {
				continue
			}
			for y := top / 4; y < claimed[x] && l.Below == Dotted; y++ {
				p.loosen(x, y, i, tops[i][2*x], l.Color)
			}
			claimed[x] = min(claimed[x], top/4)
		}
	}
}

// loosen puts the dot of a dotted area into a cell below a line with its highest dot at top, if the cell is empty or that line is the
// last one through it.
func (p pen) loosen(x, y, line, top int, color screen.Color) {
	at := 4*y + loose[x%2]
	switch of := p.r.at(x, y); {
	case at <= top || of == nil:
	case p.r.glyph(x, y) == 0:
		p.r.dot(2*x, at, beside{screen.Style{Fg: color}, belowLine})
	case of.line == uint8(line+1):
		p.r.dot(2*x, at, *of)
	}
}

// names writes the name of each line at its right end, for readers and terminals without colours.
func (p Plot) names(used *taken, lanes []lane) {
	area := used.c
	type name struct {
		text  string
		row   int
		value float64
	}
	var all []name
	for i, l := range p.Lines {
		if len(l.Points) == 0 || math.IsNaN(l.Points[len(l.Points)-1].Value) {
			continue
		}
		on, v := lanes[i], l.Points[len(l.Points)-1].Value
		row := on.above + int((1-min(max(on.scale(v), 0), 1))*float64(on.area.H-1))
		all = append(all, name{" " + l.Name, row, v})
	}
	// Names keep the order of their lines and a row each.
	slices.SortStableFunc(all, func(a, b name) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(b.value, a.value)) })
	for i := range all {
		if i > 0 {
			all[i].row = max(all[i].row, all[i-1].row+1)
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		all[i].row = min(all[i].row, area.H-len(all)+i)
		n := screen.Width(all[i].text)
		area.Right(area.W, all[i].row, all[i].text, screen.Text)
		used.take(area.W-n, all[i].row, n)
	}
}
