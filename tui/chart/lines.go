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
	time     TimeAxis
	terminal screen.Terminal
}

// trace returns the dots of a line, rows counted from the top of the chart. A line beyond an edge of the axis is cut
// there.
func (p pen) trace(on lane, points []Point, sparse bool) []dot {
	from, rows := len(p.r.dots), 4*on.area.H
	if rows == 0 {
		return nil
	}
	row := func(i int) int { return on.scale.row(points[i].Value, rows) }
	flat := func(i int) bool { return i < 0 || i >= len(points) || math.IsNaN(points[i].Value) || row(i) == rows-1 }
	last := 2*p.r.w - 1
	before := dot{x: math.MinInt}
	for i, pt := range points {
		if math.IsNaN(pt.Value) || sparse && flat(i-1) && flat(i) && flat(i+1) {
			before.x = math.MinInt
			continue
		}
		at := dot{p.time.dot(pt.At, p.r.w), row(i) + 4*on.above}
		if before.x == math.MinInt {
			before = at
		}
		if max(before.x, at.x) >= 0 && min(before.x, at.x) <= last {
			a, b := cutAt(before, at, 0), cutAt(at, before, last)
			p.r.between(a.x, a.y, b.x, b.y)
		}
		before = at
	}
	return p.r.dots[from:]
}

// cutAt moves the end of a line to the column x if x lies between its ends.
func cutAt(end, other dot, x int) dot {
	if end.x == other.x || (end.x < x) == (other.x < x) || end.x == x || other.x == x {
		return end
	}
	return dot{x, end.y + int(math.Round(float64(x-end.x)/float64(other.x-end.x)*float64(other.y-end.y)))}
}

// older draws the line of a baseline: dim, and broken, so that it is told apart without colours too. It does not cover
// a band.
func (p pen) older(dots []dot) {
	for _, d := range dots {
		switch of := (cellState{style: screen.Dim}); {
		case d.x/2%3 == 2 || p.r.glyph(d.x/2, d.y/4) == upperHalf:
		case p.terminal.ASCII:
			p.r.set(d.x/2, d.y/4, '\'', of)
		default:
			p.r.dot(d.x, d.y, of)
		}
	}
}

// lines returns a function that draws lines over each other, and over their areas. A cell has one colour: that of the
// last line through it. The dots of earlier lines stay in it.
func (p pen) lines(lanes []lane, all []Line) (draw func()) {
	warm := p.time.warm(p.r.w)
	dots := make([][]dot, len(all))
	for i, l := range all {
		dots[i] = p.trace(lanes[i], l.Points, l.Sparse)
	}
	var tops [][]int
	if Shaded(p.terminal) {
		tops = topsOf(dots, 2*p.r.w)
	}
	return func() {
		for i, l := range all {
			p.r.draw(dots[i], p.sign(l), func(x int) cellState {
				if x < warm {
					return cellState{screen.Dim, i + 1}
				}
				return cellState{screen.Style{Fg: l.Color}, i + 1}
			})
		}
		if tops != nil {
			p.areas(lanes, all, tops, warm)
		}
	}
}

// sign is the character that a line is drawn with in ASCII, 0 for dots.
func (p pen) sign(l Line) rune {
	switch {
	case !p.terminal.ASCII:
		return 0
	case l.Sign != 0:
		return l.Sign
	case l.Name != "":
		return rune(l.Name[0])
	}
	return '*'
}

// topsOf are the rows of the highest dots of each line, by columns of dots.
func topsOf(lines [][]dot, columns int) [][]int {
	tops := make([][]int, len(lines))
	for i, dots := range lines {
		tops[i] = slices.Repeat([]int{math.MaxInt}, columns)
		for _, d := range dots {
			tops[i][d.x] = min(tops[i][d.x], d.y)
		}
	}
	return tops
}

// areas fills the areas below the lines, beginning with the last line: where areas overlap, the last one is seen. An
// area begins at the cell that its line leaves at least half of below it.
func (p pen) areas(lanes []lane, all []Line, tops [][]int, warm int) {
	end := p.r.top + p.r.rows
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
			if top == math.MaxInt || !l.Filled || x < warm {
				continue
			}
			first := (top + 2) / 4
			for y := max(first, p.r.top); y < min(claimed[x], end); y++ {
				p.shade(x, y, screen.Shade(l.Color))
			}
			claimed[x] = min(claimed[x], first)
		}
	}
}

// shade colours the background of a cell, behind any line in it.
func (p pen) shade(x, y int, color screen.Color) {
	of := p.r.at(x, y)
	if p.r.glyph(x, y) == 0 {
		p.r.set(x, y, ' ', cellState{line: belowLine})
	}
	of.style.Bg = color
}

// names writes the name of each line at its right end, for readers and terminals without colours.
func (p Plot) names(used *usedCells, lanes []lane) {
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
	slices.SortStableFunc(all,
		func(a, b name) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(b.value, a.value)) })
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
