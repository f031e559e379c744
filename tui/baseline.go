package tui

import (
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// empty: a run was named, but nothing was sent in it that could be compared with.
func (b *Baseline) empty() bool {
	if b == nil || b.Report == nil || b.Report.Completed > 0 || b.Report.Failed > 0 {
		return false
	}
	sent := func(w metrics.Window) bool { return w.Sent > 0 }
	return b.Report.TTFT.Mean == 0 && b.Report.E2EL.Mean == 0 && !slices.ContainsFunc(b.Report.Timeline, sent)
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
func (v *view) olderWindows(ts timeScale) []metrics.Window {
	o := v.older()
	if o == nil {
		return nil
	}
	return within(closedWindows(o.s), max(0, ts.from-time.Second), ts.from+ts.shown)
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
		old := series{name: s.name, behind: true, value: func(*metrics.Window) float64 { return math.NaN() }}
		if i := slices.IndexFunc(theirs, func(t series) bool { return t.name == s.name }); i >= 0 && !s.ours {
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
