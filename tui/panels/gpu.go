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

// gpuPanel is a table of the accelerators as they are now, and their energy so far.
//
//	#  name         use                  memory       power     temp   clock
//	0  NVIDIA H200  ━━━━━━━━━━━━━━━ 98%  71.2 of 141G 612/700W  66°C  1980MHz
//	energy last 60s 48kJ · 0.35 J/token · cost 1.12 per 1M tokens
var gpuPanel = Panel{name: "gpu", title: gpuTitle, draw: drawGPUs}

// gpuLines are the lines of the panel on its page, none without accelerators.
func gpuLines(v *View) int {
	if n := len(latestGPUs(v.Snapshot)); n > 0 {
		return min(n, gpusMost) + 2
	}
	return 0
}

// latestGPUs are the accelerators by their last sample.
func latestGPUs(s *metrics.Snapshot) []metrics.GPU {
	if n := len(s.GPUs); n > 0 {
		return s.GPUs[n-1].GPUs
	}
	return nil
}

func gpuTitle(v *View, _, _ int) []screen.Span {
	all := latestGPUs(v.Snapshot)
	if len(all) == 0 {
		return []screen.Span{screen.Strong.Span("GPU")}
	}
	out := []screen.Span{screen.Strong.Span("GPU")}
	if len(all) > 1 {
		out[0].Text = number.Count(len(all)) + " GPUs"
	}
	use, power := 0.0, 0.0
	for _, g := range all {
		use += g.Use
		power += g.Power
	}
	if metrics.Said(use) {
		out = append(out, screen.Label.Span(" use "), screen.Text.Span(saidShare(use/float64(len(all)))))
	}
	if metrics.Said(power) {
		out = append(out, screen.Label.Span(" · power "), screen.Text.Span(said(power)+"W"))
	}
	switch {
	case v.GPUsAbsent != "":
		// the words say that it ended
		out = append(out, endedEarly.Style.Span(" ! "), screen.Label.Span(screen.Sanitize(v.GPUsAbsent)))
	case v.State == metrics.Finished:
		out = append(out, screen.Label.Span(" · at the end"))
	}
	return out
}

func drawGPUs(c screen.Canvas, v *View) {
	all := latestGPUs(v.Snapshot)
	if len(all) == 0 {
		drawAbsent(c, v.GPUsAbsent, nothingYet)
		return
	}
	y := 0 // of the sums, below the names of the columns and the rows
	if c.H > 2 {
		y = 1
	}
	shown := min(len(all), max(c.H-2, 1))
	y += shown
	t := gpuTable(c.W)
	t.draw(c.Sub(0, 0, c.W, y), shown, func(i int) *metrics.GPU { return &all[i] }, plainRow)
	words := energyText(v)
	if left := len(all) - shown; left > 0 {
		words = fmt.Sprintf("and %s more · %s", number.Count(left), words)
	}
	c.Print(0, y, words, screen.Label)
	drawGPUsBelow(c, y+1, v)
}

// gpuTable has the figures that fit beside the index, the gauge and its percentage.
func gpuTable(w int) table[*metrics.GPU] {
	figures := columns[*metrics.GPU]{
		{"memory", 15, func(g *metrics.GPU) screen.Span {
			if metrics.Said(g.MemoryUsed) && metrics.Said(g.MemoryTotal) {
				return screen.Text.Span(gib(g.MemoryUsed) + " of " + gib(g.MemoryTotal) + "G")
			}
			return cell(withUnit(gib, g.MemoryUsed, "G"))
		}, 0},
		{"power", 11, func(g *metrics.GPU) screen.Span {
			if metrics.Said(g.Power) && metrics.Said(g.PowerLimit) {
				return screen.Text.Span(said(g.Power) + "/" + said(g.PowerLimit) + "W")
			}
			return cell(withUnit(said, g.Power, "W"))
		}, 1},
		{"temp", 7, func(g *metrics.GPU) screen.Span {
			return cell(withUnit(said, g.Temperature, "°C"))
		}, 2},
		{"clock", 9, func(g *metrics.GPU) screen.Span { return cell(withUnit(clock, g.Clock, "MHz")) }, 3},
	}.fit(w - gpuIndex - gpuShare - 8)
	free := w - gpuIndex - gpuShare - figures.width()
	names := min(24, free/2)
	if names < 8 {
		names = 0
	}
	bar := min(max(0, free-names-1), 40)
	index := func(c screen.Canvas, g *metrics.GPU, plain screen.Style) {
		c.Right(2, 0, screen.Shorten(fmt.Sprint(g.Index), 2), plain)
	}
	name := func(c screen.Canvas, g *metrics.GPU, plain screen.Style) {
		c.Print(0, 0, screen.ShortenMiddle(screen.Sanitize(g.Name), names), plain)
	}
	use := func(c screen.Canvas, g *metrics.GPU, _ screen.Style) {
		if metrics.Said(g.Use) && bar >= 2 {
			chart.Gauge(c, 0, g.Use, math.NaN(), screen.Usage)
		}
	}
	share := func(g *metrics.GPU) screen.Span { return screen.Strong.Span(saidShare(g.Use)) }
	t := table[*metrics.GPU]{before: []field[*metrics.GPU]{{" #", gpuIndex, index}}}
	t.figures = append(columns[*metrics.GPU]{{"", gpuShare, share, 0}}, figures...)
	if names > 0 {
		t.before = append(t.before, field[*metrics.GPU]{"name", names + 1, name})
	}
	t.before = append(t.before, field[*metrics.GPU]{"use", bar, use})
	return t
}

// The width of the index and of the percentage.
const (
	gpuIndex = 3
	gpuShare = 5
)

