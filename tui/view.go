package tui

import (
	"time"

	"benchtop/metrics"
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
	// mono: there is no colour, so lines carry their names. filled: there are colours for areas below lines.
	mono, filled, ascii bool
	// scroll is how many lines the log is scrolled back.
	scroll int

	picked *selection
}

// selection is the part of a run within the span.
type selection struct {
	closed                []metrics.Window // whole seconds only: their counts are rates
	ttft, tpot, itl, e2el metrics.Histogram
}

// selected merges the windows of the span, once for all panels.
func (v *view) selected() *selection {
	if v.picked == nil {
		v.picked = choose(v.s, v.span)
	}
	return v.picked
}

func choose(s *metrics.Snapshot, span time.Duration) *selection {
	closed := closedWindows(s)
	from, all := spanStart(s, span)
	if all {
		return &selection{closed: closed, ttft: s.TTFT, tpot: s.TPOT, itl: s.ITL, e2el: s.E2EL}
	}
	for len(closed) > 0 && closed[0].Start < from {
		closed = closed[1:]
	}
	out := &selection{closed: closed}
	for i := len(s.Windows) - 1; i >= 0 && s.Windows[i].Start >= from; i-- {
		w := &s.Windows[i]
		out.ttft.Merge(&w.TTFT)
		out.tpot.Merge(&w.TPOT)
		out.itl.Merge(&w.ITL)
		out.e2el.Merge(&w.E2EL)
	}
	return out
}

// spanStart is where the span begins; all says that it is the whole run. A span that reaches into the warm-up shows that
// part too, which figures of the whole run leave out.
func spanStart(s *metrics.Snapshot, span time.Duration) (from time.Duration, all bool) {
	if closed := closedWindows(s); span > 0 && len(closed) > 0 {
		from = closed[len(closed)-1].Start + time.Second - span
	}
	return from, span == 0 || from <= 0 && (s.Plan == nil || s.Plan.Warmup <= 0)
}

// closedWindows leaves out the second that is still open: its counts are not rates yet. Once the run is over its last
// part of a second counts as well.
func closedWindows(s *metrics.Snapshot) []metrics.Window {
	ws := s.Windows
	for len(ws) > 0 {
		age := s.At - ws[len(ws)-1].Start
		if age >= time.Second || s.State == metrics.Finished && age > 0 {
			break
		}
		ws = ws[:len(ws)-1]
	}
	return ws
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
	ws := closedWindows(s)
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

// scope names what histograms and tables show: "last 60s" or "whole run".
func (v *view) scope() string {
	if v.whole || v.span == 0 {
		return "whole run"
	}
	return "last " + spanName(v.span)
}

func spanName(d time.Duration) string {
	if d == 0 {
		return "whole run"
	}
	return coarse(d)
}
