package page

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/export"
	"benchtop/export/charts"
	"benchtop/internal/jsonscan"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// mostPoints bounds the points of a line; the seconds of a longer run are joined.
const mostPoints = 600

// The inner size of a chart, which its width on the page stretches.
const across, down = 1000.0, 100.0

// chart is a chart over the time of the run.
type chart struct {
	title  string
	lines  []line
	limits []metrics.Objective
}

// line has a value for each window, NaN for none.
type line struct {
	name   string
	values []float64
}

// timeline is the time axis of all charts of a run.
type timeline struct {
	windows []*metrics.Window
	seconds int // of a window
	warmup  time.Duration
	marks   []mark
}

// mark is a labelled moment of the run.
type mark struct {
	at    time.Duration
	name  string
	class string
}

// timelineOf joins the seconds of the run to windows of one length.
func timelineOf(r *metrics.Report, seconds int) *timeline {
	t := &timeline{windows: r.Timeline, seconds: seconds, warmup: r.Plan.Warmup}
	if seconds > 1 {
		t.windows = nil
		for part := range slices.Chunk(r.Timeline, seconds) {
			t.windows = append(t.windows, metrics.JoinWindows(part))
		}
	}
	const most = 40
	for _, e := range r.Events {
		if e.Mark != "" && len(t.marks) < most {
			t.marks = append(t.marks, mark{e.At, e.Mark, "mark"})
		}
	}
	if a := &r.Answer; a.Saturates && a.SaturatedAt != metrics.Never {
		m := mark{a.SaturatedAt, "saturation", "mark bad"}
		near := func(o mark) bool { return (m.at - o.at).Abs() < time.Second }
		if i := slices.IndexFunc(t.marks, near); i >= 0 {
			m.name = text.Fit(t.marks[i].name, mostName) + ", " + m.name
			t.marks = slices.Delete(t.marks, i, i+1)
		}
		t.marks = append(t.marks, m)
	}
	slices.SortStableFunc(t.marks, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	return t
}

// step is the length of a window, in seconds, of a run of so many.
func step(seconds int) int { return max(1, (seconds+mostPoints-1)/mostPoints) }

func (t *timeline) length() float64 { return float64(len(t.windows) * t.seconds) }

// part is where a moment lies on the axis, from 0 to 1.
func (t *timeline) part(at time.Duration) float64 {
	return min(max(at.Seconds()/t.length(), 0), 1)
}

// each are the values of the windows.
func (t *timeline) each(name string, of func(*metrics.Window) float64) line {
	l := line{name: name}
	for i := range t.windows {
		v := of(t.windows[i])
		if !math.IsNaN(v) {
			v = min(max(v, 0), metrics.LargestCount)
		}
		l.values = append(l.values, v)
	}
	return l
}

// latency is the chart of a latency by the second.
func (t *timeline) latency(r *metrics.Report, l metrics.Latency) chart {
	c := chart{title: l.Naming().Title + ", ms"}
	for _, q := range []float64{0.5, 0.9, 0.99} {
		c.lines = append(c.lines, t.each(fmt.Sprintf("p%g", 100*q), quantile(l, q)))
	}
	c.limits = limits(r, l)
	return c
}

// quantile is one of a latency in a window, in milliseconds, NaN for none.
func quantile(l metrics.Latency, q float64) func(*metrics.Window) float64 {
	return func(w *metrics.Window) float64 {
		if h := &w.Histograms[l]; h.Count() > 0 {
			return metrics.Milliseconds(h.Quantile(q))
		}
		return math.NaN()
	}
}

func perSecond(n int, w *metrics.Window) float64 { return float64(n) / w.Length().Seconds() }

func outputs(w *metrics.Window) float64 { return perSecond(w.TokensOut, w) }

func inputs(w *metrics.Window) float64 { return perSecond(w.TokensIn, w) }

func running(w *metrics.Window) float64 { return float64(w.Running) }

// limits are the objectives in force on a latency.
func limits(r *metrics.Report, l metrics.Latency) (all []metrics.Objective) {
	for _, o := range r.Objectives {
		if o.Metric == l && o.LimitMS > 0 && text.Finite(o.LimitMS) {
			all = append(all, o)
		}
	}
	return all
}

// charts draws the run over time, and its latencies as histograms.
func (p *writer) charts(r *metrics.Report) {
	if len(r.Timeline) > 1 {
		t := timelineOf(r, step(len(r.Timeline)))
		tokens := chart{title: "tokens/s"}
		if r.Plan.Generates() {
			tokens.lines = append(tokens.lines, t.each("output", outputs))
		}
		tokens.lines = append(tokens.lines, t.each("input", inputs))
		requests := chart{title: "requests", lines: []line{
			t.each("running", running),
			t.each("waiting", func(w *metrics.Window) float64 { return float64(w.Waiting) }),
			t.each("queued here", func(w *metrics.Window) float64 { return float64(w.Held) }),
		}}
		all := []chart{tokens, requests, t.latency(r, r.Plan.FirstWait())}
		if r.Plan.Measures(metrics.ITL) {
			all = append(all, t.latency(r, metrics.ITL))
		}
		p.over("Over time", t, all)
	}
	p.histograms(r)
}

// over writes charts over one time axis.
func (p *writer) over(title string, t *timeline, all []chart) {
	if t.seconds > 1 {
		title += fmt.Sprintf(", %d s at each point", t.seconds)
	}
	p.section(title)
	p.rawf("<div class=\"charts\" data-step=\"%d\">\n", t.seconds)
	for i := range all {
		all[i].write(p, t, i == 0)
	}
	p.timeAxis(t)
	p.raw("</div></section>\n")
}

// mostOver bounds the lines of a chart; there is a colour for each.
const mostOver = 6

// overlay draws the runs over each other, from the start of each.
func (p *writer) overlay(runs []Run) {
	shown := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return len(r.Report.Timeline) < 2 })
	if len(shown) < 2 {
		return
	}
	title := "The runs over each other"
	if len(shown) > mostOver {
		title, shown = fmt.Sprintf("The first %d runs over each other", mostOver), shown[:mostOver]
	}
	longest := 0
	for _, r := range shown {
		longest = max(longest, len(r.Report.Timeline))
	}
	axis := &timeline{seconds: step(longest)}
	axis.windows = make([]*metrics.Window, (longest+axis.seconds-1)/axis.seconds)
	first := &shown[0].Report.Plan
	wait := first.FirstWait()
	figures := []figure{{"output tokens/s", outputs}, {"requests running", running},
		{wait.Naming().Title + " p50, ms", quantile(wait, .5)}, {wait.Naming().Title + " p99, ms", quantile(wait, .99)},
		{"ITL p99, ms", quantile(metrics.ITL, .99)}}
	if !first.Generates() {
		figures[0] = figure{"input tokens/s", inputs}
	}
	if !first.Measures(metrics.ITL) {
		figures = figures[:4]
	}
	var all []chart
	for _, f := range figures {
		c := chart{title: f.name}
		for _, r := range shown {
			l := timelineOf(r.Report, axis.seconds).each(words(r.Name), f.of)
			for len(l.values) < len(axis.windows) {
				l.values = append(l.values, math.NaN())
			}
			c.lines = append(c.lines, l)
		}
		all = append(all, c)
	}
	p.over(title, axis, all)
}

