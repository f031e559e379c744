package tui

import (
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// latencyHeatPanel shows how the spread of the chosen latency moved.
var latencyHeatPanel = panel{"latency heat", heatTitle, func(c screen.Canvas, v *view) { drawHeat(c, v) }}

func heatTitle(v *view, w, _ int) []screen.Span {
	out := []screen.Span{screen.Strong.Span(v.latencyMetric().name + " heat map")}
	few, many := screen.Label.Span("  few "), screen.Label.Span(" many")
	if screen.SpansWidth(append(out, few, many))+screen.HeatSteps/2 > w-titleFrame {
		few, many = screen.Label.Span("  "), screen.Span{} // the colours say it alone
	}
	out = append(out, few)
	if shaded(v) {
		for i := range screen.HeatSteps / 2 {
			out = append(out, screen.Style{Fg: screen.Heat((float64(2*i) + 1.5) / screen.HeatSteps)}.Span("█"))
		}
	} else {
		out = append(out, screen.Style{Fg: screen.Blue}.Span(string(heatGlyphs(v)[1:])))
	}
	return append(out, many)
}

// shaded: there are colours enough for the map; else it is drawn in patterns.
func shaded(v *view) bool { return v.Filled && !v.ASCII }

// heatGlyphs are the patterns of a cell, from none to most.
func heatGlyphs(v *view) []rune {
	if v.ASCII {
		return []rune(" .:*#")
	}
	return []rune(" ░▒▓█")
}

// drawHeat draws how many samples there were of which latency at which time, by the root of their number, so that few can be
// seen beside many. Time goes to the right, latency upwards on the axis of the histogram.
//
//	 1s│      ░ ░░▒░
//	   │ ░░▒▒▒▒▓▓▓▓▓
//	1ms│▓███████▒▒▒░
//	   ╰┴-30s────now
func drawHeat(c screen.Canvas, v *view) {
	m := v.latencyMetric()
	f, ok := v.overTime(c, false)
	h := m.picked(v.selected())
	if !ok || h.Count() == 0 {
		c.Center(m.nothing, screen.Label)
		return
	}
	high := f.area.H
	if shaded(v) {
		high *= 2
	}
	ax := bars{v: v, front: h, outline: m.run(v.s)}.axis(high)
	cells, most := heatCells(f, m, ax)
	scale := func(s float64) float64 { return ax.column(number.Seconds(s)) / float64(high) }
	axis{c.Sub(0, 0, axisWidth, f.area.H), screen.Label}.latencies(ax, scale)
	f.axis(v)
	used := newTaken(f.area)
	if most > 0 {
		paintHeat(v, cells, most, high, used)
	}
	drawBounds(v, m.plan, used, scale)
	drawMarks(v, used, f.ts, true)
}

// heatCells are the numbers of samples a second of each place, column by column from the bottom, and the largest of them.
// Columns without samples are nil.
func heatCells(f timeFrame, m *latencyMetric, ax latencyAxis) (cells [][]float64, most float64) {
	group, parts := f.ts.group(f.area.W), 1
	if group > heatHalved {
		group, parts = f.ts.group(2*f.area.W), 2
	}
	cells = make([][]float64, f.area.W)
	ws := f.windows
	for len(ws) > 0 {
		n := sharing(ws, group*parts)
		h := heatOf(f.v, m, ws[:n], group)
		from, to := ws[0].Start, min(ws[n-1].Start+time.Second, f.end)
		ws = ws[n:]
		if h.Count() == 0 {
			continue
		}
		column := ax.columns(h)
		for i := range column {
			column[i] *= float64(h.Count()) / float64(n)
			most = max(most, column[i])
		}
		// A column belongs to the seconds in which its middle lies.
		part := func(at time.Duration) int { return int(math.Ceil(f.ts.part(at)*float64(f.area.W) - 0.5)) }
		for x := max(0, part(from)); x < min(part(to), f.area.W); x++ {
			cells[x] = column
		}
	}
	return cells, most
}

// heatHalved is how many seconds may share a column before it is made of two halves. Those are what a line beside the map
// merges for its columns of dots, so that it need not be done twice.
const heatHalved = 16

// heatOf is a latency in the windows of a column, which are those of one group or of a few.
func heatOf(v *view, m *latencyMetric, ws []metrics.Window, group int) *metrics.Histogram {
	if len(ws) == 1 {
		return m.of(&ws[0])
	}
	n := sharing(ws, group)
	h := v.merged(m, ws[:n], group, false)
	if n == len(ws) {
		return h
	}
	var all metrics.Histogram
	all.Merge(h)
	for ws = ws[n:]; len(ws) > 0; ws = ws[n:] {
		n = sharing(ws, group)
		all.Merge(v.merged(m, ws[:n], group, false))
	}
	return &all
}

// paintHeat colours the places; in whole cells with patterns where there are few colours.
func paintHeat(v *view, cells [][]float64, most float64, high int, used *taken) {
	glyphs := heatGlyphs(v)
	px := newPixels(used.c)
	for x, column := range cells {
		for i, n := range column {
			if n < most*heatLeast {
				continue
			}
			part := math.Sqrt(n / most)
			if y := high - 1 - i; shaded(v) {
				px.set(x, y, screen.Heat(part))
			} else {
				level := min(1+int(part*float64(len(glyphs)-1)), len(glyphs)-1)
				used.c.Set(x, y, glyphs[level], screen.Style{Fg: screen.Blue})
				used.take(x, y, 1)
			}
		}
	}
	px.paint(used)
}

// heatLeast is the share of the most samples of a place from which on something is seen there. What is less is only the edge
// of a bucket that reaches a little into it.
const heatLeast = 1e-4

// latencies labels the rows at which round latencies lie.
func (a axis) latencies(ax latencyAxis, scale func(float64) float64) {
	a.rule()
	free := a.c.H // labels go upwards and keep a row apart
	for d := ax.firstTick(); d > 0 && d <= ax.hi && free > 0; d = ax.nextTick(d) {
		if row := int(math.Round((1 - scale(d.Seconds())) * float64(a.c.H-1))); row >= 0 && row < free {
			a.put(row, number.Tick(d))
			free = row - 1
		}
	}
}
