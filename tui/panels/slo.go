package panels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// plan is the plan, never nil.
func (v *View) plan() *metrics.Plan {
	if v.Plan == nil {
		return &metrics.Plan{}
	}
	return v.Plan
}

// report is that of a run that is over, one without figures for another; never nil. Nobody changes it.
func (v *View) report() *metrics.Report { return cmp.Or(v.Report, &noReport) }

var noReport metrics.Report

// ofStreams are the panels, columns and facts that only a run has whose answers come in chunks.
var (
	ofStreams = []string{"itl", "itl over time", "TTFT", "TPOT"}
	ofTokens  = []string{"tok out", "tokens out", "answer lengths", "finish reasons"}
)

// possible leaves out what the run cannot measure.
func possible[S ~[]T, T any](v *View, all S, name func(T) string) S {
	streams, tokens := v.plan().Measures(metrics.ITL), v.plan().Generates()
	return slices.DeleteFunc(all, func(x T) bool {
		return !streams && slices.Contains(ofStreams, name(x)) || !tokens && slices.Contains(ofTokens, name(x))
	})
}

// ShownObjectives are the objectives in force that can be shown.
func (v *View) ShownObjectives() []metrics.Objective {
	var out []metrics.Objective
	for _, o := range v.goals() {
		if o.Metric < metrics.NumObjectives {
			out = append(out, o)
		}
	}
	return out
}

// sloLines is how many lines the panel needs for a plan; 0 means that there is nothing to show.
func sloLines(s *metrics.Snapshot) int {
	v := &View{Snapshot: s}
	n := len(v.ShownObjectives())
	if v.judges() {
		n++ // for all of them together
	}
	return n + len(v.plan().Gates)
}

// part is a share of 1.
func part(n, of int) (share float64, known bool) {
	if of <= 0 {
		return 0, false
	}
	return min(number.Sane(float64(n)/float64(of)), 1), true
}

// totals count the requests of the span, or of the whole run.
func (v *View) totals() metrics.Counts {
	from, to, all := figureSpan(v.Snapshot, v.Span, v.Back)
	if v.Whole || all {
		return v.Totals
	}
	return sum(within(v.Windows, from, to))
}

// sum adds up seconds. The output tokens are those that arrived in them.
func sum(ws []*metrics.Window) (t metrics.Counts) {
	output := 0
	for i := range ws {
		t.Merge(&ws[i].Counts)
		output += ws[i].TokensOut
	}
	t.OutputTokens = output
	return t
}

// goodput is the share of the requests that ended which met every objective, with so many in flight that have missed
// one.
func goodput(t *metrics.Counts, inFlight int) (share float64, known bool) {
	return part(t.Good, t.Ended()+inFlight)
}

// missing are the requests in flight that count as ended, since they have missed an objective; none where figures end
// before now.
func (v *View) missing() metrics.MissCount {
	if v.Report != nil || scrolled(v.Snapshot, v.Span, v.Back) > 0 && !v.Whole {
		return metrics.MissCount{}
	}
	return v.Missed
}

// target is the goodput to reach, as a share of 1; own says that a gate asks for it. A single objective has to be met
// as often, since a request is good only if it meets them all.
func (v *View) target() (share float64, own bool) { return v.plan().EnoughGood() }

// sloRow is one line: a gauge or, without one, a gate.
type sloRow struct {
	name, value string
	gauge       bool
	share       float64
	verdict     verdict
}

type verdict uint8

const (
	unknown verdict = iota
	fine
	missed
)

func (v verdict) color() screen.Color {
	return [...]screen.Color{screen.Plain, screen.Good, screen.Bad}[v]
}

// goodputName names the row for all objectives together.
const goodputName = "goodput"

// sloRows are all rows in the order of the plan.
func (v *View) sloRows() []sloRow {
	var out []sloRow
	t, late := v.totals(), v.missing()
	target, _ := v.target()
	add := func(name string, share float64, known bool) {
		r := sloRow{name: name, value: "–", gauge: true, share: share}
		if known {
			r.value, r.verdict = percent(share), fine
			if share < target {
				r.verdict = missed
			}
		}
		out = append(out, r)
	}
	objectives := v.ShownObjectives()
	if v.judges() {
		share, known := goodput(&t, late.Any)
		add(goodputName, share, known)
	}
	for _, o := range objectives {
		share, known := part(t.Met[o.Metric], t.Completed+late.Of[o.Metric])
		add(objectiveName(o, v.ASCII), share, known)
	}
	for _, g := range v.CheckGates() {
		r := sloRow{name: gateName(g.Gate), value: "–"}
		if g.Known {
			r.value = gateValue(g.Gate, g.Value)
		}
		switch {
		case g.Missed:
			r.verdict = missed
		case g.Known && !g.Gate.Missed(g.Value): // a gate that would be missed now may still be met
			r.verdict = fine
		}
		out = append(out, r)
	}
	return out
}

