package panels

import (
	"fmt"
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// turnsPanel shows how the first latency of a run depends on the place in the conversation, beside the hits of the
// prefix cache. classesPanel compares the classes of requests.
var (
	turnsPanel = Panel{name: "turns", title: turnsTitle, draw: drawTurns,
		empty: func(v *View) bool { return len(v.turnRows()) == 0 }, nothing: nothingYet}
	classesPanel = Panel{name: "classes", title: classesTitle, draw: drawClasses,
		empty: func(v *View) bool { return len(v.classRows()) == 0 }, nothing: nothingYet}
)

// groupRow is a group of requests with the latency by which the run is watched: exact once it is over.
type groupRow struct {
	*metrics.Group
	p50, p99 time.Duration // metrics.Never without samples
}

func (v *View) turnRows() []groupRow {
	return v.groupRows(v.Turns, func(r *metrics.Report) []metrics.Group { return r.Turns })
}

func (v *View) classRows() []groupRow {
	return v.groupRows(v.Classes, func(r *metrics.Report) []metrics.Group { return r.Classes })
}

// groupRows are those of groups so far, or of a report that has some.
func (v *View) groupRows(all []metrics.Group, over func(*metrics.Report) []metrics.Group) (out []groupRow) {
	if v.Report != nil && len(over(v.Report)) > 0 {
		all = over(v.Report)
	}
	for i := range all {
		r := groupRow{&all[i], metrics.Never, metrics.Never}
		wait := v.plan().FirstWait()
		exact, h := &r.Statistics[wait], &r.Histograms[wait]
		switch {
		case exact.N > 0:
			p99, _ := exact.Percentile(99)
			r.p50, r.p99 = number.Seconds(exact.Median/1000), number.Seconds(p99/1000)
		case h.Count() > 0:
			r.p50, r.p99 = h.Quantile(0.5), h.Quantile(0.99)
		}
		out = append(out, r)
	}
	return out
}

// title is the name of the group, fit for the screen.
func (r *groupRow) title() string { return screen.Sanitize(r.Name()) }

// Columns of both tables.
var (
	doneColumn   = column[*groupRow]{"done", 7, func(r *groupRow) screen.Span { return countCell(r.Completed) }, 3}
	p50Column    = column[*groupRow]{"p50", 7, func(r *groupRow) screen.Span { return waitCell(r.p50) }, 0}
	p99Column    = column[*groupRow]{"p99", 7, func(r *groupRow) screen.Span { return waitCell(r.p99) }, 0}
	cachedColumn = column[*groupRow]{"cached", 7, func(r *groupRow) screen.Span { return shareCell(r.Cached.Rate()) },
		0}
	idealColumn = column[*groupRow]{"ideal", 6, func(r *groupRow) screen.Span { return shareCell(r.Ideal.Rate()) }, 0}
)

func waitCell(d time.Duration) screen.Span {
	return cell(orDash(d != metrics.Never, number.Latency, d))
}

func shareCell(share float64) screen.Span {
	return cell(orDash(metrics.Said(share), saidShare, share))
}

// cacheColumnsOf are the columns of the prefix cache that have a figure in any row.
func cacheColumnsOf(rows []groupRow) (out columns[*groupRow]) {
	cached, ideal := false, false
	for i := range rows {
		cached, ideal = cached || rows[i].Cached.Of > 0, ideal || rows[i].Ideal.Of > 0
	}
	if cached {
		out = append(out, cachedColumn)
	}
	if ideal {
		out = append(out, idealColumn)
	}
	return out
}

// groupsTitle names a table of groups, with what it has more than there is room for.
func (v *View) groupsTitle(name string, n, h int) heading {
	out := heading{screen.Strong.Span(name), screen.Text.Span(" " + v.firstWait().Naming().Title)}
	out.when(n > max(1, h-3), screen.Label, " · z shows more")
	return append(out, screen.Label.Span(" whole run"))
}

func turnsTitle(v *View, w, h int) []screen.Span {
	out := v.groupsTitle("by turn", len(v.turnRows()), h)
	if s := v.Sessions; s != nil && v.Report == nil {
		thinking := between + number.Count(s.Thinking) + " thinking"
		active := between + number.Count(s.Active) + " active" + thinking
		done := between + number.Count(s.Completed) + " done"
		if s.Failed > 0 {
			done += between + number.Count(s.Failed) + " failed"
		}
		return noted(out, w, screen.Text, done+active, active, thinking)
	}
	if v.Report == nil || v.Report.Sessions == nil {
		return out
	}
	s := v.Report.Sessions
	return noted(out, w, screen.Text,
		between+number.Count(s.Completed)+" completed"+between+number.Count(s.Failed)+" failed",
		between+number.Count(s.Failed)+" failed")
}

// turnName is the least width of the turns, longestTurns the most, turnBar the least of the bars with the blanks before
// them.
const (
	turnName     = 5
	longestTurns = 12
	turnBar      = 10
)

// drawTurns writes a row for each turn, with a bar up to the median and a tick at the 99th percentile, all on one
// scale.
//
//	turn   done    p50    p99 cached ideal
//	   1    230  412ms  611ms     0%    0%  ━━━━━━━━━━━━──│─
//	   2    229   61ms  180ms    87%   96%  ━╸───│──────────
func drawTurns(c screen.Canvas, v *View) {
	rows := v.turnRows()
	names, most := turnName, time.Duration(1)
	for i := range rows {
		names, most = max(names, screen.Width(rows[i].title())), max(most, rows[i].p99)
	}
	names = min(names, longestTurns)
	name := func(c screen.Canvas, r *groupRow, plain screen.Style) {
		c.Right(names, 0, screen.Shorten(r.title(), names), plain)
	}
	bar := func(c screen.Canvas, r *groupRow, _ screen.Style) {
		if c.W >= turnBar && r.p50 != metrics.Never {
			p50, p99 := float64(r.p50)/float64(most), float64(r.p99)/float64(most)
			chart.Gauge(c.Sub(2, 0, c.W-3, 1), 0, p50, p99, screen.P50)
		}
	}
	figures := append(columns[*groupRow]{doneColumn, p50Column, p99Column}, cacheColumnsOf(rows)...)
	t := table[*groupRow]{
		before:  []field[*groupRow]{{fmt.Sprintf("%*s", names, "turn"), names, name}},
		figures: figures.fit(c.W - names - turnBar),
		after:   field[*groupRow]{draw: bar},
	}
	t.draw(c, len(rows), func(i int) *groupRow { return &rows[i] }, plainRow)
}

func classesTitle(v *View, _, h int) []screen.Span {
	return v.groupsTitle("by class", len(v.classRows()), h)
}

// drawClasses writes a row for each class: its share in the requests, its rate, its latency, and how many of its
// requests were good.
func drawClasses(c screen.Canvas, v *View) {
	rows := v.classRows()
	all := 0
	for i := range rows {
		all += rows[i].Ended()
	}
	length := (v.At - v.plan().Warmup).Seconds()
	if v.Report != nil {
		length = v.Report.Duration
	}
	cols := columns[*groupRow]{
		{"share", 7, func(r *groupRow) screen.Span {
			return shareCell(float64(r.Ended()) / math.Max(1, float64(all)))
		}, 3},
		{"req/s", 7, func(r *groupRow) screen.Span {
			return cell(orDash(length > 0, number.Rate, float64(r.Completed)/length))
		}, 2},
		p50Column, p99Column,
	}
	if v.judges() {
		target, _ := v.target()
		cols = append(cols, column[*groupRow]{"good", 8, func(r *groupRow) screen.Span {
			share, known := part(r.Good, r.Ended())
			if !known || !v.plan().JudgesGroup(r.Group, v.goals()) {
				return cell(dash)
			}
			return goodCell(share, target)
		}, 0})
	}
	for i, col := range cacheColumnsOf(rows) {
		col.spare = 5 - i
		cols = append(cols, col)
	}
	row := func(i int) *groupRow { return &rows[i] }
	names := rowNames(len(rows), row, (*groupRow).title, 6, max(8, c.W/3))
	cols = cols.fit(c.W - names.w)
	names.w = min(names.w, max(0, c.W-cols.width()))
	t := table[*groupRow]{before: []field[*groupRow]{names}, figures: cols}
	t.draw(c, len(rows), row, plainRow)
}

// goodCell is a share of good requests, in the colour of its verdict.
func goodCell(share, target float64) screen.Span {
	out := screen.Span{Text: percent(share), Style: screen.Style{Fg: screen.Good}}
	if share < target {
		out.Style.Fg = screen.Bad
	}
	return out
}
