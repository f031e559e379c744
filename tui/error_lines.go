package tui

import "benchtop/metrics"

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
		x := 8 + width(failureName(f.Kind, f.Status)) + 2
		room := w - x - width(errorWhen(v, f)) - 2
		for k, e := range f.Examples {
			beside := k == 0 && room >= 20
			if !beside {
				x, room = 10, w-12
			}
			for n, part := range wrap(sanitize(e), max(1, room), most) {
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
	return share(f.Count, v.s.Totals.Done+v.s.Totals.Failed) + "  " + ago(v.s.At-f.Last)
}

func drawErrorLines(c canvas, v *view, lines []errorLine) {
	for y, l := range lines {
		if f := l.kind; f != nil {
			c.right(6, y, count(f.Count), style{fg: colorError, attr: bold})
			x := c.print(8, y, failureName(f.Kind, f.Status), text)
			if l.text != "" {
				c.print(x, y, ":", label)
			}
			if when := errorWhen(v, f); c.w-x > width(when)+4 {
				c.right(c.w, y, when, label)
			}
		}
		c.print(l.x, y, l.text, label)
	}
}
