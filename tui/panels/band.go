package panels

import (
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/screen"
)

// latencyBandPanel shows how the percentiles of the chosen latency moved, percentilesPanel those of the latency by which a run is watched.
var (
	latencyBandPanel = timePanel("latency band", bandPlot)
	percentilesPanel = timePanel("ttft over time", percentilesPlot)
)

// bandPlot is the band, three lines with their names on terminals with few colours or none.
func bandPlot(v *View) plot {
	p := percentileLines(v, v.Latency)
	p.what, p.chart.Band, p.chart.Named = " p99", true, true
	for i := range p.series {
		p.series[i].below, p.series[i].alone = chart.Bare, i > 0 // more than one line of the baseline behind three is unreadable
	}
	return p
}

func percentilesPlot(v *View) plot { return percentileLines(v, v.firstWait()) }

// percentileLines are three percentiles of a latency, second by second.
func percentileLines(v *View, l metrics.Latency) plot {
	p99, p90, p50 := &percentile{l, 0.99}, &percentile{l, 0.9}, &percentile{l, 0.5}
	return plot{
		v: v, title: l.Naming().Title + " by second", compared: true, reversed: true, limits: l.Key(),
		chart: chart.Plot{Log: true, Nothing: v.nothing(l)},
		series: []series{
			{name: "p99", sign: '#', color: screen.Vermilion, below: chart.Dotted, value: p99.second, percentile: p99},
			{name: "p90", sign: 'o', color: screen.Yellow, below: chart.Dotted, value: p90.second, percentile: p90},
			{name: "p50", sign: '.', color: screen.Blue, below: chart.Cleared, value: p50.second, percentile: p50},
		},
	}
}

// percentile is a quantile of a latency, q from 0 to 1.
type percentile struct {
	latency metrics.Latency
	q       float64
}

// second is the percentile of one second.
func (p *percentile) second(w *metrics.Window) float64 { return p.of(&w.Histograms[p.latency]) }

// of is the percentile in seconds, NaN where there are no samples.
func (p *percentile) of(h *metrics.Histogram) float64 {
	if h.Count() == 0 {
		return math.NaN()
	}
	return float64(h.Quantile(p.q)) / float64(time.Second)
}
