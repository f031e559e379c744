package panels

import (
	"fmt"
	"math"
	"sort"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// latenessPanel shows how late the client itself was with its requests, and how busy its processors were.
var latenessPanel = panel{"lateness", latenessTitle, drawLateness}

func latenessTitle(v *View, w, _ int) []screen.Span {
	p99, most, cpu := "", "", ""
	if c := v.edgeClient(); c != nil {
		if c.Sent > 0 {
			p99, most = number.Latency(c.LateP99), number.Latency(c.LateMax)
		}
		cpu = fmt.Sprintf("%.0f%%", number.Sane(cpuShare(c)))
	}
	return legend(w, "lateness",
		legendItem{screen.Blue, "p99", p99}, legendItem{screen.Vermilion, "max", most}, legendItem{screen.Purple, "CPU", cpu})
}

// cpuShare is how much of the processors it may use the client kept busy, in percent; NaN where that is not known.
func cpuShare(c *metrics.ClientSecond) float64 {
	if !(c.Cores > 0) {
		return math.NaN()
	}
	return 100 * number.Sane(c.CPU/c.Cores)
}

// drawLateness puts lateness above and the processors below, where there is room for both.
func drawLateness(c screen.Canvas, v *View) {
	if len(v.Client) == 0 {
		c.Center("the client has not looked at itself yet", screen.Label)
		return
	}
	late, cpu := latenessPlot(v), cpuPlot(v)
	if c.H < 7 {
		late.draw(c)
		return
	}
	low := max(3, c.H*2/5)
	late.chart.Upper, cpu.chart.Lower = true, true
	late.draw(c.Sub(0, 0, c.W, c.H-low))
	cpu.draw(c.Sub(0, c.H-low, c.W, low))
}

func latenessPlot(v *View) plot {
	at := clientSeconds(v)
	value := func(of func(*metrics.ClientSecond) time.Duration) func(w *metrics.Window) float64 {
		return func(w *metrics.Window) float64 {
			c := at(w.Start)
			if c == nil || c.Sent == 0 {
				return math.NaN()
			}
			return max(of(c), time.Microsecond).Seconds()
		}
	}
	return plot{v: v, chart: chart.Plot{Log: true, Nothing: "nothing sent yet"}, series: []series{
		{name: "max", color: screen.Vermilion, value: value(func(c *metrics.ClientSecond) time.Duration { return c.LateMax })},
		{name: "p99", color: screen.Blue, value: value(func(c *metrics.ClientSecond) time.Duration { return c.LateP99 })},
	}}
}

func cpuPlot(v *View) plot {
	at := clientSeconds(v)
	return plot{v: v, chart: chart.Plot{Top: 100, Nothing: "no full second yet"}, series: []series{
		{name: "CPU", sign: '#', color: screen.Purple, below: chart.Dotted, value: func(w *metrics.Window) float64 {
			if c := at(w.Start); c != nil {
				return cpuShare(c)
			}
			return math.NaN()
		}},
	}}
}

// clientSeconds finds the second of the client that fills most of a window, nil if it did not look at itself then.
func clientSeconds(v *View) func(start time.Duration) *metrics.ClientSecond {
	all := v.Client
	k := 0 // windows come in order of time
	return func(start time.Duration) *metrics.ClientSecond {
		middle := start + time.Second/2
		if k < len(all) && all[k].At < middle {
			k++
		}
		if k < len(all) && all[k].At < middle || k > 0 && all[k-1].At >= middle {
			k = sort.Search(len(all), func(i int) bool { return all[i].At >= middle })
		}
		if k < len(all) && all[k].At-all[k].Took <= middle {
			return &all[k]
		}
		return nil
	}
}
