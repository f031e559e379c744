package panels

import (
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/screen"
)

// latencyHeatPanel shows the distribution of the chosen latency over time.
var latencyHeatPanel = Panel{name: "latency heat", title: heatTitle, draw: drawHeat}

func heatTitle(v *View, w, _ int) []screen.Span {
	out := []screen.Span{screen.Strong.Span(v.Latency.Naming().Title + " heat map")}
	few, many := screen.Label.Span("  few "), screen.Label.Span(" many")
	if screen.SpansWidth(append(out, few, many))+screen.HeatSteps/2 > w-titleFrame {
		few, many = screen.Label.Span("  "), screen.Span{} // the colours are clear without words
	}
	out = append(out, few)
	if chart.Shaded(v.Terminal) {
		for i := range screen.HeatSteps / 2 {
			out = append(out, screen.Style{Fg: screen.Heat((float64(2*i) + 1.5) / screen.HeatSteps)}.Span("█"))
		}
	} else {
		out = append(out, screen.Style{Fg: screen.Blue}.Span(string(chart.HeatGlyphs(v.Terminal)[1:])))
	}
	return append(out, many)
}

// drawHeat draws the number of samples by latency and time, on the axis of the histogram.
func drawHeat(c screen.Canvas, v *View) {
	l := v.Latency
	h := v.selected().histogram(l)
	out := chart.Heat{Nothing: v.nothing(l)}
	if w := chart.Columns(c, false); w > 0 && h.Count() > 0 {
		t, ws, end := v.overTime()
		out.Time, out.Axis = t, v.latencyAxis(chart.HeatRows(c), h, &v.Histograms[l])
		out.Cells = v.heatCells(l, out.Axis, w, t, ws, end)
		out.Limits, out.Annotations = v.limits(l.Key()), v.annotations()
	}
	out.Draw(c, v.Raster)
}

// heatCells are the samples a second of each place of an axis, for each of w columns; nil where there are none.
func (v *View) heatCells(l metrics.Latency, ax chart.LatencyAxis, w int, t chart.TimeAxis, ws []metrics.Window, end time.Duration) [][]float64 {
	group, parts := t.Group(w), 1
	if group > heatHalved {
		group, parts = t.Group(2*w), 2
	}
	cells := make([][]float64, w)
	for len(ws) > 0 {
		n := sharing(ws, group*parts)
		h := heatOf(v, l, ws[:n], group)
		from, to := ws[0].Start, min(ws[n-1].Start+time.Second, end)
		ws = ws[n:]
		if h.Count() == 0 {
			continue
		}
		column := bins(ax, h)
		for i := range column {
			column[i] /= float64(n)
		}
		// A column belongs to the seconds in which its middle lies.
		part := func(at time.Duration) int { return int(math.Ceil(t.Part(at)*float64(w) - 0.5)) }
		for x := max(0, part(from)); x < min(part(to), w); x++ {
			cells[x] = column
		}
	}
	return cells
}

// heatHalved is how many seconds may share a column before it is made of two halves. The halves are those that a line beside the map merges for its
// columns of dots, so they are merged once.
const heatHalved = 16

// heatOf is a latency in the windows of a column, which are those of one group or of a few.
func heatOf(v *View, l metrics.Latency, ws []metrics.Window, group int) *metrics.Histogram {
	if len(ws) == 1 {
		return &ws[0].Histograms[l]
	}
	n := sharing(ws, group)
	h := v.merged(l, ws[:n], group, false)
	if n == len(ws) {
		return h
	}
	var all metrics.Histogram
	all.Merge(h)
	for ws = ws[n:]; len(ws) > 0; ws = ws[n:] {
		n = sharing(ws, group)
		all.Merge(v.merged(l, ws[:n], group, false))
	}
	return &all
}
