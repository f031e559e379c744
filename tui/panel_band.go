package tui

import (
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// latencyBandPanel shows how the percentiles of the chosen latency moved.
var latencyBandPanel = panel{"latency band", bandTitle, func(c screen.Canvas, v *view) { drawBand(c, v) }}

func bandTitle(v *view, w, _ int) []screen.Span {
	names := [...]string{"p50", "p90", "p99"}
	if v.ASCII {
		names = [...]string{"p50 .", "p90 o", "p99 #"}
	}
	return noted(legend(w, v.latencyMetric().name+" by second",
		legendItem{screen.Blue, names[0], ""}, legendItem{screen.Yellow, names[1], ""}, legendItem{screen.Vermilion, names[2], ""}),
		w, screen.Label, v.baselineNotes(" p99")...)
}

// bandPlot is the band as three lines, for terminals with few colours or none.
func bandPlot(v *view) plot {
	m := v.latencyMetric()
	p := percentileLines(v, m)
	p.named = true
	for i := range p.series {
		p.series[i].below, p.series[i].ours = bare, i > 0 // one line of another run is as much as can be read behind three
	}
	return p
}

// percentileLines are three percentiles of a latency, second by second.
func percentileLines(v *view, m *latencyMetric) plot {
	p99, p90, p50 := &percentile{m, 0.99}, &percentile{m, 0.9}, &percentile{m, 0.5}
	return plot{v: v, log: true, bounds: m.plan, nothing: m.nothing, series: []series{
		{name: "p99", sign: '#', color: screen.Vermilion, below: dotted, value: p99.second, percentile: p99},
		{name: "p90", sign: 'o', color: screen.Yellow, below: dotted, value: p90.second, percentile: p90},
		{name: "p50", sign: '.', color: screen.Blue, below: cleared, value: p50.second, percentile: p50},
	}}
}

// percentile is a quantile of a latency, q from 0 to 1.
type percentile struct {
	metric *latencyMetric
	q      float64
}

// second is the percentile of one second.
func (p *percentile) second(w *metrics.Window) float64 { return p.of(p.metric.of(w)) }

// of is the percentile in seconds, NaN where there are no samples.
func (p *percentile) of(h *metrics.Histogram) float64 {
	if h.Count() == 0 {
		return math.NaN()
	}
	return float64(h.Quantile(p.q)) / float64(time.Second)
}

// drawBand draws the percentiles as a band of two tones with bright edges, on a logarithmic axis:
//
//	  1s┤        ▄▀▀▀▄▄▀▀  p99
//	    │     ▄▀▀░░░░░░░░
//	100ms┤▀▀▀▀░░▄▄▄▄▀▀▀▀▄  p90
//	    │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒
//	    │▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄  p50
func drawBand(c screen.Canvas, v *view) {
	p := v.versus(bandPlot)
	if !v.Filled || v.ASCII {
		p.draw(c)
		return
	}
	f, ok := v.overTime(c, false)
	if !ok {
		c.Center(p.nothing, screen.Label)
		return
	}
	lines := p.points(p.series, f.windows, f.end, f.ts)
	older := p.points(p.older, v.olderWindows(f.ts), endless, f.ts)
	low, top := extremes(append(older, lines...)...)
	if top == 0 {
		c.Center(p.nothing, screen.Label)
		return
	}
	scale := p.scale(c, f.area, low, top, screen.Label)
	f.axis(v)
	used := newTaken(f.area)
	b := band{newPixels(f.area), scale}
	b.fill(b.rows(lines, f), f.warm)
	b.paint(used)
	for i, l := range older {
		on := lane{f.area, scale}
		p.overlay(p.trace(on, l, p.older[i], f.ts), used)
	}
	drawBounds(v, p.bounds, used, scale)
	drawMarks(v, used, f.ts, true)
}

// band is a picture of percentiles.
type band struct {
	*pixels
	scale func(float64) float64
}

// rows are the pixel rows of the three lines in each column, highest percentile first; -1 where there is none.
func (b band) rows(lines [][]point, f timeFrame) [3][]int {
	var out [3][]int
	for i := range out {
		out[i] = make([]int, b.w)
		for x := range out[i] {
			out[i][x] = -1
		}
		var last point
		from := -1
		for _, pt := range lines[i] {
			x := f.ts.dot(pt.x) / 2
			if math.IsNaN(pt.v) {
				from = -1
				continue
			}
			if from < 0 {
				from, last = x, pt
			}
			for k := from; k <= min(x, b.w-1); k++ { // on the line between the two points, as far as there are columns
				v := pt.v
				if x > from {
					v = last.v * math.Pow(pt.v/last.v, float64(k-from)/float64(x-from))
				}
				if k >= 0 {
					out[i][k] = b.row(v)
				}
			}
			from, last = x, pt
		}
	}
	return out
}

func (b band) row(v float64) int {
	return int(math.Round((1 - min(max(b.scale(v), 0), 1)) * float64(b.h-1)))
}

// fill draws the areas between the lines and then the lines, the lower over the higher. The warm-up, which counts for
// nothing, is grey.
func (b band) fill(rows [3][]int, warm int) {
	areas, edges := [2]screen.Color{screen.BandHigh, screen.BandLow}, [3]screen.Color{screen.Vermilion, screen.Yellow, screen.Blue}
	for x := range b.w {
		for i := range areas {
			if rows[i][x] < 0 || rows[i+1][x] < 0 {
				continue
			}
			for y := rows[i][x]; y <= rows[i+1][x] && x >= warm; y++ {
				b.set(x, y, areas[i])
			}
		}
		for i, col := range edges {
			y := rows[i][x]
			if y < 0 {
				continue
			}
			if x < warm {
				col = screen.Dimmed
			}
			b.set(x, y, col)
		}
	}
}

// overlay puts a line of dots on what is free.
func (p plot) overlay(d *dots, used *taken) {
	for i, bits := range d.bits {
		if x, y := i%d.w, i/d.w; bits != 0 && used.free(x, y, 1) {
			used.c.Set(x, y, 0x2800+rune(bits), screen.Dim)
			used.take(x, y, 1)
		}
	}
}
