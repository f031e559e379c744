package tui

import (
	"fmt"
	"time"

	"benchtop/metrics"
)

// errorsPanel counts failures by kind.
var errorsPanel = panel{"errors", errorsTitle, drawErrors}

func errorsTitle(v *view, _, _ int) []span {
	t := v.s.Totals
	out := []span{{"errors " + count(t.Failed), strong}}
	if t.Failed > 0 {
		out = append(out, span{" " + share(t.Failed, t.Done+t.Failed) + " of " + count(t.Done+t.Failed), label})
		if at := lastFailure(v.s); at >= 0 {
			out = append(out, span{" · last " + ago(v.s.At-at), label})
		}
	}
	if t.Cancelled > 0 {
		out = append(out, span{" · " + count(t.Cancelled) + " cancelled", label})
	}
	return out
}

func lastFailure(s *metrics.Snapshot) time.Duration {
	at := metrics.Never
	for _, f := range s.Failures {
		at = max(at, f.Last)
	}
	return at
}

func ago(d time.Duration) string {
	if d < time.Second {
		return "now"
	}
	return coarse(d) + " ago"
}

// drawErrors writes one line per kind, most frequent first, and the words that came with it as far as there is room: wrapped
// where all of them have it.
func drawErrors(c canvas, v *view) {
	if len(v.s.Failures) == 0 {
		c.center("✓ none", label)
		return
	}
	for _, most := range []int{8, 3} {
		if lines := errorLines(v, c.w, most); len(lines) <= c.h {
			drawErrorLines(c, v, lines)
			return
		}
	}
	spare := c.h - len(v.s.Failures)
	y := 0
	for i, f := range v.s.Failures {
		if left := len(v.s.Failures) - i; y == c.h-1 && left > 1 && i > 0 {
			c.print(0, y, fmt.Sprintf("%6s  more kinds", "+"+count(left)), label)
			return
		}
		c.right(6, y, count(f.Count), style{fg: colorError, attr: bold})
		x := c.print(8, y, failureName(f.Kind, f.Status), text)
		when := errorWhen(v, &f)
		end := c.w
		if c.w-x > width(when)+4 {
			c.right(c.w, y, when, label)
			end = c.w - width(when) - 2
		}
		if len(f.Examples) > 0 && end-x > 8 {
			c.sub(x, y, end-x, 1).print(0, 0, ": "+sanitize(f.Examples[0]), label)
		}
		y++
		for _, e := range f.Examples[min(1, len(f.Examples)):] {
			if spare <= 0 {
				break
			}
			c.print(10, y, sanitize(e), label)
			y, spare = y+1, spare-1
		}
	}
}

// failureName says a kind of failure in words.
func failureName(kind metrics.Failure, status int) string {
	switch kind {
	case metrics.FailedConnect:
		return "no connection"
	case metrics.FailedNoSocket:
		return "no socket here"
	case metrics.FailedStatus:
		return fmt.Sprintf("HTTP %d", status)
	case metrics.FailedReset:
		return "connection reset"
	case metrics.FailedTruncated:
		return "stream truncated"
	case metrics.FailedInStream:
		return "error in stream"
	case metrics.FailedMalformed:
		return "malformed answer"
	case metrics.FailedEmpty:
		return "no output"
	case metrics.FailedStall:
		return "stalled"
	case metrics.FailedTimeout:
		return "timeout"
	}
	return sanitize(string(kind))
}
