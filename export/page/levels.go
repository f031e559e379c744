package page

import (
	"cmp"
	"fmt"
	"html"
	"slices"

	"benchtop/export/charts"
	"benchtop/internal/findings"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// levels draws the loads of a run: the wait for the first token over the load, from its median to its 99th percentile,
// with what is proven of each.
func (p *writer) levels(r *metrics.Report) {
	levels := slices.DeleteFunc(slices.Clone(r.Levels), func(l metrics.LoadLevel) bool { return l.TTFTp99 <= 0 })
	if len(levels) < 2 {
		return
	}
	wait := r.Plan.FirstWait()
	c := chart{title: wait.Naming().Title + " p50 to p99, ms", limits: limits(r, wait)}
	x := charts.Range{Scale: charts.Linear}
	for i := range levels {
		l := &levels[i]
		c.lines = append(c.lines, line{values: []float64{l.TTFTp50, l.TTFTp99}})
		x.High = max(x.High, 1.08*l.Offered)
	}
	y, _ := c.scale()
	p.section("Loads")
	p.rawf("<figure class=\"levels\"><figcaption><b>%s</b>", c.title)
	for _, k := range [][2]string{{"good", "within"}, {"bad", "missed"}, {"open", "not settled"}} {
		p.rawf(" <span class=\"key %s\">%s</span>", k[0], k[1])
	}
	p.raw(" <span>paler: less certain</span></figcaption><div class=\"plot\">")
	p.openSVG("Latency by load")
	for v := range y.Ticks(4) {
		p.rule("grid", under(y, v))
	}
	for _, o := range c.limits {
		p.rule("limit", under(y, o.LimitMS))
	}
	for i := range levels {
		l := &levels[i]
		at, class := short(x.Part(l.Offered)*across), standings[l.Standing]
		class = cmp.Or(class, "open")
		p.rawf(`<g class="%s" opacity="%.2f"><title>%s</title>`, class, max(l.Confidence, 0.3),
			html.EscapeString(text.Clean(said(l))))
		p.rawf(`<path d="M%s %sV%s"/><path class="dot" d="M%[1]s %[3]sh0"/></g>`, at, under(y, l.TTFTp50),
			under(y, l.TTFTp99))
	}
	p.raw("</svg>")
	for v, label := range y.Ticks(4) {
		p.rawf(`<span class="y" style="top:%s%%">%s</span>`, under(y, v), label)
	}
	p.raw("</div>\n<div class=\"plot time\">")
	for v, label := range x.Ticks(7) {
		p.rawf(`<span class="x" style="left:%s%%">%s</span>`, short(100*x.Part(v)), label)
	}
	p.rawf("</div><div class=\"under\">%s</div></figure></section>\n", levels[0].Unit)
}

// standings are the classes of what is proven of a level; others are open.
var standings = map[metrics.Standing]string{metrics.LevelWithin: "good", metrics.LevelMissed: "bad",
	metrics.LevelBehind: "bad"}

// said is the evidence on a level in words.
func said(l *metrics.LoadLevel) string {
	s := findings.Load(l.Unit.Of(l.Offered))
	if l.Requests > 0 {
		s += fmt.Sprintf(": %d of %d good", l.Good, l.Requests)
	}
	if l.Standing != metrics.LevelOpen {
		s += ", " + string(l.Standing)
	}
	if c := findings.Confidence(l.Confidence); c != "" {
		s += ", confidence " + c
	}
	return s
}
