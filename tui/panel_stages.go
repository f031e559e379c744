package tui

import (
	"fmt"
	"math"
	"strings"
)

// stagesPanel lists the loads that the run went through, and what the server made of each.
var stagesPanel = panel{"stages", stagesTitle, drawStages}

func stagesTitle(v *view, w, h int) []span {
	out := []span{{"stages", strong}}
	rows := v.stageRows()
	if len(rows) > h-3 {
		out = append(out, span{fmt.Sprintf(" %d", len(rows)), text}, span{" · z shows all", label})
	}
	if a := v.answer(); a != nil && a.Bends {
		out = append(out, span{" · bends at " + bendName(a), warning})
	} else if a != nil && a.Why != "" {
		why := sanitize(a.Why)
		if !strings.Contains(why, "bend") {
			why = "no bend: " + why
		}
		out = append(out, span{" · " + why, label})
	}
	return out
}

// drawStages writes a row for each load. The one after which the server bends and the highest that was within the objectives
// say so at their ends.
//
//	 from  plan/s sent/s done/s TTFT p99  in SLO
//	00:00       8    8.0    8.0    210ms  100.0% ✓
//	00:30      16     16     16    340ms   97.1% ✓  highest, 98% sure
//	── bend ~24 req/s ───────────────────────────────────────────────
//	01:00      32     32     19    4.21s   31.0% !
func drawStages(c canvas, v *view) {
	rows := v.stageRows()
	if len(rows) == 0 {
		c.center("no load was judged yet", label)
		return
	}
	y := 0
	t := newStageTable(rows, c.w)
	if c.h > 2 {
		t.line(c, 0, [stageFields]span{
			{"from", label}, {t.unit, label}, {"sent/s", label}, {"done/s", label}, {"TTFT p99", label}, {"in SLO", label},
		})
		y = 1
	}
	room := c.h - y
	lined := room > len(rows)
	for _, r := range mostTellingStages(rows, room) {
		x := t.line(c, y, v.stageTexts(r, t.unit))
		c.sub(x, y, c.w-x, 1).spans(1, 0, v.stageNotes(r, c.w-x-1, !lined))
		y++
		if r.bendAfter && lined {
			v.bendLine(c.sub(0, y, c.w, 1))
			y++
		}
	}
}

// bendLine stands between the last load before the bend and the first after it.
func (v *view) bendLine(c canvas) {
	for x := 1; x < c.w-1; x++ {
		c.set(x, 0, '─', style{fg: vermilion})
	}
	if a := v.answer(); a != nil {
		c.print(3, 0, " bend "+bendName(a)+" ", warning)
	}
}

const stageFields = 6

// stageTable is where the fields of a row stand.
type stageTable struct {
	unit   string // what the loads are counted in, or that each says it itself
	widths [stageFields]int
}

// Units of loads.
const (
	unitRate  = "plan/s"
	unitUsers = "users"
	unitOwn   = "planned"
)

// stageNotesWidth is kept for the words behind a row.
const stageNotesWidth = 11

func newStageTable(rows []stageRow, w int) stageTable {
	t := stageTable{unitRate, [stageFields]int{6, 8, 7, 7, 9, 8}}
	users := 0
	for _, r := range rows {
		if r.users {
			users++
		}
	}
	switch users {
	case 0:
	case len(rows):
		t.unit = unitUsers
	default:
		t.unit, t.widths[1] = unitOwn, 11
	}
	n := 0
	for _, fw := range t.widths {
		n += fw
	}
	for _, i := range [...]int{0, 2, 3} { // from a narrow panel they go in this order
		if n > w-stageNotesWidth {
			n -= t.widths[i]
			t.widths[i] = 0
		}
	}
	return t
}

// line writes the fields that fit, each flush right, and returns the column after them.
func (t stageTable) line(c canvas, y int, fields [stageFields]span) int {
	x := 0
	for i, f := range fields {
		if t.widths[i] > 0 {
			x += t.widths[i]
			c.right(x, y, shorten(f.text, t.widths[i]-1), f.style)
		}
	}
	return x
}

func (v *view) stageTexts(r stageRow, unit string) [stageFields]span {
	st := text
	switch {
	case r.now:
		st = strong
	case !r.begun:
		st = label
	}
	in := span{"–", label}
	if !math.IsNaN(r.within) {
		in = span{percent(r.within), st}
	}
	planned := loadNumber(r.planned)
	if unit == unitOwn {
		planned = loadName(r.planned, r.users)
	}
	return [stageFields]span{
		{clock(r.from), label}, {planned, st}, {rateOr(r.sent), st}, {rateOr(r.done), st},
		{millisecondsOr(r.p99), st}, in,
	}
}

// stageNotes are the signs at the end of a row, as many as fit.
func (v *view) stageNotes(r stageRow, w int, bend bool) []span {
	var out []span
	add := func(s string, st style) {
		if len(out) > 0 && s != "" && spansWidth(out)+2+width(s) <= w {
			out = append(out, span{"  " + s, st})
		}
	}
	switch {
	case math.IsNaN(r.within):
		out = append(out, span{" ", text})
	case r.met:
		out = append(out, span{"✓", style{fg: green, attr: bold}})
	default:
		out = append(out, span{"!", warning})
	}
	if a := v.answer(); r.highest && a != nil {
		if long := "highest, " + sureness(a.Sure); a.Sure > 0 && spansWidth(out)+2+width(long) <= w {
			add(long, strong)
		} else {
			add("highest", strong)
		}
	}
	if r.bendAfter && bend {
		add("↓ bend", warning)
	}
	if r.now {
		add("now", label)
	}
	return out
}

func rateOr(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return rate(v)
}

func millisecondsOr(ms float64) string {
	if math.IsNaN(ms) {
		return "–"
	}
	return latency(seconds(ms / 1000))
}
