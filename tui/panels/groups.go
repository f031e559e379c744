package panels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// turnsPanel shows how the first latency of a run depends on the place in the conversation, beside the hits of the
// prefix cache. classesPanel compares the classes of requests, endpointsPanel the servers and models that they go to.
var (
	turnsPanel = Panel{name: "turns", title: turnsTitle, draw: drawTurns,
		empty: func(v *View) bool { return len(v.turnRows()) == 0 }, nothing: nothingYet}
	classesPanel   = groupsPanel("classes", func(*View) string { return "by class" }, (*View).classRows)
	endpointsPanel = groupsPanel("endpoints", (*View).endpointsName, (*View).endpointRows)
)

// placesPanel compares the places that headers of answers name.
var placesPanel = groupsPanel("places", (*View).placesName, (*View).placeRows)

// placesName says by which headers.
func (v *View) placesName() string {
	return foreignName("by " + strings.Join(v.plan().AxisHeaders(), ", "))
}

// placeRows are those of the axes by headers. Servers and adapters are endpoints.
func (v *View) placeRows() (out []groupRow) {
	headers := v.plan().AxisHeaders()
	for i, all := range v.Places {
		a := v.plan().Axes[i]
		if a.By != metrics.AxisHeader {
			continue
		}
		var over []metrics.Group
		if r := v.report(); i < len(r.Compared) {
			over = r.Compared[i].Places
		}
		rows := v.groupRows(all, over)
		for k := range rows {
			rows[k].slow = v.slow(a, rows[k].Place)
			if len(headers) > 1 {
				rows[k].title = foreignName(a.Header) + " " + rows[k].title
			}
		}
		out = append(out, rows...)
	}
	return out
}

// slow is the ratio by which a place of an axis is slow, once the run is over; 0 for none.
func (v *View) slow(a metrics.Axis, name string) float64 {
	for i := range v.report().Compared {
		if c := &v.Report.Compared[i]; c.Axis == a {
			return c.Slow(name)
		}
	}
	return 0
}

// groupsPanel compares groups of requests.
func groupsPanel(name string, by func(*View) string, rows func(*View) []groupRow) Panel {
	return Panel{name: name, empty: func(v *View) bool { return len(rows(v)) == 0 }, nothing: nothingYet,
		title: func(v *View, _, _ int) []screen.Span { return v.groupsTitle(by(v)) },
		draw:  func(c screen.Canvas, v *View) { v.drawGroups(c, rows(v)) }}
}

// groupRow is a group of requests with the latency by which the run is watched: exact once it is over.
type groupRow struct {
	*metrics.Group
	title    string
	p50, p99 time.Duration // metrics.Never without samples
	slow     float64       // by which ratio it is slow beside the others, 0 where that is not said
}

func (v *View) turnRows() []groupRow { return v.groupRows(v.Turns, v.report().Turns) }

func (v *View) classRows() []groupRow { return v.groupRows(v.Classes, v.report().Classes) }

// endpointRows are those of the endpoints. A report has servers, which are the same where each has one model.
func (v *View) endpointRows() []groupRow {
	over := v.report().Servers
	if len(over) != len(v.Endpoints) {
		over = nil
	}
	out := v.groupRows(v.Endpoints, over)
	for i := range out {
		e := &v.Endpoints[i]
		out[i].title = v.endpointName(e.Server, e.Model)
		out[i].slow = max(v.slow(metrics.Axis{By: metrics.AxisServer}, v.plan().ServerURL(e.Server)),
			v.slow(metrics.Axis{By: metrics.AxisAdapter}, e.Model))
	}
	return out
}

// endpointsName says how endpoints differ.
func (v *View) endpointsName() string {
	if len(v.plan().Servers) > 1 {
		return "by server"
	}
	return "by model"
}

// endpointName is what is at a server, such as a model; the server where nothing is; or both where there are several
// servers.
func (v *View) endpointName(server int, what string) string {
	of := v.plan().ServerURL(server)
	if of == "" && what == "" {
		of = cmp.Or(v.plan().Address(), "server")
	}
	return strings.TrimSpace(foreignName(strings.TrimPrefix(of, "http://")) + " " + foreignName(what))
}

// longestName bounds foreign names that are drawn, in bytes, so that long ones cost no time. It is wider than any
// column, which cuts their middle.
const longestName = 400

// foreignName is a name fit for the screen. Of a long one both ends are left.
func foreignName(s string) string {
	if n := len(s); n > longestName {
		s = s[:longestName/2] + s[n-longestName/2:]
	}
	return screen.Sanitize(s)
}

