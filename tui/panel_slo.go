package tui

import (
	"fmt"
	"math"
	"strconv"

	"benchtop/metrics"
)

// sloPanel shows how far the run keeps what the plan asks of it: a gauge for each objective and one for all of them
// together, and a line for each gate. It is there only if the plan has any.
//
//	goodput      █████████████████▏│░  88.2% !
//	TTFT≤500ms   ██████████████████│▊  94.8% ✓
//	p99_ttft_ms > 1000     MISSED   1204 !
var sloPanel = panel{"slo", sloTitle, drawSLO}

func sloTitle(v *view, _, h int) []span {
	out := []span{{"SLO", strong}}
	if len(v.objectives()) > 0 {
		out = append(out, span{" " + v.scope(), text})
	}
	all := v.sloRows()
	if len(all) > h-2 {
		out = append(out, span{fmt.Sprintf(" · z shows all %d", len(all)), label})
	}
	if len(v.plan().Gates) > 0 {
		out = append(out, span{" · gates: whole run", label})
	}
	return out
}

// plan is never nil.
func (v *view) plan() *metrics.Plan {
	if v.s.Plan == nil {
		return &metrics.Plan{}
	}
	return v.s.Plan
}

// objectives are those that can be shown.
func (v *view) objectives() []metrics.Objective {
	var out []metrics.Objective
	for _, o := range v.plan().Goodput {
		switch o.Metric {
		case metrics.TTFT, metrics.TPOT, metrics.E2EL:
			out = append(out, o)
		}
	}
	return out
}

// sloLines is how many lines the panel would like to have for a plan; 0 means that there is nothing to show.
func sloLines(s *metrics.Snapshot) int {
	v := &view{s: s}
	n := len(v.objectives())
	if n > 0 {
		n++ // for all of them together
	}
	return n + len(v.plan().Gates)
}

// kept counts what requests of the view's scope kept of the objectives.
type kept struct{ done, failed, good, ttft, tpot, e2el int }

// goodput is the share of all requests that ended which met every objective.
func (k kept) goodput() (share float64, known bool) { return part(k.good, k.done+k.failed) }

// of is the share of successes that met one objective.
func (k kept) of(metric string) (share float64, known bool) {
	switch metric {
	case metrics.TTFT:
		return part(k.ttft, k.done)
	case metrics.TPOT:
		return part(k.tpot, k.done)
	}
	return part(k.e2el, k.done)
}

func part(n, of int) (share float64, known bool) {
	if of <= 0 {
		return 0, false
	}
	return min(sane(float64(n)/float64(of)), 1), true
}

func (v *view) kept() kept {
	from := spanStart(v.s, v.span)
	if v.whole || v.span == 0 || from <= 0 {
		t := v.s.Totals
		return kept{t.Done, t.Failed, t.Good, t.MetTTFT, t.MetTPOT, t.MetE2EL}
	}
	var k kept
	for i := len(v.s.Windows) - 1; i >= 0 && v.s.Windows[i].Start >= from; i-- {
		w := &v.s.Windows[i]
		k.done, k.failed, k.good = k.done+w.Done, k.failed+w.Failed, k.good+w.Good
		k.ttft, k.tpot, k.e2el = k.ttft+w.MetTTFT, k.tpot+w.MetTPOT, k.e2el+w.MetE2EL
	}
	return k
}

// target is the goodput a gate asks for, as a share of 1; negative if none does.
func (v *view) target() float64 {
	for _, g := range v.plan().Gates {
		if g.Metric == "goodput" && g.Percent && (g.Op == "<" || g.Op == "<=") {
			return g.Limit
		}
	}
	return -1
}

// gates are the report's own verdicts once the run is over.
func (v *view) gates() []metrics.GateResult {
	if v.s.Report != nil {
		return v.s.Report.Gates
	}
	return v.s.CheckGates()
}

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

func (r verdict) color() color { return [...]color{blue, green, vermilion}[r] }

// rows are the lines in the order of the plan.
func (v *view) sloRows() []sloRow {
	var out []sloRow
	k, target := v.kept(), v.target()
	add := func(name string, share float64, known bool) {
		r := sloRow{name: name, value: "–", gauge: true, share: share}
		if known {
			r.value = percent(share)
			switch {
			case target >= 0 && share < target:
				r.verdict = missed
			case target >= 0:
				r.verdict = fine
			}
		}
		out = append(out, r)
	}
	objectives := v.objectives()
	if len(objectives) > 0 {
		share, known := k.goodput()
		add("goodput", share, known)
	}
	for _, o := range objectives {
		share, known := k.of(o.Metric)
		add(objectiveName(o, v.ascii), share, known)
	}
	for _, g := range v.gates() {
		r := sloRow{name: gateName(g.Gate), value: "–"}
		if g.Known {
			r.value = gateValue(g.Gate, g.Value)
		}
		switch {
		case g.Missed && (g.Known || v.s.State == metrics.Finished):
			r.verdict = missed
		case g.Known:
			r.verdict = fine
		}
		out = append(out, r)
	}
	return out
}

