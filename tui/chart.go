package tui

import (
	"cmp"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// series is one line of a plot: a value per closed window, NaN where there is none.
type series struct {
	name  string
	color color
	below below
	value func(w *metrics.Window) float64
	// sign is the character of the line where there are no dots; 0 for the first letter of its name.
	sign rune
	// sparse leaves out stretches too small to rise from the axis, where they would only cover other lines.
	sparse bool
}

// below says what is under a line.
type below uint8

const (
	bare    below = iota
	dotted        // a loose pattern of dots
	cleared       // a gap that hides the dots of what is behind
)

// loose is the pattern of a dotted area, one of the eight dots of a cell. Nobody knows what is behind them: few dots are
// fainter than a line on black and on white, where a colour between would not be.
var loose = [2]uint8{dotBits[1][0], dotBits[3][0]} // of even and odd columns

// plot draws series over time. The horizontal axis ends at the last closed second; the vertical one is linear from 0, or
// logarithmic for latencies.
//
//	10k│        ⢀⣀
//	 5k│   ⣀⠤⠔⠊⠁
//	  0│⠤⠊⠁
//	   ╰┴-60s──────┴-30s─────now
type plot struct {
	v       *view
	series  []series // later ones are drawn over earlier ones
	lanes   bool     // each line has a lane and an axis of its own, the first the highest
	log     bool     // values are latencies in seconds on a logarithmic axis
	bounds  string   // the metric whose limits are drawn as lines, "" for none
	nothing string   // what to say when there is no data
}

const axisWidth = 6 // five columns of label and the axis

func (p plot) draw(c canvas) {
	ws := p.v.selected().closed
	if c.w < 16 || c.h < 3 || len(ws) == 0 {
		c.center(p.nothing, label)
		return
	}
	last := &ws[len(ws)-1]
	end := min(last.Start+time.Second, max(p.v.s.At, last.Start+time.Millisecond))
	shown := visible(p.v.span, end)
	area := c.sub(axisWidth, 0, c.w-axisWidth, c.h-1)
	ts := timeScale{end - shown, shown, area.w}
	lines := p.points(ws, end, ts)
	lanes := p.split(area)
	if low, top := extremes(lines...); p.log && top == 0 {
		c.center(p.nothing, label)
		return
	} else if !p.lanes {
		scale := p.scale(c, area, low, top, label)
		for i := range lanes {
			lanes[i].scale = scale
		}
	} else {
		for i, l := range lines {
			low, top := extremes(l)
			lanes[i].scale = p.scale(c, lanes[i].area, low, top, style{fg: p.series[i].color})
		}
	}
	p.timeAxis(c, area, shown)
	used := newTaken(area)
	drawn := make([]uint8, area.w*area.h)
	warm := 0 // columns of the warm-up, once there is more than that
	if plan := p.v.s.Plan; plan != nil && plan.Warmup > 0 && plan.Warmup <= p.v.s.At {
		warm = ts.column(plan.Warmup)
	}
	for i, l := range lines {
		p.paint(lanes[i].area, p.trace(lanes[i], l, p.series[i], ts), drawn, used, p.series[i], warm)
		if p.lanes {
			clear(drawn)
		}
	}
	if p.v.mono {
		p.names(used, lines, lanes)
	}
	p.drawBounds(used, lanes[0])
	p.drawMarks(used, ts)
}

// lane is where a line is drawn: its part of the area, and where in it a value lies, 0 at the bottom, 1 at the top.
type lane struct {
	area  canvas
	scale func(float64) float64
}

// split gives each line the whole area, or a lane of its own.
func (p plot) split(area canvas) []lane {
	out := make([]lane, len(p.series))
	y := 0
	for i := range out {
		out[i].area = area
		if p.lanes {
			rest := len(out) - i
			h := (area.h - y + rest - 1) / rest
			if rest > 1 && area.h >= 5 {
				h = min(h+area.h/8, area.h-y-1)
			}
			out[i].area = area.sub(0, y, area.w, h)
			y += h
		}
	}
	return out
}

// extremes finds the smallest value above 0 and the largest.
func extremes(lines ...[]point) (low, top float64) {
	low = math.Inf(1)
	for _, l := range lines {
		for _, pt := range l {
			if pt.v > 0 {
				low, top = min(low, pt.v), max(top, pt.v)
			}
		}
	}
	return low, top
}

// scale draws the vertical axis of an area within c.
func (p plot) scale(c, area canvas, low, top float64, st style) func(float64) float64 {
	a := axis{c.sub(0, area.y-c.y, axisWidth, area.h), st}
	if p.log {
		return a.logarithmic(low, top)
	}
	return a.linear(top)
}

// trace puts the line on a grid of dots.
func (p plot) trace(on lane, l []point, s series, ts timeScale) *dots {
	d := newDots(on.area.w, on.area.h)
	bottom := 4*on.area.h - 1
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
	return d
}

// paint puts one line on the area, over what is there already. A cell has one colour, so the later line takes it, with
// the dots of the lines drawn before it, but not of their areas: so a line on an area stands out. The first columns, those
// of the warm-up, are in grey: they count for nothing.
func (p plot) paint(area canvas, d *dots, drawn []uint8, used *taken, s series, warm int) {
	mark := '*'
	if p.v.ascii && s.name != "" {
		mark = s.sign
		if mark == 0 {
			mark = rune(s.name[0])
		}
	}
	for x := range area.w {
		st, under := style{fg: s.color}, s.below
		if !p.v.filled || p.v.ascii {
			under = bare
		}
		if x < warm {
			st = dim
			if under == dotted {
				under = bare
			}
		}
		var above [2]bool // per column of dots: the line was higher up
		for y := range area.h {
			i := y*d.w + x
			bits := d.bits[i]
			if bits == 0 && !above[0] && !above[1] {
				continue
			}
			if bits != 0 {
				used.take(x, y+area.y-used.c.y, 1)
				drawn[i] |= bits
			}
			if p.v.ascii {
				if bits != 0 {
					area.set(x, y, mark, st)
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
				area.set(x, y, 0x2800+rune(glyph), st)
			case drawn[i] != 0: // a line of before
			case under == dotted:
				area.set(x, y, 0x2800+rune(glyph&loose[x%2]), st)
			case under == cleared:
				area.set(x, y, ' ', text)
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
		row := on.area.y - area.y + int((1-min(max(on.scale(v), 0), 1))*float64(on.area.h-1))
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
		all[i].row = min(all[i].row, area.h-len(all)+i)
		area.right(area.w, all[i].row, all[i].text, text)
		used.take(area.w-width(all[i].text), all[i].row, width(all[i].text))
	}
}

type point struct{ x, v float64 } // x from 0 at the left edge to 1 at the right

// points cuts windows down to what the columns can show: the mean of as many whole seconds as share a column of dots.
// The groups are aligned to the start of the run, so a line does not crawl as time goes on.
func (p plot) points(ws []metrics.Window, end time.Duration, ts timeScale) [][]point {
	seconds := int(math.Ceil(ts.shown.Seconds()))
	group := max(1, (seconds+2*ts.w-1)/(2*ts.w))
	out := make([][]point, len(p.series))
	for i, s := range p.series {
		for k := 0; k < len(ws); {
			bin := int(ws[k].Start/time.Second) / group
			sum, n, at := 0.0, 0, time.Duration(0)
			for ; k < len(ws) && int(ws[k].Start/time.Second)/group == bin; k++ {
				if v := s.value(&ws[k]); !math.IsNaN(v) {
					sum, n = sum+sane(v), n+1
				}
				at = min(ws[k].Start+time.Second, end)
			}
			if at < ts.from {
				continue
			}
			pt := point{x: ts.part(at), v: math.NaN()}
			if n > 0 {
				pt.v = sum / float64(n)
			}
			out[i] = append(out[i], pt)
		}
	}
	return out
}

// visible is the time a chart shows: the span, but while the run is younger the next round time that holds it, so that a
// young run does not begin as a speck at the right edge. The whole run always fits exactly.
func visible(span, end time.Duration) time.Duration {
	if span == 0 {
		return max(end, 10*time.Second)
	}
	for _, d := range []time.Duration{10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 450, 600} {
		if d*time.Second >= end {
			return min(d*time.Second, span)
		}
	}
	return span
}