// groupRows are those of groups so far, or of a report that has some.
func (v *View) groupRows(all, over []metrics.Group) (out []groupRow) {
	if len(over) > 0 {
		all = over
	}
	for i := range all {
		r := groupRow{Group: &all[i], title: foreignName(all[i].Name())}
		r.p50, r.p99 = r.percentiles(v.plan().FirstWait())
		out = append(out, r)
	}
	return out
}

// percentiles are the median and the 99th of a latency, exact once the run is over.
func (r *groupRow) percentiles(l metrics.Latency) (p50, p99 time.Duration) {
	exact, h := &r.Statistics[l], &r.Histograms[l]
	switch {
	case exact.N > 0:
		p99, _ := exact.Percentile(99)
		return number.Seconds(exact.Median / 1000), number.Seconds(p99 / 1000)
	case h.Count() > 0:
		return h.Quantile(0.5), h.Quantile(0.99)
	}
	return metrics.Never, metrics.Never
}

// Columns of all tables of groups.
var (
	p50Column = column[*groupRow]{"p50", 7, func(r *groupRow) screen.Span { return waitCell(r.p50) }, 0}
	p99Column = column[*groupRow]{"p99", 7, func(r *groupRow) screen.Span { return waitCell(r.p99) }, 0}
)

func countCell(n int) screen.Span { return screen.Text.Span(number.Count(n)) }

func waitCell(d time.Duration) screen.Span {
	return cell(orDash(d != metrics.Never, number.Latency, d))
}

func shareCell(share float64) screen.Span {
	return cell(orDash(metrics.Said(share), saidShare, share))
}

// moreFigures are the columns of a table of groups that not all runs have.
func (v *View) moreFigures(rows []groupRow) (out columns[*groupRow]) {
	var all metrics.Counts
	for i := range rows {
		all.Merge(&rows[i].Counts)
	}
	for _, c := range metrics.ColumnsOf(v.plan(), &all) {
		col := column[*groupRow]{c.Heading, len(c.Heading) + 1, func(r *groupRow) screen.Span {
			return shareCell(c.Share(&r.Counts))
		}, c.Spare}
		switch {
		case c.Count != nil:
			col.w, col.of = max(8, col.w), func(r *groupRow) screen.Span { return countCell(c.Count(&r.Counts)) }
		case c.Strict:
			col.of = func(r *groupRow) screen.Span {
				share := c.Share(&r.Counts)
				return cell(orDash(metrics.Said(share), percent, share))
			}
		}
		out = append(out, col)
	}
	return out
}

// groupsTitle names a table of groups.
func (v *View) groupsTitle(name string) heading {
	return heading{screen.Strong.Span(name), screen.Text.Span(" " + v.firstWait().Naming().Title),
		screen.Label.Span(" whole run")}
}

func turnsTitle(v *View, w, _ int) []screen.Span {
	out := v.groupsTitle("by turn")
	if s := v.Sessions; s != nil && v.Report == nil {
		thinking := between + number.Count(s.Thinking) + " thinking"
		active := between + number.Count(s.Active) + " active" + thinking
		done := between + number.Count(s.Completed) + " done"
		if s.Failed > 0 {
			done += between + number.Count(s.Failed) + " failed"
		}
		return noted(out, w, screen.Text, done+active, active, thinking)
	}
	s := v.report().Sessions
	if s == nil {
		return out
	}
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
		names, most = max(names, screen.Width(rows[i].title)), max(most, rows[i].p99)
	}
	names = min(names, longestTurns)
	name := func(c screen.Canvas, r *groupRow, plain screen.Style) {
		c.Right(names, 0, screen.Shorten(r.title, names), plain)
	}
	bar := func(c screen.Canvas, r *groupRow, _ screen.Style) {
		if c.W >= turnBar && r.p50 != metrics.Never {
			p50, p99 := float64(r.p50)/float64(most), float64(r.p99)/float64(most)
			chart.Gauge(c.Sub(2, 0, c.W-3, 1), 0, p50, p99, screen.P50)
		}
	}
	more := v.moreFigures(rows)
	for i := range more {
		if more[i].spare > 1 {
			more[i].spare = 0 // rather than the hits of the cache the bars go
		}
	}
	done := func(r *groupRow) screen.Span { return countCell(r.Completed) }
	figures := append(columns[*groupRow]{{"done", 7, done, 3}, p50Column, p99Column}, more...)
	t := table[*groupRow]{
		before:  []field[*groupRow]{{fmt.Sprintf("%*s", names, "turn"), names, name}},
		figures: figures.fit(c.W - names - turnBar),
		after:   field[*groupRow]{draw: bar},
	}
	t.draw(c, len(rows), func(i int) *groupRow { return &rows[i] }, plainRow)
}

