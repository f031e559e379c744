package panels

import (
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// View is all that a panel knows: a snapshot and the choices of the reader. It has no clock; the same view gives the
// same picture.
type View struct {
	*metrics.Snapshot
	// Span is the time that charts and figures show; 0 means the whole run.
	Span time.Duration
	// Whole shows histograms and tables of the whole run instead of the span.
	Whole bool
	// Linear draws histograms on a linear axis.
	Linear bool
	screen.Terminal
	// Scroll is how many lines the log is scrolled back, or the report on.
	Scroll int
	// Filter is the words of the log's filter, Text the lines of the report.
	Filter string
	Text   []string
	// Latency is the latency of the Latency page.
	Latency metrics.Latency
	// Back is how long before now, or before the end, the charts end; 0 follows the run.
	Back time.Duration
	// Baseline is an older run to compare with; nil for none.
	Baseline *Baseline
	// List is the state of the page of single requests.
	List List

	joined bool // the panel lies below another one of its frame, which has the words of annotations
	picked *selection
	Raster *chart.Raster // nil for a new one for each chart
}

// below is the view of a panel that lies below another one of its frame.
func (v *View) below() *View {
	v.selected()
	out := *v
	out.joined = true
	return &out
}

// perSecond scales a count of a window to a rate: the last one of a finished run is shorter than a second. One that is
// too short to tell a rate is taken as it is.
func perSecond(s *metrics.Snapshot, w *metrics.Window, n int) float64 {
	if w.Seconds > 0 {
		return float64(n) / float64(w.Seconds)
	}
	if age := s.At - w.Start; age >= 500*time.Millisecond && age < time.Second {
		return float64(n) / age.Seconds()
	}
	return float64(n)
}

// latelySpan is the time of the figures in the titles of charts over time.
const latelySpan = 5 * time.Second

// recent is the mean rate over the last closed seconds, at most five of them.
func recent(s *metrics.Snapshot, of func(*metrics.Window) int) float64 {
	return lately(s, closedWindows(s), of)
}

// lately is the mean rate over the last of some closed seconds, at most five of them.
func lately(s *metrics.Snapshot, ws []*metrics.Window, of func(*metrics.Window) int) float64 {
	ws = ws[max(0, len(ws)-int(latelySpan/time.Second)):]
	if len(ws) == 0 {
		return 0
	}
	sum := 0.0
	for i := range ws {
		sum += perSecond(s, ws[i], of(ws[i]))
	}
	return sum / float64(len(ws))
}

// scope names the part of the run in histograms and tables: "whole run" or the span.
func (v *View) scope() string {
	if v.Whole {
		return SpanName(0)
	}
	return v.spanText()
}

// spanText names the span: "last 60s", or "0:06 to 1:06" where the charts are scrolled back; "whole run" where all of
// the run lies in it.
func (v *View) spanText() string {
	switch from, to, all := spanOf(v.Snapshot, v.Span, v.Back); {
	case scrolled(v.Snapshot, v.Span, v.Back) > 0:
		return number.RunTime(from) + " to " + number.RunTime(to)
	case all || from <= 0:
		return SpanName(0)
	}
	return "last " + SpanName(v.Span)
}

// SpanName names a span on the line of keys.
func SpanName(d time.Duration) string {
	if d == 0 {
		return "whole run"
	}
	return number.Coarse(d)
}
