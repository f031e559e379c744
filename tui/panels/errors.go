package panels

import (
	"cmp"
	"fmt"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// errorsPanel counts failures by kind.
var errorsPanel = Panel{name: "errors", title: errorsTitle, draw: drawErrors,
	empty: func(v *View) bool { return len(v.Failures) == 0 }, nothing: "✓ none"}

func errorsTitle(v *View, _, _ int) []screen.Span {
	t := v.Totals
	out := heading{screen.Strong.Span("errors " + number.Count(t.Failed))}
	if t.Failed > 0 {
		out = append(out, screen.Label.Span(" of "+number.Count(t.Ended())+", "+number.Share(t.Failed, t.Ended())))
		if at := lastFailure(v.Snapshot); at >= 0 {
			out = append(out, screen.Label.Span(between+"latest "+v.ago(at)))
		}
	}
	for _, c := range metrics.ColumnsOf(v.plan(), &t) {
		if c.Remark != "" {
			out = append(out, screen.Label.Span(between+c.Heading+" "+number.Count(c.Count(&t))))
		}
	}
	out.when(t.Cancelled > 0, screen.Label, " · ", number.Count(t.Cancelled), " cancelled")
	users := t.OfUsers(v.plan())
	out.when(users != "", screen.Label, " · ", users)
	return out
}

func lastFailure(s *metrics.Snapshot) time.Duration {
	at := metrics.Never
	for _, f := range s.Failures {
		at = max(at, f.Last)
	}
	return at
}

// ago is how long ago a moment was, or the moment itself once the run is over.
func (v *View) ago(at time.Duration) string {
	switch d := v.At - at; {
	case v.State == metrics.Finished:
		return "at " + number.Clock(at)
	case d < time.Second:
		return "now"
	default:
		return number.Coarse(d) + " ago"
	}
}

// drawErrors writes one line per kind, most frequent first, and its messages as far as there is room: wrapped if there
// is room for all.
func drawErrors(c screen.Canvas, v *View) {
	for _, most := range []int{8, 3} {
		if lines := errorLines(v, c.W, most); len(lines) <= c.H {
			drawErrorLines(c, v, lines)
			return
		}
	}
	drawErrorLines(c, v, cutErrorLines(v, c.W, c.H))
}

// cutErrorLines are the kinds where there is no room for all messages: each on a line with its first message, cut
// short, and further messages on lines of their own as long as every kind still has one.
func cutErrorLines(v *View, w, h int) []errorLine {
	var out []errorLine
	spare := h - len(v.Failures)
	for i := range v.Failures {
		f := &v.Failures[i]
		if left := len(v.Failures) - i; len(out) == h-1 && left > 1 && i > 0 {
			return append(out, errorLine{text: fmt.Sprintf("%6s  other kinds", "+"+number.Count(left))})
		}
		l := errorLine{kind: f, x: 8 + screen.Width(failureName(f.Kind, f.Status)) + 2}
		end := w
		if when := screen.Width(errorWhen(v, f)); w-l.x+2 > when+4 {
			end -= when + 2
		}
		if len(f.Examples) > 0 && end-l.x+2 > 8 {
			l.say(f.Examples[0], end-l.x)
		}
		out = append(out, l)
		for _, e := range f.Examples[min(1, len(f.Examples)):] {
			if spare <= 0 {
				break
			}
			out, spare = append(out, errorLine{x: 10, text: screen.Sanitize(e)}), spare-1
		}
	}
	return out
}

// failureNames are the kinds of failures in words, but for statuses.
var failureNames = map[metrics.Failure]string{
	metrics.FailedConnect: "no connection", metrics.FailedNoSocket: "no socket here",
	metrics.FailedReset:     "connection reset",
	metrics.FailedTruncated: "stream truncated", metrics.FailedInStream: "error in stream",
	metrics.FailedMalformed: "malformed answer",
	metrics.FailedEmpty:     "no output", metrics.FailedStall: "stalled", metrics.FailedTimeout: "timeout",
}

// failureName is a kind of failure in words.
func failureName(kind metrics.Failure, status int) string {
	if kind == metrics.FailedStatus {
		return fmt.Sprintf("HTTP %d", status)
	}
	return cmp.Or(failureNames[kind], screen.Sanitize(string(kind)))
}

// errorLine is a line of the panel. Only the first line of a kind has its kind.
type errorLine struct {
	kind *metrics.FailureCount
	name string // in place of that of the kind, "" for that
	x    int    // where the words begin
	text string
}

// say adds a message in at most w columns. Where it is longer its end says more than the address before it, and than
// the kind.
func (l *errorLine) say(message string, w int) {
	l.text = screen.Sanitize(message)
	if cause := metrics.ConnectionError(l.kind.Kind, message); cause != "" && screen.Width(l.text) > w {
		if l.text = cause; screen.Width(cause) > w {
			l.name, l.text = cause, ""
		}
	}
	l.text = screen.Shorten(l.text, w)
}

// errorLines are the kinds with all their messages, wrapped to w columns and so many lines each at most.
func errorLines(v *View, w, most int) []errorLine {
	var out []errorLine
	for i := range v.Failures {
		f := &v.Failures[i]
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
				if n > 0 && !beside { // further lines are indented, so that the beginning of the next message is clear
					l.x += 2
				}
				out = append(out, l)
			}
		}
	}
	return out
}

// errorWhen is the share of requests of the kind and the time since the last one.
func errorWhen(v *View, f *metrics.FailureCount) string {
	return number.Share(f.Count, v.Totals.Ended()) + "  " + v.ago(f.Last)
}

func drawErrorLines(c screen.Canvas, v *View, lines []errorLine) {
	for y, l := range lines {
		if f := l.kind; f != nil {
			c.Right(6, y, number.Count(f.Count), screen.Warning)
			x := c.Print(8, y, cmp.Or(l.name, failureName(f.Kind, f.Status)), screen.Text)
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
