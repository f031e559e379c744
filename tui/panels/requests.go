package panels

import (
	"fmt"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// requestsPanel lists single requests: those in flight, the last that ended, the slowest and the failed. Only the rows on
// the screen are drawn.
var requestsPanel = panel{"requests", requestsTitle, drawRequests}

func requestsTitle(v *View, _, _ int) []screen.Span {
	l := &v.List
	n, all := len(v.rows()), len(v.Requests)
	if v.Requests == nil {
		return []screen.Span{screen.Strong.Span("requests")}
	}
	out := []screen.Span{screen.Strong.Span("requests " + number.Count(n))}
	if n != all {
		out[0].Text += " of " + number.Count(all)
	}
	out = append(out, screen.Text.Span(" "+l.Sort.name()))
	if l.ErrorsOnly {
		out = append(out, screen.Label.Span(" · errors only"))
	}
	if l.Filter != "" {
		out = append(out, screen.Label.Span(" · /"+screen.Shorten(screen.Sanitize(l.Filter), 30)))
	}
	if !l.ErrorsOnly && l.Filter == "" {
		out = append(out, screen.Label.Span(" · kept: in flight, last, slowest, failed"))
	}
	return out
}

func drawRequests(c screen.Canvas, v *View) {
	l := &v.List
	rows := v.rows()
	switch {
	case v.Requests == nil && v.Totals.Due > 0:
		c.Center("asking for the requests…", screen.Label)
		return
	case len(v.Requests) == 0:
		c.Center("no requests yet", screen.Label)
		return
	case len(rows) == 0:
		c.Center("none like that: / changes the filter, e shows all", screen.Label)
		return
	}
	cols := listColumns(c.W, v.Pooling())
	drawColumnNames(c, cols)
	at := l.place(v.Snapshot, rows)
	high := c.H - 1
	top := l.top(len(rows), high, at)
	for y := 0; y < high && top+y < len(rows); y++ {
		q := &v.Requests[rows[top+y]]
		drawRequestRow(c.Sub(0, y+1, c.W, 1), v, q, cols, l.Picked != 0 && top+y == at)
	}
}

// listColumn is a column of the list. The last one takes what room there is and stands to the left.
type listColumn struct {
	name string
	w    int
	of   func(v *View, q *metrics.RequestRow) (string, screen.Style)
}

// The widths of the first columns: the sign of the chosen row, the index and the state.
const (
	pickWidth  = 2
	indexWidth = 6
	stateWidth = 11
	spareWidth = 12 // what the words at the end need to say anything
)

// listColumns are the columns that fit and that the run has, the least telling left out first. Their order is that of the reading.
func listColumns(w int, pooling bool) []listColumn {
	all := []listColumn{
		{"sent", 10, func(_ *View, q *metrics.RequestRow) (string, screen.Style) { return moment(q.Sent), screen.Label }},
		{"total", 9, totalColumn},
		{"TTFT", 8, latencyCell(func(q *metrics.RequestRow) time.Duration { return q.TTFT })},
		{"TPOT", 8, latencyCell(func(q *metrics.RequestRow) time.Duration { return q.TPOT })},
		{"held", 8, heldColumn},
		{"tok out", 8, func(_ *View, q *metrics.RequestRow) (string, screen.Style) {
			return tokens(q.OutputTokens), screen.Text
		}},
		{"in", 7, func(_ *View, q *metrics.RequestRow) (string, screen.Style) {
			return tokens(q.InputTokens), screen.Label
		}},
	}
	if pooling {
		all = slices.DeleteFunc(all, func(c listColumn) bool { return c.name == "TTFT" || c.name == "TPOT" || c.name == "tok out" })
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
	return number.Count(n)
}

// totalColumn is the whole latency, or how long the request takes so far, with a sign for the slowest.
func totalColumn(v *View, q *metrics.RequestRow) (string, screen.Style) {
	d := age(v.Snapshot, q)
	switch {
	case d < 0:
		return "–", screen.Label
	case q.Slow:
		return "▲ " + number.Latency(d), screen.Style{Fg: screen.Orange, Bold: true}
	case !over(q.State):
		return number.Latency(d), screen.Label
	}
	return number.Latency(d), screen.Text
}

func heldColumn(_ *View, q *metrics.RequestRow) (string, screen.Style) {
	switch {
	case q.SlotWait < 0:
		return "–", screen.Label
	case q.SlotWait < time.Millisecond: // a request that was not held is the normal thing
		return "0", screen.Label
	}
	return number.Latency(q.SlotWait), screen.Style{Fg: colorHeld}
}

func latencyCell(of func(q *metrics.RequestRow) time.Duration) func(*View, *metrics.RequestRow) (string, screen.Style) {
	return func(_ *View, q *metrics.RequestRow) (string, screen.Style) {
		if d := of(q); d >= 0 {
			return number.Latency(d), screen.Text
		}
		return "–", screen.Label
	}
}

func drawColumnNames(c screen.Canvas, cols []listColumn) {
	c.Right(pickWidth+indexWidth, 0, "#", screen.Label)
	x := pickWidth + indexWidth + 2
	c.Print(x, 0, "state", screen.Label)
	x += stateWidth
	for _, col := range cols {
		x += col.w
		c.Right(x, 0, col.name, screen.Label)
	}
	c.Print(x+2, 0, "id, error", screen.Label)
}

func drawRequestRow(c screen.Canvas, v *View, q *metrics.RequestRow, cols []listColumn, chosen bool) {
	if chosen {
		c.Print(0, 0, "→", screen.Strong)
	}
	st := screen.Label
	if chosen {
		st = screen.Strong
	}
	c.Right(pickWidth+indexWidth, 0, screen.Shorten(fmt.Sprint(q.Index), indexWidth+pickWidth-1), st)
	x := pickWidth + indexWidth + 2
	sign, word, st := stateWords(q)
	c.Sub(x, 0, stateWidth, 1).Print(0, 0, sign+" "+word, st)
	x += stateWidth
	for _, col := range cols {
		x += col.w
		s, st := col.of(v, q)
		if chosen && st == screen.Text {
			st = screen.Strong
		}
		c.Right(x, 0, s, st)
	}
	drawRequestWords(c.Sub(x+2, 0, c.W-x-2, 1), q)
}

// drawRequestWords says why a request failed, or else which one it is.
func drawRequestWords(c screen.Canvas, q *metrics.RequestRow) {
	if q.State == metrics.StateFailed {
		words := screen.Sanitize(q.Error)
		if q.Failure != metrics.FailedStatus {
			name := failureName(q.Failure, q.Status)
			if words != "" {
				name += ": "
			}
			words = name + words
		}
		c.Print(0, 0, words, screen.Text)
		return
	}
	id, model := screen.Sanitize(q.ID), screen.Sanitize(q.Model)
	if model != "" {
		id = screen.ShortenMiddle(id, max(10, c.W-screen.Width(model)-2)) + "  " + model
	}
	if screen.Width(id) > c.W && model == "" {
		id = screen.ShortenMiddle(id, c.W)
	}
	c.Print(0, 0, id, screen.Label)
}

// stateWords are the sign, the word and the style of a state; each tells it alone.
func stateWords(q *metrics.RequestRow) (sign, word string, st screen.Style) {
	switch q.State {
	case metrics.StateHeld:
		return "‖", "held", screen.Style{Fg: colorHeld}
	case metrics.StateWaiting:
		return "◐", "waiting", screen.Style{Fg: colorWaiting}
	case metrics.StateRunning:
		return "●", "running", screen.Style{Fg: colorRunning}
	case metrics.StateDone:
		return "✓", "done", screen.Label
	case metrics.StateCancelled:
		return "–", "cancelled", screen.Label
	case metrics.StateFailed:
		word := "failed"
		if q.Failure == metrics.FailedStatus {
			word = failureName(q.Failure, q.Status)
		}
		return "✗", word, screen.Style{Fg: colorError, Bold: true}
	}
	return "·", screen.Sanitize(string(q.State)), screen.Label
}
