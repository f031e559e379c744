package panels

import (
	"sort"
	"time"

	"benchtop/metrics"
)

// selection is the part of a run within the span.
type selection struct {
	closed []*metrics.Window // whole seconds only: their counts are rates
	// Of the whole run or not: see View.serverSpan and View.engines.
	server  map[bool][]metrics.ServerSecond
	engines map[bool][]metrics.Engine

	windows    [3][]*metrics.Window // of the figures, with whole minutes joined
	histograms metrics.WindowHistograms
	merged     [metrics.NumInWindow]bool // latencies whose histogram is merged

	splits [2]*metrics.TTFTSplit  // the parts of TTFT, in the span and in the whole run; nil before the first use
	merges merges                 // of columns, shared likewise
	older  map[olderKey]*olderSum // of the run to compare with, shared by the selections of a dashboard
}

// histogram merges a latency of the windows, once for all panels. It must not be changed.
func (p *selection) histogram(l metrics.Latency) *metrics.Histogram {
	h := &p.histograms[l]
	if !p.merged[l] {
		p.merged[l] = true
		for _, part := range p.windows {
			for _, w := range part {
				h.Merge(&w.Histograms[l])
			}
		}
	}
	return h
}

// selected is the part of the run within the span.
func (v *View) selected() *selection {
	if v.picked == nil {
		v.picked = choose(v.Snapshot, v.Span, v.Back)
	}
	return v.picked
}

func choose(s *metrics.Snapshot, span, back time.Duration) *selection {
	from, to, _ := spanOf(s, span, back)
	out := &selection{closed: within(closedWindows(s), from, to), server: map[bool][]metrics.ServerSecond{},
		engines: map[bool][]metrics.Engine{}, older: map[olderKey]*olderSum{},
		merges: merges{}}
	from, to, all := figureSpan(s, span, back)
	if !all {
		out.windows = s.Minutes.In(within(s.Windows, from, to))
		return out
	}
	for l := range out.histograms {
		out.histograms[l], out.merged[l] = s.Histograms[l], true
	}
	return out
}

// within cuts windows, which are in order of time, to those that begin in [from, to).
func within(ws []*metrics.Window, from, to time.Duration) []*metrics.Window {
	ws = ws[sort.Search(len(ws), func(i int) bool { return ws[i].Start >= from }):]
	return ws[:sort.Search(len(ws), func(i int) bool { return ws[i].Start >= to })]
}

// endless is later than any moment of a run.
const endless = time.Duration(1<<63 - 1)

// spanOf is the chosen stretch of the run, windows that begin in [from, to); all says that it is the whole run. It ends
// back before the last closed second, or with the open one if back is 0. Charts show the warm-up, too.
func spanOf(s *metrics.Snapshot, span, back time.Duration) (from, to time.Duration, all bool) {
	end := ClosedEnd(s)
	if span <= 0 || end == 0 {
		return 0, endless, span <= 0 || s.Plan == nil || s.Plan.Warmup <= 0
	}
	if back = scrolled(s, span, back); back > 0 {
		return end - back - span, end - back, false
	}
	from = end - span
	return from, endless, from <= 0 && (s.Plan == nil || s.Plan.Warmup <= 0)
}

// figureSpan is the part of such a stretch without the warm-up, for figures. A stretch of the warm-up alone, as at the
// beginning of a run, has the figures of the warm-up.
func figureSpan(s *metrics.Snapshot, span, back time.Duration) (from, to time.Duration, all bool) {
	from, to, all = spanOf(s, span, back)
	if all || s.Plan == nil || from >= s.Plan.Warmup || min(to, s.At) <= s.Plan.Warmup {
		return from, to, all
	}
	return s.Plan.Warmup, to, to == endless
}

// scrolled is how far back the charts are: whole seconds, at most so far that they begin with the run, or with what is
// known by the second.
func scrolled(s *metrics.Snapshot, span, back time.Duration) time.Duration {
	if span <= 0 || back <= 0 {
		return 0
	}
	first := time.Duration(0)
	if n := metrics.Joined(s.Windows); n > 0 && n < len(s.Windows) {
		first = s.Windows[n].Start
	}
	return min(back.Truncate(time.Second), max(0, ClosedEnd(s)-span-first))
}