func objectiveName(o metrics.Objective, ascii bool) string {
	name := map[string]string{metrics.TTFT: "TTFT", metrics.TPOT: "TPOT", metrics.E2EL: "E2EL"}[o.Metric]
	if ascii {
		return name + "<=" + tickLabel(seconds(o.LimitMS/1000))
	}
	return name + "≤" + tickLabel(seconds(o.LimitMS/1000))
}

func gateName(g metrics.Gate) string {
	limit := number(g.Limit)
	if g.Percent {
		limit = number(100*g.Limit) + "%"
	}
	return sanitize(g.Metric) + " " + sanitize(g.Op) + " " + limit
}

func gateValue(g metrics.Gate, value float64) string {
	if g.Percent {
		return percent(value)
	}
	if a := math.Abs(value); a >= 100 && a < 1e6 {
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	return fmt.Sprintf("%.3g", value)
}

// number writes a limit as a person would type it.
func number(v float64) string {
	if a := math.Abs(v); a >= 1e6 || a > 0 && a < 1e-4 || math.IsNaN(v) {
		return fmt.Sprintf("%.4g", v)
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
}

// percent writes a share of 1. What is short of all never reads as all, nor what is more than nothing as nothing.
func percent(share float64) string {
	p := 100 * sane(share)
	switch {
	case p > 99.9 && p < 100:
		p = 99.9
	case p > 0 && p < 0.1:
		return "<0.1%"
	}
	return fmt.Sprintf("%.1f%%", min(p, 999))
}

// mostTelling keeps at most n rows in their order: first several gates become one row, then the row for all objectives
// stays, what was missed, the gates, the rest.
func mostTelling(rows []sloRow, n int) []sloRow {
	if len(rows) > n {
		rows = joinGates(rows)
	}
	keep := make([]bool, len(rows))
	for _, telling := range []func(int) bool{
		func(i int) bool { return i == 0 },
		func(i int) bool { return rows[i].verdict == missed },
		func(i int) bool { return !rows[i].gauge },
		func(int) bool { return true },
	} {
		for i := range rows {
			if n > 0 && !keep[i] && telling(i) {
				keep[i] = true
				n--
			}
		}
	}
	var out []sloRow
	for i, r := range rows {
		if keep[i] {
			out = append(out, r)
		}
	}
	return out
}

// joinGates makes one row of all gates: how many hold, and one that does not.
func joinGates(rows []sloRow) []sloRow {
	var out []sloRow
	var gates, bad int
	joined := sloRow{verdict: fine, name: "gates"}
	for _, r := range rows {
		if r.gauge {
			out = append(out, r)
			continue
		}
		gates++
		switch {
		case r.verdict == missed:
			bad++
			if joined.verdict != missed {
				joined.name, joined.verdict = r.name, missed
			}
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

func drawSLO(c canvas, v *view) {
	all := v.sloRows()
	if len(all) == 0 {
		c.center("no objectives", label)
		return
	}
	rows := mostTelling(all, c.h)
	// name, bar, value and sign stand in columns.
	names, values := 0, width("100.0%")
	for _, r := range rows {
		values = max(values, width(r.value))
		if r.gauge {
			names = max(names, width(r.name))
		}
	}
	end := c.w - 2 // of the values
	bar := rect{names + 2, 0, end - values - 1 - names - 2, c.h}
	for y, r := range rows {
		st := text
		if y == 0 && r.gauge {
			st = strong
		}
		room := max(0, end-width(r.value)-1)
		x := c.print(0, y, shortenMiddle(r.name, room), st)
		if r.gauge && bar.w >= 4 {
			gauge(c.in(bar), y, r.share, v.target(), r.verdict.color())
		}
		c.right(end, y, r.value, strong)
		switch r.verdict {
		case fine:
			c.print(c.w-1, y, "✓", style{fg: green, attr: bold})
		case missed:
			c.print(c.w-1, y, "!", warning)
			if word := "MISSED"; !r.gauge && end-values-2-width(word) > x {
				c.right(end-values-1, y, word, warning)
			}
		}
	}
}