// figure is a figure of a window.
type figure struct {
	name string
	of   func(*metrics.Window) float64
}

// manyTimes is how many times the least value the greatest is from which on an axis of latencies is logarithmic.
const manyTimes = 30

// few is the share of a chart's greatest values that its axis leaves out where they are outlying times the rest.
const few, outlying = 0.01, 4

// scale is the vertical axis, with room for all limits, and for all values but outliers on a linear one; beyond is the
// greatest of those, 0 for none.
func (c *chart) scale() (s charts.Range, beyond float64) {
	least, most := math.Inf(1), 0.0
	var values []float64
	for _, l := range c.lines {
		for _, v := range l.values {
			if v > 0 {
				least, most, values = min(least, v), max(most, v), append(values, v)
			}
		}
	}
	slices.Sort(values)
	for _, o := range c.limits {
		least, most = min(least, o.LimitMS), max(most, o.LimitMS)
	}
	if strings.HasSuffix(c.title, " ms") && most > manyTimes*least {
		return charts.Range{Scale: charts.Log, Low: least / 1.3, High: most * 1.3}, 0
	}
	if n := len(values); n > 0 && len(c.limits) == 0 {
		if usual := values[n-1-max(1, int(few*float64(n)))%n]; most > outlying*usual {
			most, beyond = outlying/2*usual, most
		}
	}
	return charts.Range{Scale: charts.Linear, High: cmp.Or(most, 1) * 1.08}, beyond
}

