package chart

import (
	"math"

	"benchtop/tui/screen"
)

// band returns a function that draws three percentiles, the highest first, as areas of two tones with bright edges, in halves of cells:
//
//	   1s┤        ▄▀▀▀▄▄▀▀  p99
//	     │     ▄▀▀░░░░░░░░
//	100ms┤▀▀▀▀░░▄▄▄▄▀▀▀▀▄  p90
//	     │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒
//	     │▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄  p50
//
// Lower lines cover higher ones. The warm-up is grey.
func (p pen) band(lines []Line, at scale) (draw func()) {
	areas := []screen.Color{screen.BandHigh, screen.BandLow}
	rows := make([][]int, len(lines))
	for i, l := range lines {
		rows[i] = p.columns(l, at)
	}
	warm := p.time.warm(p.r.w)
	return func() {
		top, end := 2*p.r.top, 2*(p.r.top+p.r.rows)
		for x := range p.r.w {
			for i := 0; i+1 < len(rows) && i < len(areas) && x >= warm; i++ {
				if rows[i][x] < 0 || rows[i+1][x] < 0 {
					continue
				}
				for y := max(rows[i][x], top); y <= rows[i+1][x] && y < end; y++ {
					p.r.pixel(x, y, areas[i])
				}
			}
			for i, l := range lines {
				color := l.Color
				if x < warm {
					color = screen.Dimmed
				}
				p.r.pixel(x, rows[i][x], color)
			}
		}
	}
}

// columns are the rows, in halves of cells, at which a line crosses each column on a logarithmic axis; -1 for none.
func (p pen) columns(l Line, at scale) []int {
	out := make([]int, p.r.w)
	for x := range out {
		out[x] = -1
	}
	from, last := -1, 0.0
	for _, pt := range l.Points {
		if math.IsNaN(pt.Value) {
			from = -1
			continue
		}
		x := p.time.dot(pt.At, p.r.w) / 2
		if from < 0 {
			from, last = x, pt.Value
		}
		for k := max(from, 0); k <= min(x, p.r.w-1); k++ { // on the line between the two points, as far as there are columns
			v := pt.Value
			if x > from {
				v = last * math.Pow(pt.Value/last, float64(k-from)/float64(x-from))
			}
			out[k] = at.row(v, 2*p.r.h)
		}
		from, last = x, pt.Value
	}
	return out
}