// gib writes bytes in gibibytes.
func gib(bytes float64) string {
	g := number.Sane(bytes) / (1 << 30)
	if g < 99.95 {
		return number.TrimZero(fmt.Sprintf("%.1f", g))
	}
	return number.Short(g)
}

// clock writes a frequency, in full if it has five digits at most.
func clock(mhz float64) string {
	if mhz = number.Sane(mhz); mhz < 99_999 {
		return fmt.Sprintf("%.0f", mhz)
	}
	return number.Short(mhz)
}

// withUnit writes a figure with its unit, a dash if there is none.
func withUnit(write func(float64) string, x float64, unit string) string {
	if !metrics.Said(x) {
		return dash
	}
	return write(x) + unit
}

// energyText is the energy of the accelerators in the scope, for each output token too.
func energyText(v *View) string {
	use := gpuUse(v)
	out := "energy: unknown"
	if metrics.Said(use.Energy) {
		out = "energy " + v.scope() + " " + said(use.Energy) + "J"
		if use.Powered < use.Seen {
			out += fmt.Sprintf(" (%d of %d)", use.Powered, use.Seen)
		}
		if samplesMiss(v, &use) {
			out += fmt.Sprintf(" in %.1fs sampled", use.Sampled.Seconds())
		}
		if metrics.Said(use.JoulesPerToken) {
			out += " · " + twoDigits(use.JoulesPerToken) + " J/token"
		}
	}
	if metrics.Said(use.CostPerMillion.Output) {
		out += " · cost " + twoDigits(use.CostPerMillion.Output) + " per 1M tokens"
	}
	return out
}

// samplesMiss reports whether the energy of the whole run is that of a part only, for good. A span ends with its
// samples.
func samplesMiss(v *View, use *metrics.GPUReport) bool {
	_, _, all := spanOf(v.Snapshot, v.Span, v.Back)
	length := v.At
	switch {
	case !v.Whole && !all:
		return false
	case v.Report != nil:
		length = v.Report.Ended
	case v.GPUsAbsent == "":
		return false
	}
	return use.SamplesMiss(length - v.plan().Warmup)
}

// gpuUse is the use of the accelerators: in the whole run by the report, in a span as far as there are samples, so that
// energy and tokens are of the same seconds.
func gpuUse(v *View) metrics.GPUReport {
	s, plan := v.Snapshot, v.plan()
	work := metrics.GPUWork{Price: plan.GPUPrice}
	from, to, all := figureSpan(s, v.Span, v.Back)
	if v.Whole || all {
		if s.Report != nil && s.Report.GPUs != nil {
			return *s.Report.GPUs
		}
		work.OutputTokens, work.Length = s.Totals.OutputTokens, s.At-plan.Warmup
		return metrics.GPUsOver(s.Minutes.GPUsIn(after(s.GPUs, plan.Warmup)), plan.Warmup, endless, work)
	}
	from, to = sampledStretch(s.GPUs, from, to)
	const half = time.Second / 2 // a second belongs to the stretch of its middle
	work.OutputTokens, work.Length = sum(within(s.Windows, from-half+1, to-half+1)).OutputTokens, to-from
	return metrics.GPUsOver(after(s.GPUs, from), from, to, work)
}

// sampledStretch is the part of a stretch with samples.
func sampledStretch(all []metrics.GPUSecond, from, to time.Duration) (first, last time.Duration) {
	first, last = from, from
	for _, s := range after(all, from) {
		if s.At > to {
			break
		}
		if last == from {
			first = max(s.At-s.Took, from)
		}
		last = s.At
	}
	return first, last
}

// after are the samples after a moment.
func after(all []metrics.GPUSecond, at time.Duration) []metrics.GPUSecond {
	return all[sort.Search(len(all), func(i int) bool { return all[i].At > at }):]
}

// twoDigits writes small numbers with two decimals.
func twoDigits(x float64) string {
	if x = number.Sane(x); x < 99.995 {
		return fmt.Sprintf("%.2f", x)
	}
	return number.Short(x)
}

// drawGPUsBelow is the use and the power of all accelerators over time.
func drawGPUsBelow(c screen.Canvas, y int, v *View) {
	use := func(g *metrics.GPU) float64 { return 100 * g.Use }
	power := func(g *metrics.GPU) float64 { return g.Power }
	mean := func(sum float64, n int) float64 { return sum / float64(n) }
	all := func(sum float64, _ int) float64 { return sum }
	v.chartBelow(c, y, legend(c.W, "by second", legendItem{color: screen.Usage, name: "use %, the mean"},
		legendItem{color: screen.Plain, name: "power W, the sum"}),
		plot{v: v, chart: chart.Plot{Lanes: true}, series: []series{
			{name: "use", color: screen.Usage, filled: true, value: gpuValue(v, use, mean)},
			{name: "power", color: screen.Plain, filled: true, value: gpuValue(v, power, all)},
		}}.draw)
}

// gpuValue is a figure over time of those accelerators that have it, for a plot.
func gpuValue(v *View, of func(*metrics.GPU) float64,
	join func(sum float64, n int) float64) func(*metrics.Window) float64 {
	when := func(s *metrics.GPUSecond) (at, took time.Duration) { return s.At, s.Took }
	samples := finder[metrics.GPUSecond]{all: v.GPUs, when: when}
	return func(w *metrics.Window) float64 {
		sum, n := 0.0, 0
		s := samples.covering(middle(w))
		if w.Seconds > 0 {
			s = minuteAt(v.Minutes.GPUs, w, func(s *metrics.GPUSecond) time.Duration { return s.At })
		}
		if s != nil {
			for i := range s.GPUs {
				if x := of(&s.GPUs[i]); metrics.Said(x) {
					sum, n = sum+number.Sane(x), n+1
				}
			}
		}
		if n == 0 {
			return math.NaN()
		}
		return join(sum, n)
	}
}