func objectiveName(o metrics.Objective, ascii bool) string {
	name := o.Metric.Naming().Short
	if ascii {
		return name + "<=" + number.Tick(number.Seconds(o.LimitMS/1000))
	}
	return name + "≤" + number.Tick(number.Seconds(o.LimitMS/1000))
}

func gateName(g metrics.Gate) string {
	limit := strings.TrimPrefix(g.String(), g.Metric+g.Op)
	return screen.Sanitize(g.Metric + " " + g.Op + " " + limit)
}

func gateValue(g metrics.Gate, value float64) string {
	if g.Percent {
		return fmt.Sprintf("%.4g%%", 100*value)
	}
	if a := math.Abs(value); a >= 1000 && a < 1e7 {
		return fmt.Sprintf("%.0f", value)
	}
	return fmt.Sprintf("%.4g", value)
}

// percent writes a share of 1, rounded down, so that a share short of a target never looks like the target.
func percent(share float64) string {
	p := math.Floor(1000*min(number.Sane(share), 9.99)+1e-6) / 10
	if p == 0 && share > 0 {
		return "<0.1%"
	}
	return fmt.Sprintf("%.1f%%", p)
}

// keptSLORows keeps at most n rows in their order. Several gates become one row first; then the row for all objectives
// stays, the missed ones, the gates, the rest.
func keptSLORows(rows []sloRow, n int) []sloRow {
	if len(rows) > n {
		rows = joinGates(rows)
	}
	out, _ := keep(rows, n, claim[sloRow]{of: func(r *sloRow) bool { return r == &rows[0] }},
		claim[sloRow]{of: func(r *sloRow) bool { return r.verdict == missed }},
		claim[sloRow]{of: func(r *sloRow) bool { return !r.gauge }})
	return out
}

// claim says which rows of a table come before others where there is no room for all, of several the last if newest is
// set.
type claim[R any] struct {
	of     func(*R) bool
	newest bool
}

// keep keeps at most n rows in their order: those with the first claim, then those with the second and so on, then any.
func keep[R any](rows []R, n int, claims ...claim[R]) (kept, left []R) {
	chosen := make([]bool, len(rows))
	for _, c := range append(claims, claim[R]{of: func(*R) bool { return true }}) {
		for i := range rows {
			if c.newest {
				i = len(rows) - 1 - i
			}
			if n > 0 && !chosen[i] && c.of(&rows[i]) {
				chosen[i] = true
				n--
			}
		}
	}
	for i, r := range rows {
		if chosen[i] {
			kept = append(kept, r)
		} else {
			left = append(left, r)
		}
	}
	return kept, left
}

// joinGates makes one row of all gates: how many are well.
func joinGates(rows []sloRow) []sloRow {
	var out []sloRow
	var gates, bad int
	joined := sloRow{verdict: fine, name: "gates ok"}
	for _, r := range rows {
		if r.gauge {
			out = append(out, r)
			continue
		}
		gates++
		switch {
		case r.verdict == missed:
			bad++
			joined.verdict = missed
		case r.verdict == unknown && joined.verdict == fine:
			joined.verdict = unknown
		}
	}
	if gates < 2 {
		return rows
	}
	joined.value = fmt.Sprintf("%d/%d", gates-bad, gates)
	return append(out, joined)
}

// sloPanel shows the objectives and gates of the plan: a gauge for each objective and one for all of them together, and
// a line for each gate. It is there only if the plan has any.
//
//	goodput      ━━━━━━━━━━━━━━━━━─│─  88.2% !
//	TTFT≤500ms   ━━━━━━━━━━━━━━━━━━│╸  94.8% ✓
//	p99_ttft_ms > 1000     FAILED   1204 !
var sloPanel = Panel{name: "slo", title: sloTitle, draw: drawSLO}

