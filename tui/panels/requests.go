package panels

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// requestsPanel lists single requests: those in flight, the last that ended, the slowest and the failed. Only the rows
// on the screen are drawn.
var requestsPanel = Panel{name: "requests", title: requestsTitle, draw: drawRequests, foot: requestsFoot}

// requestsFoot explains the signs on the rows.
func requestsFoot(*View, int) []screen.Span {
	return []screen.Span{
		screen.Label.Span(" ▲ slowest 5 % of the run · " + missedSign + " missed an objective (from sent) ")}
}

// missedSign marks a request that missed an objective.
const missedSign = "!"

// missedText names the objectives that a request missed; "" for none.
func missedText(q *metrics.RequestRow) string {
	var names []string
	for l, missed := range q.Missed {
		if missed {
			names = append(names, metrics.Latency(l).Naming().Title)
		}
	}
	return strings.Join(names, ", ")
}

func requestsTitle(v *View, _, _ int) []screen.Span {
	l := &v.List
	n, all := len(v.rows()), len(v.Requests)
	if v.Requests == nil {
		return []screen.Span{screen.Strong.Span("requests")}
	}
	out := heading{screen.Strong.Span("requests " + number.Count(n))}
	if n != all {
		out[0].Text += " of " + number.Count(all)
	}
	out = append(out, screen.Text.Span(" "+listOrders[int(l.Sort)%len(listOrders)].name))
	out.when(l.Only != allRequests, screen.Label, between, listParts[l.Only])
	out.when(l.Filter != "", screen.Label, " · /", screen.Shorten(screen.Sanitize(l.Filter), 30))
	out.when(l.Only == allRequests && l.Filter == "", screen.Label, " · kept: in flight, last, slowest, failed")
	return out
}

func drawRequests(c screen.Canvas, v *View) {
	l := &v.List
	rows := v.rows()
	switch {
	case v.Requests == nil && v.Totals.Due > 0:
		c.Center("loading requests…", screen.Label)
		return
	case len(v.Requests) == 0:
		c.Center("no requests yet", screen.Label)
		return
	case len(rows) == 0:
		c.Center("no match: / changes the filter, e shows others", screen.Label)
		return
	}
	at := l.place(v.Snapshot, rows)
	top := l.top(len(rows), c.H-1, at)
	var chosen *metrics.RequestRow
	if l.Picked != 0 {
		chosen = &v.Requests[rows[at]]
	}
	t := requestTable(v, c.W)
	t.head(c)
	t.rows(c.Sub(0, 1, c.W, c.H-1), len(rows)-top, func(i int) *metrics.RequestRow { return &v.Requests[rows[top+i]] },
		func(q *metrics.RequestRow) screen.Style {
			if q == chosen {
				return screen.Strong
			}
			return screen.Text
		})
}

// requestTable has the figures between the index and the state of a request, and its id or its error.
func requestTable(v *View, w int) *table[*metrics.RequestRow] {
	index := func(c screen.Canvas, q *metrics.RequestRow, plain screen.Style) {
		st := screen.Label
		if plain == screen.Strong {
			c.Print(0, 0, "→", screen.Strong)
			st = screen.Strong
		}
		c.Right(pickWidth+indexWidth, 0, screen.Shorten(fmt.Sprint(q.Index), indexWidth+pickWidth-1), st)
	}
	state := func(c screen.Canvas, q *metrics.RequestRow, _ screen.Style) {
		sign, word, st := describeState(q)
		c.Print(0, 0, sign+" "+word, st)
	}
	text := func(c screen.Canvas, q *metrics.RequestRow, _ screen.Style) {
		drawRequestText(c.Sub(2, 0, c.W-2, 1), q)
	}
	return &table[*metrics.RequestRow]{
		before: []field[*metrics.RequestRow]{
			{fmt.Sprintf("%*s", pickWidth+indexWidth, "#"), pickWidth + indexWidth + 2, index},
			{"state", stateWidth, state},
		},
		figures: requestFigures(v, w),
		after:   field[*metrics.RequestRow]{"  cause, id", 0, text},
	}
}

// The widths of the first columns: the sign of the chosen row, the index and the state.
const (
	pickWidth  = 2
	indexWidth = 6
	stateWidth = 11
	spareWidth = 12  // the least width of the id or the error
	wideList   = 150 // the least width of a list for what servers tell of some requests
)

