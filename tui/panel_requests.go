package tui

import (
	"fmt"
	"slices"
	"time"

	"benchtop/metrics"
)

// requestsPanel lists single requests: those in flight, the last that ended, the slowest and the failed. Only the rows on
// the screen are drawn.
var requestsPanel = panel{"requests", requestsTitle, drawRequests}

func requestsTitle(v *view, _, _ int) []span {
	l := &v.list
	n, all := len(v.rows()), len(v.s.Requests)
	if v.s.Requests == nil {
		return []span{{"requests", strong}}
	}
	out := []span{{"requests " + count(n), strong}}
	if n != all {
		out[0].text += " of " + count(all)
	}
	out = append(out, span{" " + l.sort.name(), text})
	if l.errorsOnly {
		out = append(out, span{" · errors only", label})
	}
	if l.filter != "" {
		out = append(out, span{" · /" + shorten(sanitize(l.filter), 30), label})
	}
	if !l.errorsOnly && l.filter == "" {
		out = append(out, span{" · kept: in flight, last, slowest, failed", label})
	}
	return out
}

func drawRequests(c canvas, v *view) {
	l := &v.list
	rows := v.rows()
	switch {
	case v.s.Requests == nil && v.s.Totals.Due > 0:
		c.center("asking for the requests…", label)
		return
	case len(v.s.Requests) == 0:
		c.center("no requests yet", label)
		return
	case len(rows) == 0:
		c.center("none like that: / changes the filter, e shows all", label)
		return
	}
	cols := listColumns(c.w)
	drawColumnNames(c, cols)
	at := l.place(v.s, rows)
	high := c.h - 1
	top := l.top(len(rows), high, at)
	for y := 0; y < high && top+y < len(rows); y++ {
		q := &v.s.Requests[rows[top+y]]
		drawRequestRow(c.sub(0, y+1, c.w, 1), v, q, cols, l.picked != 0 && top+y == at)
	}
}

// listColumn is a column of the list. The last one takes what room there is and stands to the left.
type listColumn struct {
	name string
	w    int
	of   func(v *view, q *metrics.RequestRow) (string, style)
}

// The widths of the first columns: the sign of the chosen row, the index and the state.
const (
	pickWidth  = 2
	indexWidth = 6
	stateWidth = 11
	spareWidth = 12 // what the words at the end need to say anything
)

// listColumns are the columns that fit, the least telling left out first. Their order is that of the reading.
func listColumns(w int) []listColumn {
	all := []listColumn{
		{"sent", 10, func(_ *view, q *metrics.RequestRow) (string, style) { return moment(q.Sent), label }},
		{"total", 9, totalColumn},
		{"TTFT", 8, latencyCell(func(q *metrics.RequestRow) time.Duration { return q.TTFT })},
		{"TPOT", 8, latencyCell(func(q *metrics.RequestRow) time.Duration { return q.TPOT })},
		{"held", 8, heldColumn},
		{"tok out", 8, func(_ *view, q *metrics.RequestRow) (string, style) { return tokens(q.OutputTokens), text }},
		{"in", 7, func(_ *view, q *metrics.RequestRow) (string, style) { return tokens(q.InputTokens), label }},
	}
	for _, least := range []string{"sent", "in", "held", "tok out", "TPOT", "TTFT"} {
		if listWidth(all)+spareWidth <= w {
			break
		}
		all = slices.DeleteFunc(all, func(c listColumn) bool { return c.name == least })
	}
	return all
}

func listWidth(cols []listColumn) int {
	n := pickWidth + indexWidth + 2 + stateWidth
	for _, col := range cols {
		n += col.w
	}
	return n + 2
}

func tokens(n int) string {
	if n <= 0 {
		return "–"
	}
	return count(n)
}

// totalColumn is the whole latency, or how long the request takes so far, with a sign for the slowest.
func totalColumn(v *view, q *metrics.RequestRow) (string, style) {
	d := age(v.s, q)
	switch {
	case d < 0:
		return "–", label
	case q.Slow:
		return "▲ " + latency(d), style{fg: orange, attr: bold}
	case !over(q.State):
		return latency(d), label
	}
	return latency(d), text
}

func heldColumn(_ *view, q *metrics.RequestRow) (string, style) {
	switch {
	case q.Held < 0:
		return "–", label
	case q.Held < time.Millisecond: // a request that was not held is the normal thing
		return "0", label
	}
	return latency(q.Held), style{fg: colorHeld}
}

func latencyCell(of func(q *metrics.RequestRow) time.Duration) func(*view, *metrics.RequestRow) (string, style) {
	return func(_ *view, q *metrics.RequestRow) (string, style) {
		if d := of(q); d >= 0 {
			return latency(d), text
		}
		return "–", label
	}
}

func drawColumnNames(c canvas, cols []listColumn) {
	c.right(pickWidth+indexWidth, 0, "#", label)
	x := pickWidth + indexWidth + 2
	c.print(x, 0, "state", label)
	x += stateWidth
	for _, col := range cols {
		x += col.w
		c.right(x, 0, col.name, label)
	}
	c.print(x+2, 0, "id, error", label)
}

func drawRequestRow(c canvas, v *view, q *metrics.RequestRow, cols []listColumn, chosen bool) {
	if chosen {
		c.print(0, 0, "→", strong)
	}
	st := label
	if chosen {
		st = strong
	}
	c.right(pickWidth+indexWidth, 0, shorten(fmt.Sprint(q.Index), indexWidth+pickWidth-1), st)
	x := pickWidth + indexWidth + 2
	sign, word, st := stateWords(q)
	c.sub(x, 0, stateWidth, 1).print(0, 0, sign+" "+word, st)
	x += stateWidth
	for _, col := range cols {
		x += col.w
		s, st := col.of(v, q)
		if chosen && st == text {
			st = strong
		}
		c.right(x, 0, s, st)
	}
	drawRequestWords(c.sub(x+2, 0, c.w-x-2, 1), q)
}

// drawRequestWords says why a request failed, or else which one it is.
func drawRequestWords(c canvas, q *metrics.RequestRow) {
	if q.State == metrics.StateFailed {
		words := sanitize(q.Error)
		if q.Failure != metrics.FailedStatus {
			name := failureName(q.Failure, q.Status)
			if words != "" {
				name += ": "
			}
			words = name + words
		}
		c.print(0, 0, words, text)
		return
	}
	id, model := sanitize(q.ID), sanitize(q.Model)
	if model != "" {
		id = shortenMiddle(id, max(10, c.w-width(model)-2)) + "  " + model
	}
	if width(id) > c.w && model == "" {
		id = shortenMiddle(id, c.w)
	}
	c.print(0, 0, id, label)
}

// stateWords are the sign, the word and the style of a state; each tells it alone.
func stateWords(q *metrics.RequestRow) (sign, word string, st style) {
	switch q.State {
	case metrics.StateHeld:
		return "‖", "held", style{fg: colorHeld}
	case metrics.StateWaiting:
		return "◐", "waiting", style{fg: colorWaiting}
	case metrics.StateRunning:
		return "●", "running", style{fg: colorRunning}
	case metrics.StateDone:
		return "✓", "done", label
	case metrics.StateCancelled:
		return "–", "cancelled", label
	case metrics.StateFailed:
		word := "failed"
		if q.Failure == metrics.FailedStatus {
			word = failureName(q.Failure, q.Status)
		}
		return "✗", word, style{fg: colorError, attr: bold}
	}
	return "·", sanitize(string(q.State)), label
}
