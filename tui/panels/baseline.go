package panels

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/screen"
)

// Empty: a run was named, but nothing was sent in it that could be compared with.
func (b *Baseline) Empty() bool {
	if b == nil || b.Report == nil || b.Report.Completed > 0 || b.Report.Failed > 0 {
		return false
	}
	sent := func(w metrics.Window) bool { return w.Sent > 0 }
	return b.Report.Statistics[metrics.TTFT].Mean == 0 && b.Report.Statistics[metrics.E2EL].Mean == 0 && !slices.ContainsFunc(b.Report.Timeline, sent)
}

// older is the run to compare with as a view of its own, nil if there is none that can be drawn.
func (v *View) older() *View {
	if v.Baseline == nil || v.Baseline.Report == nil || len(v.Baseline.Report.Timeline) == 0 {
		return nil
	}
	r := v.Baseline.Report
	return &View{Snapshot: &metrics.Snapshot{
		At: r.Ended, Plan: &r.Plan, State: metrics.Finished, Windows: r.Timeline, Marks: r.Events, Client: r.Client.Seconds,
		Objectives: r.Objectives, OutputExact: true, DrainBy: metrics.Never,
	}}
}

// olderWindows are those of the run to compare with at the moments of a chart, counted from the start of either.
func (v *View) olderWindows(t chart.TimeAxis) []metrics.Window {
	o := v.older()
	if o == nil {
		return nil
	}
	return within(closedWindows(o.Snapshot), max(0, t.From-time.Second), t.From+t.Shown)
}

// versus draws the same lines of the run to compare with behind those of a plot.
func (v *View) versus(build func(v *View) plot) plot {
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
func (v *View) baselineNotes(what string) []string {
	if v.older() == nil {
		return nil
	}
	return []string{"  ┄ " + v.baselineName() + what, "  ┄ baseline", "  ┄"}
}

// baselineName is what the run to compare with is called on the screen.
func (v *View) baselineName() string {
	return screen.ShortenMiddle(screen.Sanitize(v.Baseline.Name), 24)
}

// finishedWhole reports whether the screen shows all of a run that is over: it is compared with all of another.
func (v *View) finishedWhole() bool {
	return v.State == metrics.Finished && (v.Whole || v.Span == 0)
}

// olderStretch is the part of the run to compare with that the figures of this one stand against: its first two seconds against
// the first two seconds of the other. ok is false where that is the whole run: this one is over, the other has no seconds, or it
// did not last until there.
func (v *View) olderStretch() (from, to time.Duration, ok bool) {
	o := v.older()
	if o == nil || v.finishedWhole() {
		return 0, 0, false
	}
	from, to, _ = spanOf(v.Snapshot, v.Span, v.Back)
	if v.Whole {
		from, to = max(v.plan().Warmup, o.plan().Warmup), v.At
	}
	from, to = max(from, 0), min(to, v.At)
	return from, to, from < o.At
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
func (v *View) olderSum(l metrics.Latency, from, to time.Duration) *metrics.Histogram {
	c := v.selected().merges
	if c.older == nil {
		c.older = map[olderKey]*olderSum{}
	}
	k := olderKey{l, v.Whole}
	sum := c.older[k]
	if sum == nil || sum.from != from || sum.to > to {
		sum = &olderSum{from: from, to: from}
		c.older[k] = sum
	}
	ws := within(v.older().Snapshot.Windows, sum.to, to)
	for i := range ws {
		sum.Merge(&ws[i].Histograms[l])
	}
	sum.to = max(sum.to, to)
	return &sum.Histogram
}

// Baseline is an older run to compare with.
type Baseline struct {
	// Name is shown: foreign text.
	Name string
	// Report of the run. Where only a result file without its journal was found, it has no timeline and no histograms.
	Report *metrics.Report
}
