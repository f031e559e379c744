package tui

import (
	"fmt"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// requestPanel is one request in full: its moments, its chunks on a line of time, what went wrong and what it said.
var requestPanel = panel{"request", requestTitle, drawRequest}

func requestTitle(v *view, w, _ int) []screen.Span {
	q, _ := v.openRequest()
	if q == nil {
		return []screen.Span{screen.Strong.Span("request")}
	}
	out := []screen.Span{screen.Strong.Span(fmt.Sprintf("request %d", q.Index))}
	if id := screen.Sanitize(q.ID); id != "" {
		out = append(out, screen.Label.Span(" "+screen.ShortenMiddle(id, max(8, w-30))))
	}
	return out
}

// openRequest is the request that is open; nil if there is none. known: all of it came, not only its row in the list.
func (v *view) openRequest() (q *metrics.RequestDetail, known bool) {
	if !v.list.opened || v.list.picked == 0 {
		return nil, false
	}
	index := v.list.picked - 1
	if o := v.s.Opened; o != nil && o.Index == index {
		return o, true
	}
	for i := range v.s.Requests {
		if r := &v.s.Requests[i]; r.Index == index {
			return &metrics.RequestDetail{
				RequestRow: *r, Scheduled: metrics.Never, Encode: metrics.Never, Connect: metrics.Never,
				ServerQueue: metrics.Never, ServerPrefill: metrics.Never,
			}, false
		}
	}
	return nil, false
}

func drawRequest(c screen.Canvas, v *view) {
	q, known := v.openRequest()
	switch {
	case q == nil && v.list.opened:
		c.Center(fmt.Sprintf("request %d is not kept any more", v.list.picked-1), screen.Label)
		return
	case q == nil:
		c.Center("Enter on the list opens a request", screen.Label)
		return
	}
	p := partsOf(v, q, known, c.W, c.H)
	drawRequestHead(c, q)
	drawFacts(c.Sub(0, 1, c.W, p.factRows), p.facts, p.factRows)
	y := 1 + p.factRows + p.gap
	if p.strip > 0 {
		drawStrip(c.Sub(0, y, c.W, p.strip), v, q, p.note)
		y += p.strip + p.gap
	}
	y = drawBlock(c, y, "error", p.wrong, screen.Style{Fg: colorError, Bold: true})
	if len(p.wrong) > 0 {
		y += p.gap
	}
	if p.textHigh > 0 {
		most := len(p.text) - p.textHigh
		top := most - min(max(v.list.scroll, 0), most)
		drawBlock(c, y, p.textName, p.text[top:top+p.textHigh], screen.Strong)
		if most > 0 {
			c.Print(screen.Width(p.textName), y, fmt.Sprintf(" · %d lines above, %d below: PgUp PgDn", top, most-top), screen.Label)
		}
	}
}

// drawRequestHead says what became of the request.
func drawRequestHead(c screen.Canvas, q *metrics.RequestDetail) {
	sign, word, st := stateWords(&q.RequestRow)
	if q.State == metrics.StateFailed {
		word = failureName(q.Failure, q.Status)
	}
	if st == screen.Label {
		st = screen.Text
	}
	st.Bold = true
	x := c.Print(0, 0, sign+" "+word, st)
	say := func(s string) {
		if s != "" && x < c.W {
			x = c.Print(x, 0, " · "+s, screen.Label)
		}
	}
	if q.Slow {
		x = c.Print(x, 0, " ▲ among the slowest", screen.Style{Fg: screen.Orange, Bold: true})
	}
	if q.Finish != "" {
		say("finish " + screen.Sanitize(q.Finish))
	}
	if q.Status != 0 && q.Failure != metrics.FailedStatus {
		say(fmt.Sprintf("HTTP %d", q.Status))
	}
	say(screen.Sanitize(q.Model))
}

// drawBlock writes a heading and lines, and returns the line after them.
func drawBlock(c screen.Canvas, y int, name string, lines []string, st screen.Style) int {
	if len(lines) == 0 {
		return y
	}
	c.Print(0, y, name, st)
	for _, l := range lines {
		y++
		c.Print(0, y, l, screen.Text)
	}
	return y + 1
}