// closedWindows leaves out the second that is still open: its counts are not rates yet. Once the run is over its last
// part of a second counts as well.
func closedWindows(s *metrics.Snapshot) []*metrics.Window {
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

// cursorSecond is the second at the right edge of charts that are scrolled back. Its values stand in their titles. It
// is nil where charts follow the run.
func (v *View) cursorSecond() *metrics.Window {
	if scrolled(v.Snapshot, v.Span, v.Back) <= 0 {
		return nil
	}
	if ws := v.selected().closed; len(ws) > 0 {
		return ws[len(ws)-1]
	}
	return nil
}

// cursorRate is the rate at the right edge of the charts: of the last seconds before it, or over, the mean of the run
// in its report, where there is one and charts show its end.
func (v *View) cursorRate(of func(*metrics.Window) int, over func(*metrics.Report) float64) float64 {
	if v.cursorSecond() != nil {
		return lately(v.Snapshot, v.selected().closed, of)
	}
	return v.rateNow(of, over)
}

// rateNow is the rate of the last seconds, or the mean of the run that is in its report where there is one.
func (v *View) rateNow(of func(*metrics.Window) int, over func(*metrics.Report) float64) float64 {
	if v.Report != nil && over != nil {
		return over(v.Report)
	}
	return recent(v.Snapshot, of)
}

// latelyOf is a latency in the last seconds before the right edge of the charts.
func (v *View) latelyOf(l metrics.Latency) *metrics.Histogram {
	return choose(v.Snapshot, latelySpan, scrolled(v.Snapshot, v.Span, v.Back)).histogram(l)
}

// cursorLevels are the requests held, waiting and running at the right edge of the charts.
func (v *View) cursorLevels() (held, waiting, running int) {
	if w := v.cursorSecond(); w != nil {
		return w.Held, w.Waiting, w.Running
	}
	return v.Held, v.Waiting, v.Running
}

// whole reports whether the titles of charts have figures of the whole run: it is over, and charts show its end.
func (v *View) whole() bool { return v.Report != nil && v.cursorSecond() == nil }

// levelOver is the mean over time and the maximum of a number of requests at the end of each second, without the
// warm-up.
func (v *View) levelOver(of func(*metrics.Window) int) (mean, most float64) {
	ws := v.Windows
	if metrics.Joined(ws) > 0 { // which have means
		ws = v.Report.Timeline
	}
	sum, time := 0.0, 0.0
	for _, w := range ws {
		if w.Start >= v.plan().Warmup {
			took := min(w.Length(), max(v.At-w.Start, 0)).Seconds()
			sum, time, most = sum+float64(of(w))*took, time+took, max(most, float64(of(w)))
		}
	}
	return sum / max(time, 1e-9), most
}

// meanAndMost is a figure over a time.
func meanAndMost(mean, most float64, write func(float64) string) string {
	return write(mean) + ", max " + write(most)
}

// cursorServer is the sample of the server at the right edge of the charts: the newest that is not stale; nil if there
// is none.
func (v *View) cursorServer() *metrics.ServerSecond {
	if w := v.cursorSecond(); w != nil {
		return newServerFinder(v.Server).in(w)
	}
	if n := len(v.Server); n > 0 && (v.State == metrics.Finished || v.At-v.Server[n-1].At < 5*staleAfter) {
		return &v.Server[n-1]
	}
	return nil
}

// cursorClient is the sample of the client at the right edge of the charts; nil if there is none.
func (v *View) cursorClient() *metrics.ClientSecond {
	if w := v.cursorSecond(); w != nil {
		return clientSeconds(v)(w)
	}
	if n := len(v.Client); n > 0 {
		return &v.Client[n-1]
	}
	return nil
}

// cursorMoment is a moment of the last second that charts show.
func (v *View) cursorMoment() time.Duration {
	if w := v.cursorSecond(); w != nil {
		return w.Start + time.Second/2
	}
	return v.At
}

// Selections keeps the merged histograms of the snapshot that is on the screen from one frame to the next.
type Selections struct {
	key  selectionKey
	kept *selection
}

// selectionKey names a selection: of which snapshot, over which span, how far back.
type selectionKey struct {
	s          *metrics.Snapshot
	span, back time.Duration
}

// Fill gives a view the selection that is kept for it, or keeps a new one in its place.
func (k *Selections) Fill(v *View) {
	key := selectionKey{v.Snapshot, v.Span, v.Back}
	if k.kept == nil || k.key != key {
		before := k.kept
		k.key, k.kept = key, v.selected()
		if before != nil {
			k.kept.older, k.kept.merges = before.older, before.merges
		}
	}
	v.picked = k.kept
}

// Back is how far before the last closed second a chart ends, given the moment at which it ends; 0 where it follows the
// run.
func Back(s *metrics.Snapshot, span, until time.Duration) time.Duration {
	if until <= 0 {
		return 0
	}
	return scrolled(s, span, max(0, ClosedEnd(s)-until))
}

// ClosedEnd is the end of the last closed second; 0 if there is none.
func ClosedEnd(s *metrics.Snapshot) time.Duration {
	if ws := closedWindows(s); len(ws) > 0 {
		return ws[len(ws)-1].Start + time.Second
	}
	return 0
}
