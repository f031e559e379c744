package page

import (
	"math"
	"time"

	"benchtop/export/charts"
	"benchtop/internal/findings"
	"benchtop/metrics"
)

// bars of a histogram are equally wide on a logarithmic axis.
const bars = 50

// tail is the share of the fastest that the axis need not hold: they are in the first bar.
const tail = 0.005

// histograms draws the latencies of the run.
func (p *writer) histograms(r *metrics.Report) {
	open := false
	for _, l := range []metrics.Latency{metrics.TTFT, metrics.ITL, metrics.E2EL} {
		h := &r.Histograms[l]
		if h.Count() == 0 || !r.Plan.Measures(l) {
			continue
		}
		if !open {
			p.section("Distribution of latencies")
			p.raw("<div class=\"histograms\">\n")
			open = true
		}
		p.histogram(r, l)
	}
	if open {
		p.raw("</div></section>\n")
	}
}

// histogram draws one latency. Bars beyond the limit are of the class bad; one that the limit parts begins below it.
func (p *writer) histogram(r *metrics.Report, l metrics.Latency) {
	h, name := &r.Histograms[l], l.Naming().Title
	low, high := math.Inf(1), 0.0
	for b := range h.Buckets() {
		low, high = min(low, milliseconds(b.From)), max(high, milliseconds(b.To))
	}
	low = max(low, 0.001)
	if start := milliseconds(h.Quantile(tail)) / 2; low < start {
		low = start
	}
	high = max(high, 1.1*low)
	slo := limits(r, l)
	step := math.Log(high/low) / bars
	var counts [bars]float64
	most := 0.0
	for b := range h.Buckets() {
		middle := milliseconds(b.From+b.To) / 2
		i := min(max(int(math.Log(max(middle, low)/low)/step), 0), bars-1)
		counts[i] += float64(b.Count)
		most = max(most, counts[i])
	}
	part := func(ms float64) float64 { return min(max(math.Log(ms/low)/math.Log(high/low), 0), 1) }
	p.rawf("<figure><figcaption><b>%s</b> <span>%d</span></figcaption><div class=\"plot\">", name, h.Count())
	p.openSVG("Histogram of " + name)
	for i, n := range counts {
		if n == 0 {
			continue
		}
		class, height := "bar", max(1, n/most*95)
		for _, o := range slo {
			if low*math.Exp(float64(i)*step) >= o.LimitMS {
				class = "bar bad"
			}
		}
		p.rawf(`<rect class="%s" x="%s" y="%s" width="19" height="%s"/>`, class, short(float64(i)*across/bars),
			short(down-height), short(height))
	}
	s := &r.Statistics[l]
	type at struct {
		name, class string
		ms          float64
	}
	var marks []at
	for _, q := range []float64{50, 99} {
		if v, known := s.Percentile(q); known && s.N > 0 && v > 0 {
			marks = append(marks, at{map[float64]string{50: "p50", 99: "p99"}[q], "percentile", v})
		}
	}
	for _, o := range slo {
		marks = append(marks, at{"SLO", "limit", o.LimitMS})
	}
	for _, m := range marks {
		p.rawf(`<path class="%s" d="M%s 0V100"/>`, m.class, short(part(m.ms)*across))
	}
	p.raw("</svg></div>\n<div class=\"plot time\">")
	values, labels := charts.Ticks(charts.Log, low, high, 5)
	for i, v := range values {
		p.rawf(`<span class="x" style="left:%s%%">%s</span>`, short(100*part(v)), labels[i])
	}
	p.raw("</div><div class=\"under\">")
	if n := h.Below(time.Duration(low * float64(time.Millisecond))); n > 0 {
		p.rawf("<span class=\"key first\">%d faster, in the first bar</span> ", n)
	}
	for _, m := range marks {
		p.rawf("<span class=\"key %s\">%s %s</span> ", m.class, m.name, findings.Milliseconds(m.ms))
	}
	p.raw("</div></figure>\n")
}

func milliseconds(d time.Duration) float64 { return metrics.Milliseconds(d) }
