package tui

import "fmt"

// sloPanel shows how far the run keeps what the plan asks of it: a gauge for each objective and one for all of them
// together, and a line for each gate. It is there only if the plan has any.
//
//	goodput      ━━━━━━━━━━━━━━━━━─│─  88.2% !
//	TTFT≤500ms   ━━━━━━━━━━━━━━━━━━│╸  94.8% ✓
//	p99_ttft_ms > 1000     FAILED   1204 !
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
	if target, own := v.target(); !own && len(v.objectives()) > 0 {
		out = append(out, span{fmt.Sprintf(" · target %.0f%%", 100*target), label})
	}
	if whole := "whole run"; len(v.plan().Gates) > 0 && v.scope() != whole {
		out = append(out, span{" · gates: " + whole, label})
	}
	return out
}

func drawSLO(c canvas, v *view) {
	all := v.sloRows()
	if len(all) == 0 {
		c.center("no objectives", label)
		return
	}
	rows := mostTelling(all, c.h)
	target, _ := v.target()
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
			gauge(c.in(bar), y, r.share, target, r.verdict.color(), v.mono)
		}
		c.right(end, y, r.value, strong)
		switch r.verdict {
		case fine:
			c.print(c.w-1, y, "✓", style{fg: green, attr: bold})
		case missed:
			c.print(c.w-1, y, "!", warning)
			if word := "FAILED"; !r.gauge && end-values-2-width(word) > x {
				c.right(end-values-1, y, word, warning)
			}
		}
	}
	drawGoodputBelow(c, len(rows), v)
}
