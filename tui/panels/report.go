package panels

import (
	"fmt"

	"benchtop/tui/screen"
)

// reportPanel is the report of a run that is over, as text.
var reportPanel = panel{"report", reportTitle, drawReport}

func reportTitle(v *View, _, h int) []screen.Span {
	out := []screen.Span{screen.Strong.Span("report")}
	if more := len(v.Text) - v.Scroll - (h - 2); more > 0 {
		out = append(out, screen.Label.Span(fmt.Sprintf(" %d lines more below", more)))
	}
	return out
}

func drawReport(c screen.Canvas, v *View) {
	if len(v.Text) == 0 {
		c.Center("nothing to report", screen.Label)
		return
	}
	for y := range c.H {
		if i := v.Scroll + y; i >= 0 && i < len(v.Text) {
			c.Print(0, y, v.Text[i], screen.Text)
		}
	}
}
