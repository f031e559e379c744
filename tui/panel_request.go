package tui

import (
	"fmt"

	"benchtop/metrics"
)

// requestPanel is one request in full: its moments, its chunks on a line of time, what went wrong and what it said.
var requestPanel = panel{"request", requestTitle, drawRequest}

func requestTitle(v *view, w, _ int) []span {
	q, _ := v.openRequest()
	if q == nil {
		return []span{{"request", strong}}
	}
	out := []span{{fmt.Sprintf("request %d", q.Index), strong}}
	if id := sanitize(q.ID); id != "" {
		out = append(out, span{" " + shortenMiddle(id, max(8, w-30)), label})
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

func drawRequest(c canvas, v *view) {
	q, known := v.openRequest()
	switch {
	case q == nil && v.list.opened:
		c.center(fmt.Sprintf("request %d is not kept any more", v.list.picked-1), label)
		return
	case q == nil:
		c.center("Enter on the list opens a request", label)
		return
	}
	p := partsOf(v, q, known, c.w, c.h)
	drawRequestHead(c, q)
	drawFacts(c.sub(0, 1, c.w, p.factRows), p.facts, p.factRows)
	y := 1 + p.factRows + p.gap
	if p.strip > 0 {
		drawStrip(c.sub(0, y, c.w, p.strip), v, q, p.note)
		y += p.strip + p.gap
	}
	y = drawBlock(c, y, "error", p.wrong, style{fg: colorError, attr: bold})
	if len(p.wrong) > 0 {
		y += p.gap
	}
	if p.textHigh > 0 {
		most := len(p.text) - p.textHigh
		top := most - min(max(v.list.scroll, 0), most)
		drawBlock(c, y, p.textName, p.text[top:top+p.textHigh], strong)
		if most > 0 {
			c.print(width(p.textName), y, fmt.Sprintf(" · %d lines above, %d below: PgUp PgDn", top, most-top), label)
		}
	}
}

// drawRequestHead says what became of the request.
func drawRequestHead(c canvas, q *metrics.RequestDetail) {
	sign, word, st := stateWords(&q.RequestRow)
	if q.State == metrics.StateFailed {
		word = failureName(q.Failure, q.Status)
	}
	if st == label {
		st = text
	}
	st.attr = bold
	x := c.print(0, 0, sign+" "+word, st)
	say := func(s string) {
		if s != "" && x < c.w {
			x = c.print(x, 0, " · "+s, label)
		}
	}
	if q.Slow {
		x = c.print(x, 0, " ▲ among the slowest", style{fg: orange, attr: bold})
	}
	if q.Finish != "" {
		say("finish " + sanitize(q.Finish))
	}
	if q.Status != 0 && q.Failure != metrics.FailedStatus {
		say(fmt.Sprintf("HTTP %d", q.Status))
	}
	say(sanitize(q.Model))
}

// drawBlock writes a heading and lines, and returns the line after them.
func drawBlock(c canvas, y int, name string, lines []string, st style) int {
	if len(lines) == 0 {
		return y
	}
	c.print(0, y, name, st)
	for _, l := range lines {
		y++
		c.print(0, y, l, text)
	}
	return y + 1
}
