package panels

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// series is one line of a plot: a value per closed window, NaN where there is none.
type series struct {
	name   string
	now    string // its value at the right edge, for the legend; "" for none
	brief  string // see legendItem, as short
	short  string
	color  screen.Color
	filled bool // see chart.Line
	sign   rune
	sparse bool
	value  func(w *metrics.Window) float64
	// percentile is the percentile that the line shows, nil for another figure. Seconds that share a column have the
	// percentile of all their samples, not the mean of their percentiles.
	percentile *percentile
	// alone says that the baseline has no line behind this one.
	alone bool
	spare bool // see legendItem
}

// plot is a chart of series over the chosen span.
type plot struct {
	v      *View
	chart  chart.Plot // all but its data; without other words there is nothing to show yet
	limits string     // the key of the latency whose limits are drawn as lines, "" for none
	series []series   // later ones are drawn over earlier ones
	title  string
	// compared draws the baseline behind, and names it and its figure, what, in the legend. reversed lists the last
	// line first. notes are added to the legend where there is room, the longest first.
	compared, reversed bool
	what               string
	notes              []string
	window             string   // the time of the values in the legend
	overRun            bool     // the values are those of the whole run once that is over
	older              []series // of the run to compare with, as many as there are series or none, see versus
}

// items are the lines for the legend. Without dots a line has its sign behind its name.
func (p *plot) items() []legendItem {
	out := make([]legendItem, 0, len(p.series))
	for _, s := range p.series {
		if s.sign != 0 && p.v.ASCII {
			s.name += " " + string(s.sign)
		}
		out = append(out, legendItem{s.color, s.name, s.now, s.spare, s.brief, s.short})
	}
	if p.reversed {
		slices.Reverse(out)
	}
	return out
}

// legend is the title of a panel w wide and h high. Lines without room for their lanes are notes.
func (p *plot) legend(_ *View, w, h int) []screen.Span {
	items := p.items()
	var notes []string
	if p.chart.Lanes && h-2 < chart.LanesRows {
		for _, s := range items[1:] {
			notes = append(notes, between+s.name+" "+s.value)
		}
		items = items[:1]
	}
	out := legend(w, p.title, items...)
	if p.overRun {
		out = p.v.runLegend(w, p.title, items...)
	}
	for _, s := range notes {
		out = noted(out, w, screen.Text, s)
	}
	if !p.compared {
		return out
	}
	if p.window != "" {
		out = noted(out, w, screen.Label, between+p.window)
	}
	out = noted(out, w, screen.Label, p.v.baselineNotes(p.what)...)
	return noted(out, w, screen.Text, p.notes...)
}

func (p plot) draw(c screen.Canvas) {
	out := p.chart
	out.Nothing, out.Wordless = cmp.Or(out.Nothing, nothingYet), p.v.joined
	if n := chart.Columns(c); n > 0 {
		t, ws, end := p.v.overTime()
		group := t.Group(2 * n) // as many whole seconds as share a column of dots
		out.Time = t
		merged := p.v.selected().merges
		out.Lines = chartLines(p.series, p.v.sharing(ws, group), end, t, merged)
		if o := p.v.older(); o != nil {
			for i, l := range chartLines(p.older, o.sharing(o.olderWindows(t), group), endless, t, merged) {
				out.Lines[i].Older = l.Points
			}
		}
		out.Limits, out.Annotations = p.v.limits(p.limits), p.v.annotations()
	}
	out.Draw(c, p.v.Raster)
}

// chartLines reduces the windows of columns to their mean, or to the percentile of all their samples.
func chartLines(of []series, columns iter.Seq[[]*metrics.Window], end time.Duration, t chart.TimeAxis,
	kept merges) []chart.Line {
	out := make([]chart.Line, len(of))
	for i, s := range of {
		out[i] = chart.Line{Name: s.name, Color: s.color, Filled: s.filled, Sign: s.sign, Sparse: s.sparse}
	}
	if len(of) == 0 {
		return out
	}
	merged := merger{kept: kept}
	for ws := range columns {
		last := ws[len(ws)-1]
		at := min(last.Start+last.Length(), end)
		if at < t.From {
			continue
		}
		merged.ws = ws
		for i := range of { // all lines while the seconds are at hand: there may be a day of them
			out[i].Points = append(out[i].Points, chart.Point{At: at, Value: of[i].of(&merged)})
		}
	}
	return out
}

