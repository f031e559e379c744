// Package panels turns a snapshot and a size into pages of panels, the header and its key figures. It takes plain data, a View, and knows neither
// keys nor time: the model of the dashboard fills a View and draws.
//
//	View ──> Layout: named rectangles ──> Named(name).Draw: a panel on its rectangle
//	  └────> Header.Draw, DrawFigures: the lines above
//
// A page is in pages.go. The name of a panel is the name of its file, or stands in panel.go.
package panels

import (
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// View is all that a panel knows: a snapshot and the choices of the reader. It has no clock; the same view gives the same picture.
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

	picked *selection
	Raster *chart.Raster // nil for a new one for each chart
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

// scope names the part of the run in histograms and tables: "whole run" or the span.
func (v *View) scope() string {
	if v.Whole {
		return SpanName(0)
	}
	return v.spanText()
}

// spanText names the span: "last 60s", or "60s until -30s" where the charts are scrolled back.
func (v *View) spanText() string {
	switch back := scrolled(v.Snapshot, v.Span, v.Back); {
	case v.Span == 0:
		return SpanName(0)
	case back > 0:
		return SpanName(v.Span) + " until -" + number.Coarse(back)
	}
	return "last " + SpanName(v.Span)
}

func SpanName(d time.Duration) string {
	if d == 0 {
		return "whole run"
	}
	return number.Coarse(d)
}
