package charts

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

const bins = 30

func histogramPanel(title, x string, fill color.Color, values []int) *plot.Plot {
	p := newPanel(title, x, "Frequency")
	addGrid(p, true)
	if len(values) == 0 {
		return nothing(p)
	}
	h := &plotter.Histogram{Bins: histogram(values), FillColor: fill}
	h.LineStyle = plotter.DefaultLineStyle
	h.LineStyle.Color, h.LineStyle.Width = barEdge, vg.Points(0.8)
	p.Add(h)
	low, high := h.Bins[0].Min, h.Bins[bins-1].Max
	p.X.Min, p.X.Max = low-(high-low)*0.04, high+(high-low)*0.04
	p.Y.Min, p.Y.Max = 0, p.Y.Max*1.05
	return p
}

// histogram counts values in bins of one width from the smallest to the largest, as numpy does: a bin has its lower edge,
// the last one both, and equal values stand in the middle of a range of 1. There is at least one value.
func histogram(values []int) []plotter.HistogramBin {
	least, most := slices.Min(values), slices.Max(values)
	low, high := float64(least), float64(most)
	if least == most {
		low, high = low-0.5, high+0.5
	}
	out := make([]plotter.HistogramBin, bins)
	for i := range out {
		out[i].Min, out[i].Max = low+(high-low)*float64(i)/bins, low+(high-low)*float64(i+1)/bins
	}
	for _, v := range values {
		i := bins / 2
		if least != most {
			i = min((v-least)*bins/(most-least), bins-1) // in integers, so that no value misses an edge it lies on
		}
		out[i].Weight++
	}
	return out
}
