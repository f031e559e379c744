package tui

import (
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// view is all a panel may know: a snapshot and what the reader chose to see of it. It has no clock; the same view gives
// the same picture.
type view struct {
	s *metrics.Snapshot
	// span is how far back to look; 0 means the whole run.
	span time.Duration
	// whole shows histograms and tables of the whole run instead of the span.
	whole bool
	// linear draws histograms on a linear axis.
	linear bool
	screen.Terminal
	// scroll is how many lines the log is scrolled back, or the report on.
	scroll int
	// filter is what the log was searched for, text are the lines of the report.
	filter string
	text   []string
	// latency is the one that the Latency page shows.
	latency metrics.Latency
	// back is how long before now, or before the end, the charts end; 0 follows the run.
	back time.Duration
	// baseline is an older run to compare with; nil for none.
	baseline *Baseline
	// list is what was chosen on the page of single requests.
	list listState

	picked *selection
	raster *chart.Raster // nil for a new one for each chart
}

// perSecond scales a count of a window to a rate: the last one of a finished run is shorter than a second. One that is too
// short to tell a rate is taken as it is.
func perSecond(s *metrics.Snapshot, w *metrics.Window, n int) float64 {
	if age := s.At - w.Start; age >= 500*time.Millisecond && age < time.Second {
		return float64(n) / age.Seconds()
	}
	return float64(n)
}

// recent is the mean rate over the last closed seconds, at most five of them.
func recent(s *metrics.Snapshot, of func(*metrics.Window) int) float64 {
	return lately(s, closedWindows(s), of)
}

// lately is the mean rate over the last of some closed seconds, at most five of them.
func lately(s *metrics.Snapshot, ws []metrics.Window, of func(*metrics.Window) int) float64 {
	ws = ws[max(0, len(ws)-5):]
	if len(ws) == 0 {
		return 0
	}
	sum := 0.0
	for i := range ws {
		sum += perSecond(s, &ws[i], of(&ws[i]))
	}
	return sum / float64(len(ws))
}

// scope names what histograms and tables show: "whole run" or the span.
func (v *view) scope() string {
	if v.whole {
		return spanName(0)
	}
	return v.spanWords()
}

// spanWords name the span: "last 60s", or "60s until -30s" where the charts are scrolled back.
func (v *view) spanWords() string {
	switch back := scrolled(v.s, v.span, v.back); {
	case v.span == 0:
		return spanName(0)
	case back > 0:
		return spanName(v.span) + " until -" + number.Coarse(back)
	}
	return "last " + spanName(v.span)
}

func spanName(d time.Duration) string {
	if d == 0 {
		return "whole run"
	}
	return number.Coarse(d)
}
