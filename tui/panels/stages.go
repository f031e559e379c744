package panels

import (
	"fmt"
	"math"
	"strings"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// stagesPanel lists the loads that the run went through, and what the server made of each.
var stagesPanel = panel{"stages", stagesTitle, drawStages}

func stagesTitle(v *View, w, h int) []screen.Span {
	out := []screen.Span{screen.Strong.Span("stages")}
	rows := v.stageRows()
	if len(rows) > h-3 {
		out = append(out, screen.Text.Span(fmt.Sprintf(" %d", len(rows))), screen.Label.Span(" · z shows all"))
	}
	if a := v.answer(); a != nil && a.Saturates {
		out = append(out, screen.Warning.Span(" · "+saturationName(a)))
	} else if a != nil && a.Why != "" {
		why := screen.Sanitize(a.Why)
		if !strings.Contains(why, "saturat") {
			why = "saturation unknown: " + why
		}
		out = append(out, screen.Label.Span(" · "+why))
	}
	return out
}

// drawStages writes a row for each load. The one after which the server saturates and the highest that was within the objectives
// say so at their ends.
//
//	 from  plan/s sent/s done/s TTFT p99  in SLO
//	00:00       8    8.0    8.0    210ms  100.0% ✓
//	00:30      16     16     16    340ms   97.1% ✓  highest, 98% confidence
//	── saturates ~24 req/s ───────────────────────────────────────────────
//	01:00      32     32     19    4.21s   31.0% !
func drawStages(c screen.Canvas, v *View) {
	rows := v.stageRows()
	if len(rows) == 0 {
		c.Center("no load was judged yet", screen.Label)
		return
	}
	y := 0
	t := newStageTable(rows, c.W)
	if c.H > 2 {
		t.line(c, 0, [stageFields]screen.Span{
			screen.Label.Span("from"), screen.Label.Span(t.unit), screen.Label.Span("sent/s"), screen.Label.Span("done/s"), screen.Label.Span(v.firstWait().Naming().Title + " p99"), screen.Label.Span("in SLO"),
		})
		y = 1
	}
	room := c.H - y
	lined := room > len(rows)
	telling, rest := mostTellingStages(rows, room)
	for _, r := range telling {
		x := t.line(c, y, v.stageTexts(r, t.unit))
		c.Sub(x, y, c.W-x, 1).Spans(1, 0, v.stageNotes(r, c.W-x-1, !lined))
		y++
		if r.saturatesAfter && lined {
			v.saturationLine(c.Sub(0, y, c.W, 1))
			y++
		}
	}
	if rest != "" {
		c.Print(1, y, rest, screen.Warning)
	}
}

// saturationLine stands between the last load before saturation and the first after it.
func (v *View) saturationLine(c screen.Canvas) {
	for x := 1; x < c.W-1; x++ {
		c.Set(x, 0, '─', screen.Style{Fg: screen.Vermilion})
	}
	if a := v.answer(); a != nil {
		c.Print(3, 0, " "+saturationName(a)+" ", screen.Warning)
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
func (t stageTable) line(c screen.Canvas, y int, fields [stageFields]screen.Span) int {
	x := 0
	for i, f := range fields {
		if t.widths[i] > 0 {
			x += t.widths[i]
			c.Right(x, y, screen.Shorten(f.Text, t.widths[i]-1), f.Style)
		}
	}
	return x
}

func (v *View) stageTexts(r stageRow, unit string) [stageFields]screen.Span {
	st := screen.Text
	switch {
	case r.now:
		st = screen.Strong
	case !r.begun:
		st = screen.Label
	}
	in := screen.Label.Span("–")
	if !math.IsNaN(r.within) {
		in = st.Span(percent(r.within))
	}
	planned := loadNumber(r.planned)
	if unit == unitOwn {
		planned = loadName(r.planned, r.users)
	}
	return [stageFields]screen.Span{
		screen.Label.Span(number.Clock(r.from)), st.Span(planned), st.Span(rateOr(r.sent)), st.Span(rateOr(r.done)),
		st.Span(millisecondsOr(r.p99)), in,
	}
}

// stageNotes are the signs at the end of a row, as many as fit.
func (v *View) stageNotes(r stageRow, w int, saturation bool) []screen.Span {
	var out []screen.Span
	add := func(s string, st screen.Style) {
		if len(out) > 0 && s != "" && screen.SpansWidth(out)+2+screen.Width(s) <= w {
			out = append(out, st.Span("  "+s))
		}
	}
	switch {
	case r.standing == metrics.LevelLimited:
		out = append(out, screen.Label.Span("?"))
		add("client limited", screen.Label)
	case math.IsNaN(r.within) || r.standing == metrics.LevelOpen:
		out = append(out, screen.Text.Span(" "))
	case r.standing == metrics.LevelWithin:
		out = append(out, screen.Style{Fg: screen.Green, Bold: true}.Span("✓"))
	default:
		out = append(out, screen.Warning.Span("!"))
	}
	if r.standing == metrics.LevelBehind {
		add(percent(r.completed)+" completed", screen.Warning)
	}
	if a := v.answer(); r.highest && a != nil {
		if long := "highest, " + sureness(a.Sure); a.Sure > 0 && screen.SpansWidth(out)+2+screen.Width(long) <= w {
			add(long, screen.Strong)
		} else {
			add("highest", screen.Strong)
		}
	}
	if r.saturatesAfter && saturation {
		add("↓ saturates", screen.Warning)
	}
	if r.now {
		add("now", screen.Label)
	}
	return out
}

func rateOr(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return number.Rate(v)
}

func millisecondsOr(ms float64) string {
	if math.IsNaN(ms) {
		return "–"
	}
	return number.Latency(number.Seconds(ms / 1000))
}