// requestFigures are the columns that fit and that the run has, in the order of reading.
func requestFigures(v *View, w int) columns[*metrics.RequestRow] {
	all := columns[*metrics.RequestRow]{
		{"sent", 10, func(q *metrics.RequestRow) screen.Span { return screen.Label.Span(moment(q.Sent)) }, 6},
		{"total", 9, v.totalCell, 0},
		{"TTFT", 8, func(q *metrics.RequestRow) screen.Span { return judged(q, metrics.TTFT, q.TTFT) }, 1},
		{"TPOT", 8, func(q *metrics.RequestRow) screen.Span { return judged(q, metrics.TPOT, q.TPOT) }, 2},
		{"queued", 8, heldCell, 4},
		{"tok out", 8, func(q *metrics.RequestRow) screen.Span { return screen.Text.Span(tokens(q.OutputTokens)) }, 3},
		{"in", 7, func(q *metrics.RequestRow) screen.Span { return screen.Label.Span(tokens(q.InputTokens)) }, 5},
	}
	told := columns[*metrics.RequestRow]{
		{"cached", 8, func(q *metrics.RequestRow) screen.Span { return cell(tokens(q.CachedTokens)) }, 7},
		{"server queue", 14, func(q *metrics.RequestRow) screen.Span { return cell(latencyOrDash(q.ServerQueue)) }, 8},
		{"prefill", 9, func(q *metrics.RequestRow) screen.Span { return cell(latencyOrDash(q.ServerPrefill)) }, 9},
		{"finish", 12, func(q *metrics.RequestRow) screen.Span {
			return cell(orDash(q.Finish != "", screen.Sanitize, q.Finish))
		}, 10},
	}
	for _, c := range told { // by servers with the answers, which not all do
		has := func(q metrics.RequestRow) bool { return c.of(&q).Text != dash }
		if w >= wideList && slices.ContainsFunc(v.Requests, has) {
			all = append(all, c)
		}
	}
	all = possible(v, all, func(c column[*metrics.RequestRow]) string { return c.name })
	return all.fit(w - pickWidth - indexWidth - 2 - stateWidth - 2 - spareWidth)
}

// judged is a latency, in the colour of what is bad where it missed its objective.
func judged(q *metrics.RequestRow, l metrics.Latency, d time.Duration) screen.Span {
	if q.Missed[l] {
		return screen.Style{Fg: screen.Bad}.Span(latencyOrDash(d))
	}
	return cell(latencyOrDash(d))
}

func tokens(n int) string { return orDash(n > 0, number.Count, n) }

// totalCell is the whole latency, or how long the request takes so far, with a sign for the slowest.
func (v *View) totalCell(q *metrics.RequestRow) screen.Span {
	d := age(v.Snapshot, q)
	switch {
	case d >= 0 && q.Slow:
		return screen.Caution.Span("▲ " + number.Latency(d))
	case !over(q.State):
		return screen.Label.Span(latencyOrDash(d))
	}
	return judged(q, metrics.E2EL, d)
}

func heldCell(q *metrics.RequestRow) screen.Span {
	switch {
	case q.SlotWait < 0:
		return screen.Label.Span(dash)
	case q.SlotWait < time.Millisecond: // a request is not held normally
		return screen.Label.Span("0")
	}
	return screen.Style{Fg: screen.Queued}.Span(number.Latency(q.SlotWait))
}

// drawRequestText writes the error of a request that failed, or else its id.
func drawRequestText(c screen.Canvas, q *metrics.RequestRow) {
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
	if missed := missedText(q); missed != "" {
		x := c.Print(0, 0, missed, screen.Style{Fg: screen.Bad})
		c = c.Sub(x+2, 0, max(0, c.W-x-2), 1)
	}
	id, more := screen.Sanitize(q.ID), ""
	if q.Wrong != "" {
		more = "  wrong: " + screen.Sanitize(q.Wrong)
	}
	for _, text := range []string{q.Model, q.Class} {
		if text != "" {
			more += "  " + screen.Sanitize(text)
		}
	}
	if more != "" {
		id = screen.ShortenMiddle(id, max(10, c.W-screen.Width(more)))
	} else if screen.Width(id) > c.W {
		id = screen.ShortenMiddle(id, c.W)
	}
	c.Print(0, 0, id+more, screen.Label)
}

// describeState is the sign, the word and the style of a state; each is clear alone.
func describeState(q *metrics.RequestRow) (sign, word string, st screen.Style) {
	switch q.State {
	case metrics.StateHeld:
		return "‖", "queued", screen.Style{Fg: screen.Queued}
	case metrics.StateWaiting:
		return "◐", "waiting", screen.Style{Fg: screen.Waiting}
	case metrics.StateRunning:
		return "●", "running", screen.Style{Fg: screen.Running}
	case metrics.StateDone:
		if q.Missed.Any() {
			return missedSign, "missed", screen.Caution
		}
		return "✓", "done", screen.Label
	case metrics.StateCancelled:
		return "–", "cancelled", screen.Label
	case metrics.StateAbandoned:
		return "–", "abandoned", screen.Label
	case metrics.StateFailed:
		word := "failed"
		if q.Failure == metrics.FailedStatus {
			word = failureName(q.Failure, q.Status)
		}
		return "✗", word, screen.Warning
	}
	return "·", screen.Sanitize(string(q.State)), screen.Label
}
