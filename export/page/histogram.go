package page

import (
	"math"
	"slices"
	"time"

	"benchtop/export/charts"
	"benchtop/internal/findings"
	"benchtop/metrics"
)

// Bars of a histogram are equally wide on a logarithmic axis; there are fewer for few values.
const fewestBars, mostBars = 12, 50

// axisReach is how many times beyond the values a limit may lie to be on their axis.
const axisReach = 10

// tail is the share of the fastest, and of the slowest, that the axis need not hold: they are in the first and the last
// bar.
const tail = 0.005

// histogram is one latency of a run on an axis of milliseconds.
type histogram struct {
	charts.Range
	of     *metrics.Histogram
	bars   []float64 // counts
	limits []metrics.Objective
}

// histogramOf counts the bars.
func histogramOf(r *metrics.Report, l metrics.Latency) *histogram {
	h := &histogram{charts.Range{Scale: charts.Log, Low: math.Inf(1)}, &r.Histograms[l], nil, limits(r, l)}
	for b := range h.of.Buckets() {
		h.Low, h.High = min(h.Low, metrics.Milliseconds(b.From)), max(h.High, metrics.Milliseconds(b.To))
	}
	h.Low = max(h.Low, 0.001, metrics.Milliseconds(h.of.Quantile(tail))/2)
	h.High = min(h.High, 2*metrics.Milliseconds(h.of.Quantile(1-tail)))
	for _, o := range h.limits {
		if o.LimitMS > h.Low/axisReach && o.LimitMS < h.High*axisReach {
			h.Low, h.High = min(h.Low, o.LimitMS/1.1), max(h.High, 1.1*o.LimitMS)
		}
	}
	h.High = max(h.High, 1.1*h.Low)
	h.bars = make([]float64, min(max(int(4*math.Sqrt(float64(h.of.Count()))), fewestBars), mostBars))
	for b := range h.of.Buckets() {
		at := h.Part(metrics.Milliseconds(b.From+b.To) / 2)
		h.bars[min(int(at*float64(len(h.bars))), len(h.bars)-1)] += float64(b.Count)
	}
	return h
}

// misses reports whether a bar lies beyond a limit. One that the limit parts does not.
func (h *histogram) misses(bar int) bool {
	from := h.Low * math.Pow(h.High/h.Low, float64(bar)/float64(len(h.bars)))
	return slices.ContainsFunc(h.limits, func(o metrics.Objective) bool { return from >= o.LimitMS })
}

// histograms draws the latencies of the run.
func (p *writer) histograms(r *metrics.Report) {
	open := false
	for _, l := range []metrics.Latency{metrics.TTFT, metrics.ITL, metrics.E2EL} {
		if r.Histograms[l].Count() == 0 || !r.Plan.Measures(l) {
			continue
		}
		if !open {
			p.section("Distribution of latencies")
			p.raw("<div class=\"histograms\">\n")
			open = true
		}
		p.histogram(histogramOf(r, l), l.Naming().Title, &r.Statistics[l])
	}
	if open {
		p.raw("</div></section>\n")
	}
}

// latencyMark is a latency that is marked on the axis.
type latencyMark struct {
	name, class string
	ms          float64
}

// histogram draws one latency, with the percentiles of its statistic.
func (p *writer) histogram(h *histogram, name string, s *metrics.Statistic) {
	var marks []latencyMark
	for i, q := range []float64{50, 99} {
		if v, known := s.Percentile(q); known && s.N > 0 && v > 0 {
			marks = append(marks, latencyMark{[...]string{"p50", "p99"}[i], "percentile", v})
		}
	}
	for _, o := range h.limits {
		marks = append(marks, latencyMark{"SLO", "limit", o.LimitMS})
	}
	p.rawf("<figure><figcaption><b>%s</b> <span>%d</span></figcaption><div class=\"plot\">", name, h.of.Count())
	p.openSVG("Histogram of " + name)
	p.bars(h)
	for _, m := range marks {
		if m.ms >= h.Low && m.ms <= h.High { // else it stands below the axis alone
			p.rawf(`<path class="%s" d="M%s 0V100"/>`, m.class, short(h.Part(m.ms)*across))
		}
	}
	p.raw("</svg></div>\n<div class=\"plot time\">")
	for v, label := range h.Ticks(5) {
		p.rawf(`<span class="x" style="left:%s%%">%s</span>`, short(100*h.Part(v)), label)
	}
	p.raw("</div><div class=\"under\">")
	if n := h.of.Below(time.Duration(h.Low * float64(time.Millisecond))); n > 0 {
		p.rawf("<span class=\"key first\">%d faster, in the first bar</span> ", n)
	}
	if n := h.of.Count() - h.of.Below(time.Duration(h.High*float64(time.Millisecond))); n > 0 {
		p.rawf("<span class=\"key first\">%d slower, in the last bar</span> ", n)
	}
	for _, m := range marks {
		p.rawf("<span class=\"key %s\">%s %s</span> ", m.class, m.name, findings.Milliseconds(m.ms))
	}
	p.raw("</div></figure>\n")
}

// bars draws the bars; those beyond a limit are of the class bad.
func (p *writer) bars(h *histogram) {
	most, wide := slices.Max(h.bars), across/float64(len(h.bars))
	for i, n := range h.bars {
		if n == 0 {
			continue
		}
		class, height := "bar", max(1, n/most*95)
		if h.misses(i) {
			class = "bar bad"
		}
		p.rawf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, short(float64(i)*wide),
			short(down-height), short(wide-1), short(height))
	}
}