// drawGroups writes a row for each group, where there is no room for all those that a person looks for first.
func (v *View) drawGroups(c screen.Canvas, rows []groupRow) {
	row := func(i int) *groupRow { return &rows[i] }
	t := table[*groupRow]{figures: v.groupFigures(rows)}
	t.name(c.W, rowNames(len(rows), row, func(r *groupRow) string { return r.title }))
	if len(rows) > c.H-1 {
		t.order = "worst"
		slices.SortStableFunc(rows, func(a, b groupRow) int {
			return cmp.Or(lastly(a.Name() == metrics.OtherModels, b.Name() == metrics.OtherModels),
				cmp.Compare(v.bad(&b), v.bad(&a)), cmp.Compare(b.p99, a.p99))
		})
	}
	t.draw(c, len(rows), row, plainRow)
}

// lastly puts a row that joins many, and is none of them, behind the others.
func lastly(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// bad is the share of a group's requests that is not good or, without objectives, that failed.
func (v *View) bad(r *groupRow) float64 {
	if v.judgesRow(r) {
		return 1 - r.GoodShare()
	}
	return float64(r.Failed) / float64(r.Ended())
}

// judgesRow reports whether it is known how many of a group are good: those of places are counted by the objectives of
// the end of the run.
func (v *View) judgesRow(r *groupRow) bool {
	return v.plan().JudgesGroup(r.Group, v.goals()) && (r.Place == "" || v.Report != nil)
}

// groupFigures are the load of each group, its latency, its output, and what became of its requests.
func (v *View) groupFigures(rows []groupRow) columns[*groupRow] {
	all, failed := 0, 0
	for i := range rows {
		all, failed = all+rows[i].Ended(), failed+rows[i].Failed
	}
	length := (v.At - v.plan().Warmup).Seconds()
	if v.Report != nil {
		length = v.Report.Duration
	}
	perSecond := func(n int, write func(float64) string) screen.Span {
		return cell(orDash(length > 0, write, float64(n)/length))
	}
	p50 := p50Column
	p50.spare = 3
	out := columns[*groupRow]{
		{"share", 7, func(r *groupRow) screen.Span { return shareCell(float64(r.Ended()) / float64(all)) }, 8},
		{"in flight", 10, func(r *groupRow) screen.Span { return countCell(r.InFlight) }, 5},
		{"req/s", 7, func(r *groupRow) screen.Span { return perSecond(r.Completed, number.Rate) }, 4},
		p50, p99Column,
	}
	if v.plan().Generates() {
		out = append(out, column[*groupRow]{"tok/s", 7,
			func(r *groupRow) screen.Span { return perSecond(r.OutputTokens, number.Short) }, 2})
	}
	places := len(rows) > 0 && rows[0].Place != ""
	if places && v.plan().Measures(metrics.TPOT) { // by which decoding is seen
		out = append(out, column[*groupRow]{"TPOT", 7, func(r *groupRow) screen.Span {
			p50, _ := r.percentiles(metrics.TPOT)
			return waitCell(p50)
		}, 1})
	}
	if v.judges() && !(places && v.Report == nil) {
		out = append(out, column[*groupRow]{"good", 8, v.goodOf, 0})
	}
	if slices.ContainsFunc(rows, func(r groupRow) bool { return r.slow > 0 }) {
		out = append(out, column[*groupRow]{"slow", 7, slowOf, 0})
	}
	if failed > 0 {
		out = append(out, column[*groupRow]{"failed", 7, failedOf, 0})
	}
	return append(out, v.moreFigures(rows)...)
}

// slowOf is how many times as long those of the others the latencies of a slow place are.
func slowOf(r *groupRow) screen.Span {
	if r.slow == 0 {
		return cell("")
	}
	return screen.Span{Text: fmt.Sprintf("%.1fx", r.slow), Style: screen.Warning}
}

func failedOf(r *groupRow) screen.Span {
	out := countCell(r.Failed)
	if r.Failed > 0 {
		out.Style = screen.Warning
	}
	return out
}

// goodOf is the share of good requests of a group, in the colour of its verdict.
func (v *View) goodOf(r *groupRow) screen.Span {
	share, known := part(r.Good, r.Ended())
	if !known || !v.judgesRow(r) {
		return cell(dash)
	}
	out := screen.Span{Text: percent(share), Style: screen.Style{Fg: screen.Good}}
	if target, _ := v.target(); share < target {
		out.Style.Fg = screen.Bad
	}
	return out
}
