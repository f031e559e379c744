package chart

import (
	"cmp"
	"math"
	"slices"

	"benchtop/tui/number"
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

// areas returns a function that draws the areas below lines, whose edges stand for these lines; the later one is seen
// where areas overlap.
func (p pen) areas(lanes []lane, all []Line) (draw func()) {
	heights := make([][]int, len(all))
	for i, l := range all {
		if p.fills(l) {
			heights[i] = p.heights(lanes[i], l.Points)
		}
	}
	return func() {
		for i, l := range all {
			p.area(lanes[i], heights[i], screen.Shade(l.Color))
		}
	}
}

// fills reports whether a line is drawn as an area.
func (p pen) fills(l Line) bool { return l.Filled && Shaded(p.terminal) }

// lines returns a function that draws lines over each other. A cell has one colour: that of the last line through it.
// The dots of earlier lines stay in it.
func (p pen) lines(lanes []lane, all []Line) (draw func()) {
	warm := p.time.warm(p.r.w)
	dots := make([][]dot, len(all))
	for i, l := range all {
		if !p.fills(l) {
			dots[i] = p.trace(lanes[i], l.Points, l.Sparse)
		}
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
	}
}

// heights are those of an area in each column, in eighths of a cell: the mean of the line between its points, at least
// one for a value above 0; -1 where there is no line.
func (p pen) heights(on lane, points []Point) []int {
	sums, n := make([]float64, p.r.w), make([]int, p.r.w)
	from, last := -1, 0.0
	for _, pt := range points {
		part := min(max(on.scale(number.Sane(pt.Value)), 0), 1)
		if math.IsNaN(pt.Value) {
			from = -1
			continue
		}
		at := p.time.dot(pt.At, p.r.w)
		if from < 0 {
			from, last = at, part
		}
		for k := max(from, 0); k <= min(at, 2*p.r.w-1); k++ {
			v := part
			if at > from {
				v = last + (part-last)*float64(k-from)/float64(at-from)
			}
			sums[k/2], n[k/2] = sums[k/2]+v, n[k/2]+1
		}
		from, last = at, part
	}
	out := make([]int, p.r.w)
	for x := range out {
		out[x] = -1
		if n[x] > 0 {
			out[x] = int(math.Round(sums[x] / float64(n[x]) * float64(8*on.area.H)))
		}
		if out[x] == 0 && sums[x] > 0 {
			out[x] = 1
		}
	}
	return out
}

// area fills the columns of a lane from its bottom, to an eighth of a cell. The warm-up is grey.
func (p pen) area(on lane, heights []int, color screen.Color) {
	warm := p.time.warm(p.r.w)
	for x, h := range heights {
		of := color
		if x < warm {
			of = screen.Shade(screen.Dimmed)
		}
		y := on.above + on.area.H - 1
		for ; h >= 8; h, y = h-8, y-1 {
			p.r.set(x, y, ' ', cellState{screen.Style{Bg: of}, belowLine})
		}
		if h > 0 {
			p.r.set(x, y, block(h), cellState{style: screen.Style{Fg: of}})
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

// names writes the name of each line at its right end, for readers and terminals without colours.
func (p Plot) names(area screen.Canvas, used *usedCells, lanes []lane) {
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
		used.take(area.W-n, all[i].row+used.above, n)
	}
}