// merger merges a latency of the windows of a column, once for all lines that show it and for all frames.
type merger struct {
	ws   []*metrics.Window
	kept merges
}

// merges are histograms of columns: a window never changes, so that most columns of a frame are those of the last one.
type merges map[mergeKey]*merge

type mergeKey struct {
	latency metrics.Latency
	first   *metrics.Window
	n       int
}

type merge struct {
	ws  []*metrics.Window
	sum metrics.Histogram
}

// mostMerges bounds merges: ten charts of all latencies have fewer columns.
const mostMerges = 8192

// histogram is the latency in all the windows. It must not be changed.
func (m *merger) histogram(l metrics.Latency) *metrics.Histogram {
	if len(m.ws) == 1 {
		return &m.ws[0].Histograms[l]
	}
	key := mergeKey{l, m.ws[0], len(m.ws)}
	k := m.kept[key]
	if k == nil || !slices.Equal(k.ws, m.ws) {
		if len(m.kept) >= mostMerges {
			clear(m.kept)
		}
		k = &merge{ws: slices.Clone(m.ws)}
		for _, w := range m.ws {
			k.sum.Merge(&w.Histograms[l])
		}
		m.kept[key] = k
	}
	return &k.sum
}

// of is the value of a line for the windows of a column, NaN for none.
func (s *series) of(column *merger) float64 {
	if s.percentile != nil {
		return s.percentile.of(column.histogram(s.percentile.latency))
	}
	sum, n := 0.0, 0
	for i := range column.ws {
		w := column.ws[i]
		if v := s.value(w); !math.IsNaN(v) {
			seconds := max(1, w.Seconds)
			sum, n = sum+number.Sane(v)*float64(seconds), n+seconds
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// sharing cuts windows of the run into those that share a group of so many seconds, where groups are of minutes with
// whole minutes joined.
func (v *View) sharing(ws []*metrics.Window, group int) iter.Seq[[]*metrics.Window] {
	parts := [3][]*metrics.Window{ws}
	if len(ws) > 0 && ws[0].Seconds > 0 { // the run is known by the minute there
		group = (group + 59) / 60 * 60
	}
	if group%60 == 0 {
		parts = v.Minutes.In(ws)
	}
	number := func(w *metrics.Window) int { return int(w.Start/time.Second) / group }
	return func(yield func([]*metrics.Window) bool) {
		var before []*metrics.Window // the last ones of a part may share their group with the first ones of the next
		for _, rest := range parts {
			for len(rest) > 0 {
				n := 1
				// a damaged result may have a second twice
				for of := number(rest[0]); n < len(rest) && number(rest[n]) <= of; {
					n++
				}
				some := rest[:n]
				switch {
				case len(before) == 0:
				case number(before[0]) == number(some[0]):
					some = slices.Concat(before, some)
				case !yield(before):
					return
				}
				before, rest = some, rest[n:]
			}
		}
		if len(before) > 0 {
			yield(before)
		}
	}
}

// overTime is the axis of charts over time, and the closed windows it shows, which end at a moment. Without any there
// is nothing to show.
func (v *View) overTime() (t chart.TimeAxis, ws []*metrics.Window, end time.Duration) {
	ws = v.selected().closed
	if len(ws) == 0 {
		return chart.TimeAxis{}, nil, 0
	}
	last := ws[len(ws)-1]
	end = min(last.Start+time.Second, max(v.At, last.Start+time.Millisecond))
	t.Shown = v.timeShown(end)
	t.From = max(0, end-t.Shown)
	if warmup := v.plan().Warmup; warmup > 0 && warmup <= v.At {
		t.Warm = warmup
	}
	return t, ws, end
}

// timeShown is the time that charts show that end at a moment: the span, but no more than the run. A run of known
// length has all of its axis from the beginning and fills it, unless it is so long that it would be a column in
// minutes; for another one it is the next round time, so that the charts do not change with every second.
func (v *View) timeShown(end time.Duration) time.Duration {
	shown := time.Duration(0)
	length, known := v.plan().Length()
	switch {
	case v.State == metrics.Finished && v.Replay == nil:
		shown = max(end, time.Second)
	case v.Replay != nil:
		shown = max(v.Replay.Length, end)
	case known && length >= end && length <= filledMost:
		shown = length
	default:
		shown = max(roundTime(end), 30*time.Second)
		if known && length >= end {
			shown = min(shown, length)
		}
	}
	if v.Span > 0 {
		return min(shown, v.Span)
	}
	return shown
}

// filledMost is the longest run whose axis is whole from its beginning.
const filledMost = 15 * time.Minute

// roundTime is the next round time that is at least d.
func roundTime(d time.Duration) time.Duration {
	for unit := time.Second; ; unit *= 60 {
		for _, n := range []time.Duration{10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 450, 600} {
			if n*unit >= d || unit > time.Hour {
				return max(n*unit, d)
			}
		}
	}
}

// Empty reports whether a run was named that has no requests to compare with.
func (b *Baseline) Empty() bool {
	if b == nil || b.Report == nil || b.Report.Completed > 0 || b.Report.Failed > 0 {
		return false
	}
	sent := func(w *metrics.Window) bool { return w.Sent > 0 }
	return b.Report.Statistics[metrics.TTFT].Mean == 0 && b.Report.Statistics[metrics.E2EL].Mean == 0 &&
		!slices.ContainsFunc(b.Report.Timeline, sent)
}

// older is the baseline as a view of its own, nil if there is none that can be drawn.
func (v *View) older() *View {
	if v.Baseline == nil || v.Baseline.Report == nil || len(v.Baseline.Report.Timeline) == 0 {
		return nil
	}
	r := v.Baseline.Report
	return &View{Snapshot: &metrics.Snapshot{
		At: r.Ended, Plan: &r.Plan, State: metrics.Finished, Windows: r.Timeline, Minutes: v.Baseline.joined(),
		Marks:      r.Events,
		Client:     r.Client.Seconds,
		Objectives: r.Objectives, OutputExact: true, DrainBy: metrics.Never,
	}}
}

// olderWindows are those of the baseline, whose view this is, at the moments of a chart, counted from the start of
// either run.
func (v *View) olderWindows(t chart.TimeAxis) []*metrics.Window {
	return within(closedWindows(v.Snapshot), max(0, t.From-time.Second), t.From+t.Shown)
}

// versus draws the same lines of the baseline behind those of a plot.
func (v *View) versus(p plot, build func(v *View) plot) plot {
	o := v.older()
	if o == nil || !p.compared {
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

// baselineNotes name the baseline in the title of a chart that draws it, the longest first; none without a baseline, or
// where it has no seconds.
func (v *View) baselineNotes(what string) []string {
	if v.older() == nil {
		return nil
	}
	return []string{"  ┄ " + v.baselineName() + what, "  ┄ baseline", "  ┄"}
}

// baselineName is the name of the baseline on the screen.
func (v *View) baselineName() string {
	return screen.ShortenMiddle(screen.Sanitize(v.Baseline.Name), 24)
}

// finishedWhole reports whether the screen shows the whole of a run that is over. It is compared with the whole
// baseline.
func (v *View) finishedWhole() bool {
	return v.State == metrics.Finished && (v.Whole || v.Span == 0)
}

// olderStretch is the part of the baseline that the figures of this run are compared with: the same seconds, counted
// from the start. ok is false where that is the whole baseline: this run is over, or the baseline has no seconds or was
// over before.
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

// olderKey names an olderSum: a latency, in the span or from the start.
type olderKey struct {
	latency metrics.Latency
	whole   bool
}

// olderSum is a latency of the baseline over a stretch. The sum from its start only grows, so it is kept.
type olderSum struct {
	metrics.Histogram
	from, to time.Duration
}

// olderSum is a latency of the baseline in the seconds that begin in [from, to). The histogram must not be changed.
func (v *View) olderSum(l metrics.Latency, from, to time.Duration) *metrics.Histogram {
	older := v.selected().older
	k := olderKey{l, v.Whole}
	sum := older[k]
	if sum == nil || sum.from != from || sum.to > to {
		sum = &olderSum{from: from, to: from}
		older[k] = sum
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
	// minutes of its timeline; nil before the first use.
	minutes *metrics.Minutes
}

// joined are the minutes of the baseline.
func (b *Baseline) joined() metrics.Minutes {
	if b.minutes == nil {
		all := metrics.Minutes{}.Follow(&metrics.Snapshot{Windows: b.Report.Timeline, Client: b.Report.Client.Seconds},
			0)
		b.minutes = &all
	}
	return *b.minutes
}
