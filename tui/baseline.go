package tui

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/screen"
)

// empty: a run was named, but nothing was sent in it that could be compared with.
func (b *Baseline) empty() bool {
	if b == nil || b.Report == nil || b.Report.Completed > 0 || b.Report.Failed > 0 {
		return false
	}
	sent := func(w metrics.Window) bool { return w.Sent > 0 }
	return b.Report.Statistics[metrics.TTFT].Mean == 0 && b.Report.Statistics[metrics.E2EL].Mean == 0 && !slices.ContainsFunc(b.Report.Timeline, sent)
}

// older is the run to compare with as a view of its own, nil if there is none that can be drawn.
func (v *view) older() *view {
	if v.baseline == nil || v.baseline.Report == nil || len(v.baseline.Report.Timeline) == 0 {
		return nil
	}
	r := v.baseline.Report
	return &view{s: &metrics.Snapshot{
		At: r.Ended, Plan: &r.Plan, State: metrics.Finished, Windows: r.Timeline, Marks: r.Events, Client: r.Client.Seconds,
		Objectives: r.Objectives, OutputExact: true, DrainBy: metrics.Never,
	}}
}

// olderWindows are those of the run to compare with at the moments of a chart, counted from the start of either.
func (v *view) olderWindows(t chart.TimeAxis) []metrics.Window {
	o := v.older()
	if o == nil {
		return nil
	}
	return within(closedWindows(o.s), max(0, t.From-time.Second), t.From+t.Shown)
}

// versus draws the same lines of the run to compare with behind those of a plot.
func (v *view) versus(build func(v *view) plot) plot {
	p := build(v)
	o := v.older()
	if o == nil {
		return p
	}
	theirs := build(o).series
	for _, s := range p.series { // line by line: one of them may have none of that name
		old := series{name: s.name, value: func(*metrics.Window) float64 { return math.NaN() }}
		if i := slices.IndexFunc(theirs, func(t series) bool { return t.name == s.name }); i >= 0 && !s.alone {
			old.value, old.sparse, old.percentile = theirs[i].value, theirs[i].sparse, theirs[i].percentile
		}
		p.older = append(p.older, old)
	}
	return p
}

// baselineNotes name the run to compare with in the title of a chart that draws it, the longest first; none where there is
// none, or where it has no seconds.
func (v *view) baselineNotes(what string) []string {
	if v.older() == nil {
		return nil
	}
	return []string{"  ┄ " + v.baselineName() + what, "  ┄ baseline", "  ┄"}
}

// baselineName is what the run to compare with is called on the screen.
func (v *view) baselineName() string {
	return screen.ShortenMiddle(screen.Sanitize(v.baseline.Name), 24)
}

// finishedWhole reports whether the screen shows all of a run that is over: it is compared with all of another.
func (v *view) finishedWhole() bool {
	return v.s.State == metrics.Finished && (v.whole || v.span == 0)
}

// olderStretch is the part of the run to compare with that the figures of this one stand against: its first two seconds against
// the first two seconds of the other. ok is false where that is the whole run: this one is over, the other has no seconds, or it
// did not last until there.
func (v *view) olderStretch() (from, to time.Duration, ok bool) {
	o := v.older()
	if o == nil || v.finishedWhole() {
		return 0, 0, false
	}
	from, to, _ = spanOf(v.s, v.span, v.back)
	if v.whole {
		from, to = max(v.plan().Warmup, o.plan().Warmup), v.s.At
	}
	from, to = max(from, 0), min(to, v.s.At)
	return from, to, from < o.s.At
}

// olderKey says of what an olderSum is: a latency, in the span or from the start.
type olderKey struct {
	latency metrics.Latency
	whole   bool
}

// olderSum is a latency of the run to compare with over a stretch of it. That of the whole run so far only grows, so it is kept.
type olderSum struct {
	metrics.Histogram
	from, to time.Duration
}

// olderSum is a latency of the run to compare with in the seconds that begin in [from, to). The histogram must not be changed.
func (v *view) olderSum(l metrics.Latency, from, to time.Duration) *metrics.Histogram {
	c := v.selected().merges
	if c.older == nil {
		c.older = map[olderKey]*olderSum{}
	}
	k := olderKey{l, v.whole}
	sum := c.older[k]
	if sum == nil || sum.from != from || sum.to > to {
		sum = &olderSum{from: from, to: from}
		c.older[k] = sum
	}
	ws := within(v.older().s.Windows, sum.to, to)
	for i := range ws {
		sum.Merge(&ws[i].Histograms[l])
	}
	sum.to = max(sum.to, to)
	return &sum.Histogram
}
