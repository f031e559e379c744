package chart

import (
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// Spot is a point of a scatter with its sign. Later ones are drawn over earlier ones.
type Spot struct {
	X, Y  float64
	Sign  rune
	Style screen.Style
}

// Scatter draws points over two linear axes from 0, and a line through some of them.
//
//	40┤●──●
//	  │ ·  ╲·
//	20┤   ·  ●───●
//	 0┼─────┴10────┴20
type Scatter struct {
	Spots []Spot
	// Line joins points from left to right.
	Line    [][2]float64
	Color   screen.Color // of the line
	Nothing string       // shown without a point
}

// Draw fills c with the points, the axis of X on its last line. The raster may be nil.
func (s Scatter) Draw(c screen.Canvas, r *Raster) {
	right, top := 0.0, 0.0
	for _, p := range s.Spots {
		right, top = max(right, number.Sane(p.X)), max(top, number.Sane(p.Y))
	}
	area := plotArea(c)
	if area.W == 0 || area.H < 3 || right == 0 || top == 0 {
		c.Center(s.Nothing, screen.Label)
		return
	}
	area = area.Sub(0, 0, area.W-1, area.H-1)
	y := axis{c.Sub(0, 0, axisWidth, area.H), screen.Label}.linear(top)
	x := s.across(c.Sub(0, area.H, c.W, 1), area.W, right)
	place := func(px, py float64) dot {
		return dot{2*area.W - 1 - x.row(number.Sane(px), 2*area.W), y.row(number.Sane(py), 4*area.H)}
	}
	r = r.start(area)
	for i := 1; i < len(s.Line); i++ {
		from, to := place(s.Line[i-1][0], s.Line[i-1][1]), place(s.Line[i][0], s.Line[i][1])
		r.between(from.x, from.y, to.x, to.y)
	}
	sign := rune(0)
	if c.Terminal().ASCII {
		sign = '.'
	}
	r.paint(area, func(int, int) {}, func() {
		r.draw(r.dots, sign, func(int) cellState { return cellState{style: screen.Style{Fg: s.Color}} })
	})
	for _, p := range s.Spots {
		at := place(p.X, p.Y)
		area.Set(at.x/2, at.y/4, p.Sign, p.Style)
	}
}

// across draws the axis of X on a line, below an area of w columns at its right.
func (s Scatter) across(c screen.Canvas, w int, right float64) scale {
	right = roundTop(right)
	steps := evenSteps(right, w/10)
	for x := axisWidth - 1; x < c.W; x++ {
		c.Set(x, 0, '─', screen.Line)
	}
	at := scale(func(v float64) float64 { return v / right })
	free := 0
	for k := range steps + 1 {
		v := float64(k) / float64(steps) * right
		name := number.Short(v)
		x := axisWidth + w - 1 - at.row(v, w)
		if from := min(x+1, c.W-len(name)); from > free {
			if from > x {
				c.Set(x, 0, '┴', screen.Line)
			}
			free = c.Print(from, 0, name, screen.Label)
		}
	}
	return at
}
