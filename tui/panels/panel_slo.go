package panels

import (
	"fmt"

	"benchtop/tui/chart"
	"benchtop/tui/screen"
)

// sloPanel shows how far the run keeps what the plan asks of it: a gauge for each objective and one for all of them
// together, and a line for each gate. It is there only if the plan has any.
//
//	goodput      ━━━━━━━━━━━━━━━━━─│─  88.2% !
//	TTFT≤500ms   ━━━━━━━━━━━━━━━━━━│╸  94.8% ✓
//	p99_ttft_ms > 1000     FAILED   1204 !
var sloPanel = panel{"slo", sloTitle, drawSLO}

func sloTitle(v *View, _, h int) []screen.Span {
	out := []screen.Span{screen.Strong.Span("SLO")}
	if len(v.ShownObjectives()) > 0 {
		out = append(out, screen.Text.Span(" "+v.scope()))
	}
	if p := v.plan(); p.MaxConcurrency > 0 && !p.ClosedLoop() && len(v.ShownObjectives()) > 0 {
		out = append(out, screen.Label.Span(" · from sent")) // the stages' share counts the wait for a slot, these do not
	}
	all := v.sloRows()
	if len(all) > h-2 {
		out = append(out, screen.Label.Span(fmt.Sprintf(" · z shows all %d", len(all))))
	}
	if target, own := v.target(); !own && len(v.ShownObjectives()) > 0 {
		out = append(out, screen.Label.Span(fmt.Sprintf(" · target %.0f%%", 100*target)))
	}
	if whole := "whole run"; len(v.plan().Gates) > 0 && v.scope() != whole {
		out = append(out, screen.Label.Span(" · gates: "+whole))
	}
	return out
}

func drawSLO(c screen.Canvas, v *View) {
	all := v.sloRows()
	if len(all) == 0 {
		c.Center("no objectives", screen.Label)
		return
	}
	rows := mostTelling(all, c.H)
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
			c.Print(c.W-1, y, "✓", screen.Style{Fg: screen.Green, Bold: true})
		case missed:
			c.Print(c.W-1, y, "!", screen.Warning)
			if word := "FAILED"; !r.gauge && end-values-2-screen.Width(word) > x {
				c.Right(end-values-1, y, word, screen.Warning)
			}
		}
	}
	drawGoodputBelow(c, len(rows), v)
}