// under is how far from the top a value lies, one beyond the axis at its end.
func under(s charts.Range, v float64) string { return short(down * (1 - min(s.Part(v), 1))) }

// write draws the chart; the first one names the marks.
func (c *chart) write(p *writer, t *timeline, first bool) {
	s, beyond := c.scale()
	var data []string
	p.raw("<figure>")
	p.rawf("<figcaption><b>%s</b>", c.title)
	for i, l := range c.lines {
		p.rawf(" <span class=\"key l%d\">%s</span>", i, html.EscapeString(l.name))
		data = append(data, fmt.Sprintf(`[%s,%s]`, html.EscapeString(string(jsonscan.Quote(l.name))), l.list()))
	}
	if beyond > 0 {
		p.rawf(" <span>up to %s</span>", short(beyond))
	}
	for _, o := range c.limits {
		p.rawf(" <span class=\"key limit\">SLO %s ms</span>", short(o.LimitMS))
	}
	p.rawf("<output></output></figcaption>\n<div class=\"plot\" data-lines='[%s]'>", strings.Join(data, ","))
	p.openSVG(c.title)
	if w := t.part(t.warmup); w > 0 {
		p.rawf(`<rect class="warmup" width="%s" height="100"/>`, short(w*across))
	}
	for v := range s.Ticks(4) {
		p.rule("grid", under(s, v))
	}
	for _, m := range t.marks {
		x := short(t.part(m.at) * across)
		p.rawf(`<path class="%s" d="M%s 0V100"/>`, m.class, x)
	}
	for _, o := range c.limits {
		p.rule("limit", under(s, o.LimitMS))
	}
	for i, l := range slices.Backward(c.lines) {
		p.rawf(`<path class="line l%d" d="%s"/>`, i, l.path(s))
	}
	p.raw("</svg>")
	for v, label := range s.Ticks(4) {
		p.rawf(`<span class="y" style="top:%s%%">%s</span>`, under(s, v), label)
	}
	if first {
		p.markNames(t)
	}
	p.raw("</div></figure>\n")
}

func (p *writer) openSVG(name string) {
	p.rawf(`<svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="%s">`,
		html.EscapeString(name))
}

// rule draws a line across the chart.
func (p *writer) rule(class, y string) { p.rawf(`<path class="%s" d="M0 %sH1000"/>`, class, y) }

// mostName is the length of the name of a mark.
const mostName = 16

// markNames writes the names of the marks that have room before the next one.
func (p *writer) markNames(t *timeline) {
	const least = 0.04
	for i, m := range t.marks {
		at, room := t.part(m.at), 1.0
		if i+1 < len(t.marks) {
			room = t.part(t.marks[i+1].at)
		}
		if room -= at; room >= least {
			p.rawf(`<span class="name" style="left:%s%%;max-width:%s%%">%s</span>`, short(100*at), short(100*room),
				html.EscapeString(text.Fit(text.Clean(m.name), 2*mostName)))
		}
	}
}

// timeAxis labels the time below all charts.
func (p *writer) timeAxis(t *timeline) {
	const most = 7
	p.raw(`<div class="plot time">`)
	step := time.Duration(export.TimeStep(len(t.windows)*t.seconds, most)) * time.Second
	for at := time.Duration(0); at.Seconds() <= t.length(); at += step {
		p.rawf(`<span class="x" style="left:%s%%">%s</span>`, short(100*t.part(at)), metrics.Duration(at))
	}
	p.raw("</div>\n")
}

// path draws the line through the middles of the windows, with gaps where there is no value.
func (l *line) path(s charts.Range) string {
	var b strings.Builder
	pen := "M"
	for i, v := range l.values {
		if math.IsNaN(v) {
			pen = "M"
			continue
		}
		b.WriteString(pen + short((float64(i)+0.5)*across/float64(len(l.values))) + " " + under(s, v))
		if pen == "M" {
			b.WriteString("h0") // a point alone is a dot
		}
		pen = "L"
	}
	return b.String()
}

// list are the values for the script.
func (l *line) list() string {
	all := metrics.Each(l.values, func(v float64) string {
		if math.IsNaN(v) {
			return "null"
		}
		return strconv.FormatFloat(v, 'g', 4, 64)
	})
	return strings.Join(all, ",")
}

// short writes a length to a tenth.
func short(v float64) string { return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") }
