package tui

import (
	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// errorLine is a line of the errors in full; only the first one of a kind has that.
type errorLine struct {
	kind *metrics.FailureCount
	x    int // where the words begin
	text string
}

// errorLines are the kinds with all the words that came with them, wrapped to w columns and so many lines each at most.
func errorLines(v *view, w, most int) []errorLine {
	var out []errorLine
	for i := range v.s.Failures {
		f := &v.s.Failures[i]
		out = append(out, errorLine{kind: f})
		x := 8 + screen.Width(failureName(f.Kind, f.Status)) + 2
		room := w - x - screen.Width(errorWhen(v, f)) - 2
		for k, e := range f.Examples {
			beside := k == 0 && room >= 20
			if !beside {
				x, room = 10, w-12
			}
			for n, part := range screen.Wrap(screen.Sanitize(e), max(1, room), most) {
				l := errorLine{x: x, text: part}
				if n == 0 && beside {
					l.kind = f
					out[len(out)-1] = l
					continue
				}
				if n > 0 && !beside { // what goes on stands further in, so that one sees where the next one begins
					l.x += 2
				}
				out = append(out, l)
			}
		}
	}
	return out
}

// errorWhen is how many requests failed so, and when the last one did.
func errorWhen(v *view, f *metrics.FailureCount) string {
	return number.Share(f.Count, v.s.Totals.Done+v.s.Totals.Failed) + "  " + ago(v.s.At-f.Last)
}

func drawErrorLines(c screen.Canvas, v *view, lines []errorLine) {
	for y, l := range lines {
		if f := l.kind; f != nil {
			c.Right(6, y, number.Count(f.Count), screen.Style{Fg: colorError, Bold: true})
			x := c.Print(8, y, failureName(f.Kind, f.Status), screen.Text)
			if l.text != "" {
				c.Print(x, y, ":", screen.Label)
			}
			if when := errorWhen(v, f); c.W-x > screen.Width(when)+4 {
				c.Right(c.W, y, when, screen.Label)
			}
		}
		c.Print(l.x, y, l.text, screen.Label)
	}
}
