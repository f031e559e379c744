package tui

import (
	"math"
	"slices"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// series is one line of a plot: a value per closed window, NaN where there is none.
type series struct {
	name  string
	color screen.Color
	below below
	value func(w *metrics.Window) float64
	// percentile says which one of which latency the line is, nil for none: then seconds that share a column have that of all
	// their latencies, which a mean of theirs would not be.
	percentile *percentile
	// sign is the character of the line where there are no dots; 0 for the first letter of its name.
	sign rune
	// sparse leaves out stretches too small to rise from the axis, where they would only cover other lines.
	sparse bool
	// behind is a line of the run to compare with: dotted and dim whatever its colour.
	behind bool
	// ours: that run has no line behind this one.
	ours bool
}

// below says what is under a line.
type below uint8

const (
	bare    below = iota
	dotted        // a loose pattern of dots
	cleared       // a gap that hides the dots of what is behind
)

// plot draws series over time. The horizontal axis ends at the last closed second, or as far before it as the charts are
// scrolled back; the vertical one is linear from 0, or logarithmic for latencies.
//
//	10k│        ⢀⣀
//	 5k│   ⣀⠤⠔⠊⠁
//	  0│⠤⠊⠁
//	   ╰┴-60s──────┴-30s─────now
type plot struct {
	v       *view
	series  []series // later ones are drawn over earlier ones
	older   []series // of the run to compare with, as many as there are series or none, see versus
	lanes   bool     // each line has a lane and an axis of its own, the first the highest
	log     bool     // values are latencies in seconds on a logarithmic axis
	top     float64  // a linear axis reaches at least so far; 0 for as far as the values do
	named   bool     // lines carry their names whatever the colours, as they do without any
	upper   bool     // another plot lies below, which has the axis of time
	lower   bool     // another plot lies above, which has the words at the marks
	bounds  string   // the metric whose limits are drawn as lines, "" for none
	nothing string   // what to say when there is no data
}

func (p plot) draw(c screen.Canvas) {
	f, ok := p.v.overTime(c, p.upper)
	if !ok {
		c.Center(p.nothing, screen.Label)
		return
	}
	area, ts := f.area, f.ts
	lines := p.points(p.series, f.windows, f.end, ts)
	older := p.points(p.older, p.v.olderWindows(ts), endless, ts)
	lanes := p.split(area)
	if low, top := extremes(slices.Concat(lines, older)...); p.log && top == 0 {
		c.Center(p.nothing, screen.Label)
		return
	} else if !p.lanes {
		scale := p.scale(c, area, low, top, screen.Label)
		for i := range lanes {
			lanes[i].scale = scale
		}
	} else {
		for i := range lines {
			both := lines[i : i+1 : i+1]
			if len(older) > 0 {
				both = append(both, older[i])
			}
			low, top := extremes(both...)
			lanes[i].scale = p.scale(c, lanes[i].area, low, top, screen.Style{Fg: p.series[i].color})
		}
	}
	f.axis(p.v)
	used := newTaken(area)
	drawn := make([]uint8, area.W*area.H)
	for i, l := range lines {
		if len(older) > 0 && p.lanes {
			p.paint(lanes[i].area, p.trace(lanes[i], older[i], p.older[i], ts), drawn, used, p.older[i], 0)
		}
		if i == 0 && !p.lanes {
			for k, l := range older {
				p.paint(area, p.trace(lanes[k], l, p.older[k], ts), drawn, used, p.older[k], 0)
			}
		}
		p.paint(lanes[i].area, p.trace(lanes[i], l, p.series[i], ts), drawn, used, p.series[i], f.warm)
		if p.lanes {
			clear(drawn)
		}
	}
	if p.v.Mono || p.named {
		p.names(used, lines, lanes)
	}
	drawBounds(p.v, p.bounds, used, lanes[0].scale)
	drawMarks(p.v, used, ts, !p.lower)
}

// lane is where a line is drawn: its part of the area, and where in it a value lies, 0 at the bottom, 1 at the top.
type lane struct {
	area  screen.Canvas
	scale func(float64) float64
}

// split gives each line the whole area, or a lane of its own.
func (p plot) split(area screen.Canvas) []lane {
	out := make([]lane, len(p.series))
	y := 0
	for i := range out {
		out[i].area = area
		if p.lanes {
			rest := len(out) - i
			h := (area.H - y + rest - 1) / rest
			if rest > 1 && area.H >= 5 {
				h = min(h+area.H/8, area.H-y-1)
			}
			out[i].area = area.Sub(0, y, area.W, h)
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
func (p plot) scale(c, area screen.Canvas, low, top float64, st screen.Style) func(float64) float64 {
	a := axis{c.Sub(0, area.Y-c.Y, axisWidth, area.H), st}
	if p.log {
		return a.logarithmic(low, top)
	}
	return a.linear(max(top, p.top))
}