func sloTitle(v *View, _, h int) []screen.Span {
	out, p, objectives := heading{screen.Strong.Span("SLO")}, v.plan(), len(v.ShownObjectives()) > 0
	if tiers := v.tiers(); len(tiers) > 1 {
		out.when(objectives, screen.Text, " ", tiers[0].Name) // the objectives are those of the first
	}
	out.when(objectives, screen.Text, " ", v.scope())
	t := v.totals()
	out.when(objectives, screen.Label, "  n ", number.Count(t.Completed))
	out.when(objectives && v.missing().Any > 0, screen.Label, " + ", number.Count(v.missing().Any), " missed in flight")
	// The stages' share counts the wait for a slot, these do not.
	out.when(objectives && p.MaxConcurrency > 0 && !p.ClosedLoop(), screen.Label, " · from sent")
	all := v.sloRows()
	out.when(len(all) > h-2, screen.Label, " · z shows all ", number.Count(len(all)))
	if target, own := v.target(); !own && objectives {
		out = append(out, screen.Label.Span(fmt.Sprintf(" · target %.0f%%", 100*target)))
	}
	out.when(len(p.Gates) > 0 && v.scope() != SpanName(0), screen.Label, " · gates: ", SpanName(0))
	return out
}

func drawSLO(c screen.Canvas, v *View) {
	all := v.sloRows()
	if len(all) == 0 {
		c.Center("no objectives", screen.Label)
		return
	}
	rows := keptSLORows(all, c.H)
	target, _ := v.target()
	// name, bar, value and sign stand in columns.
	names, values := 0, screen.Width("100.0%")
	for _, r := range rows {
		values = max(values, screen.Width(r.value))
		if r.gauge {
			names = max(names, screen.Width(r.name))
		}
	}
	end := c.W - 2 // of the values
	bar := Rect{names + 2, 0, end - values - 1 - names - 2, c.H}
	for y, r := range rows {
		st := screen.Text
		if y == 0 && r.gauge {
			st = screen.Strong
		}
		room := max(0, end-screen.Width(r.value)-1)
		x := c.Print(0, y, screen.ShortenMiddle(r.name, room), st)
		if r.gauge && bar.W >= 4 {
			chart.Gauge(bar.Of(c), y, r.share, target, r.verdict.color())
		}
		c.Right(end, y, r.value, screen.Strong)
		switch r.verdict {
		case fine:
			c.Print(c.W-1, y, "✓", screen.Success)
		case missed:
			c.Print(c.W-1, y, "!", screen.Warning)
			if word := "FAILED"; !r.gauge && end-values-2-screen.Width(word) > x {
				c.Right(end-values-1, y, word, screen.Warning)
			}
		}
	}
	drawGoodputBelow(c, len(rows), v)
}

// sloFoot are the objectives and gates in at most w columns: good 99.6%  TTFT≤500ms 99.6% ✓. The last ones are left out
// where there is no room.
func (v *View) sloFoot(w int) []screen.Span {
	var out []screen.Span
	target, _ := v.target()
	for _, r := range joinGates(v.sloRows()) {
		name, sign := r.name, screen.Span{}
		if name == goodputName {
			name = "good"
		}
		switch r.verdict {
		case fine:
			sign = screen.Success.Span("✓ ")
		case missed:
			sign = screen.Warning.Span("! ")
		}
		piece := []screen.Span{screen.Text.Span(" "), sign, screen.Label.Span(name + " "), screen.Strong.Span(r.value),
			screen.Text.Span(" ")}
		if r.name == goodputName && r.verdict == missed {
			piece = append(piece, screen.Label.Span(fmt.Sprintf("< %.4g%% ", 100*target)))
		}
		if screen.SpansWidth(out)+screen.SpansWidth(piece) > w {
			break
		}
		out = append(out, piece...)
	}
	return out
}

// drawGoodputBelow is the share of the requests of each second that met every objective.
func drawGoodputBelow(c screen.Canvas, y int, v *View) {
	if len(v.ShownObjectives()) == 0 {
		return
	}
	good := series{name: "goodput", color: screen.Good, filled: true, value: func(w *metrics.Window) float64 {
		share, known := part(w.Good, w.Ended())
		if !known {
			return math.NaN()
		}
		return 100 * share
	}}
	v.chartBelow(c, y,
		legend(c.W, "by second", legendItem{color: good.color, name: "goodput, % of completed requests",
			short: "goodput %"}),
		plot{v: v, chart: chart.Plot{Top: 100}, series: []series{good}}.draw)
}
