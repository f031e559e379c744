package panels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// requestPanel is one request in full: its moments, its chunks on a line of time, its error and its text.
var requestPanel = Panel{name: "request", title: requestTitle, draw: drawRequest}

func requestTitle(v *View, w, _ int) []screen.Span {
	q, _ := v.openRequest()
	if q == nil {
		return []screen.Span{screen.Strong.Span("request")}
	}
	out, id := heading{screen.Strong.Span(fmt.Sprintf("request %d", q.Index))}, screen.Sanitize(q.ID)
	out.when(id != "", screen.Label, " ", screen.ShortenMiddle(id, max(8, w-30)))
	return out
}

// openRequest is the request that is open; nil if there is none. known says that all of it came, not only its row in
// the list.
func (v *View) openRequest() (q *metrics.RequestDetail, known bool) {
	if !v.List.Opened || v.List.Picked == 0 {
		return nil, false
	}
	index := v.List.Picked - 1
	if o := v.Opened; o != nil && o.Index == index {
		return o, true
	}
	for i := range v.Requests {
		if r := &v.Requests[i]; r.Index == index {
			return &metrics.RequestDetail{
				RequestRow: *r, Scheduled: metrics.Never, Encode: metrics.Never, Connect: metrics.Never,
			}, false
		}
	}
	return nil, false
}

func drawRequest(c screen.Canvas, v *View) {
	q, known := v.openRequest()
	switch {
	case q == nil && v.List.Opened:
		c.Center(fmt.Sprintf("request %d is no longer kept", v.List.Picked-1), screen.Label)
		return
	case q == nil:
		c.Center("Enter in the list opens a request", screen.Label)
		return
	}
	p := partsOf(v, q, known, c.W, c.H)
	drawRequestHead(c, q)
	drawFacts(c.Sub(0, 1, c.W, p.factRows), p.facts, p.factRows, factWidth, factGap)
	y := 1 + p.factRows + p.gap
	if p.strip > 0 {
		drawStrip(c.Sub(0, y, c.W, p.strip), v, q, p.note)
		y += p.strip + p.gap
	}
	y = drawBlock(c, y, "error", p.wrong, screen.Warning)
	if len(p.wrong) > 0 {
		y += p.gap
	}
	drawBlock(c.Sub(0, 0, p.textWide, c.H), y, "prompt", p.prompt, screen.Strong)
	c = c.Sub(c.W-p.textWide, y, p.textWide, c.H-y)
	if p.textHigh > 0 {
		most := len(p.text) - p.textHigh
		top := most - min(max(v.List.Scroll, 0), most)
		drawBlock(c, 0, p.textName, p.text[top:top+p.textHigh], screen.Strong)
		if most > 0 {
			c.Print(screen.Width(p.textName), 0, fmt.Sprintf(" · %d above, %d below: PgUp PgDn", top, most-top),
				screen.Label)
		}
	}
}

// drawRequestHead writes the state of the request.
func drawRequestHead(c screen.Canvas, q *metrics.RequestDetail) {
	sign, word, st := describeState(&q.RequestRow)
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
		x = c.Print(x, 0, " ▲ among the slowest 5 %", screen.Caution)
	}
	say(missedText(&q.RequestRow))
	if q.Finish != "" {
		say("finish " + screen.Sanitize(q.Finish))
	}
	if q.Status != 0 && q.Failure != metrics.FailedStatus {
		say(fmt.Sprintf("HTTP %d", q.Status))
	}
	say(screen.Sanitize(q.Model))
	say(screen.Sanitize(q.Class))
	if q.Turns > 1 {
		say(fmt.Sprintf("turn %d of %d of %s", q.Turn+1, q.Turns, screen.Sanitize(q.Session)))
	}
	if q.Wrong != "" {
		say("wrong answer: " + screen.Sanitize(q.Wrong))
	}
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

// requestParts divide the lines of the panel: a head, facts, the line of time, the error, and in the rest the prompt
// and, beside it, the answer.
type requestParts struct {
	facts    []figure
	factRows int
	gap      int // empty lines between the parts
	strip    int // lines of the line of time; 1 for a note in its place
	note     string
	wrong    []string
	prompt   []string
	text     []string
	textName string
	textWide int // of either of them
	textHigh int // lines of text that fit, 0 if there is no room for any
}

// The width of a fact, its name and its value, and the columns between two.
const (
	factWidth = 19
	factGap   = 3
)

func partsOf(v *View, q *metrics.RequestDetail, known bool, w, h int) requestParts {
	p := requestParts{facts: factsOf(v, q), strip: 3}
	columns := min(max(1, (w+factGap)/(factWidth+factGap)), 5)
	p.factRows = (len(p.facts) + columns - 1) / columns
	p.gap = min(1, h/16)
	switch {
	case !known && q.Kept:
		p.strip, p.note = 1, "loading chunks…"
	case !q.Kept:
		p.strip, p.note = 1, "chunks not kept"
	case q.Sent < 0:
		p.strip, p.note = 1, "not sent yet"
	case len(q.Chunks) == 0:
		p.strip, p.note = 1, "no chunks"
		if !over(q.State) {
			p.note = "waiting for the first chunk"
		}
	}
	left := h - 1 - p.factRows - p.gap - p.strip - p.gap
	whole := cmp.Or(q.Whole, q.Error)
	if p.wrong = screen.Fold(whole, w); len(p.wrong) > 0 {
		most := left - 1
		if q.Text+q.Prompt != "" {
			most = left/2 - 1
		}
		p.wrong = cutLines(p.wrong, most, w)
		left -= len(p.wrong) + 1 + p.gap
	}
	if p.textWide = w; q.Prompt != "" && q.Text != "" {
		p.textWide = (w - 2) / 2
	}
	p.prompt = cutLines(screen.Fold(q.Prompt, p.textWide), left-1, p.textWide)
	if q.Text != "" {
		p.text, p.textName = screen.Fold(q.Text, p.textWide), "answer"
		if q.TextCut {
			p.textName = "answer (start)"
		}
		p.textHigh = max(0, min(left-1, len(p.text)))
	}
	return p
}

// cutLines are the first of some lines, at least one of them.
func cutLines(lines []string, most, w int) []string {
	if most = max(1, most); len(lines) <= most {
		return lines
	}
	lines = lines[:most]
	lines[most-1] = screen.Shorten(lines[most-1]+" …", w)
	return lines
}

// openText is how many lines the text of the open request has, and how many of them fit a panel that covers r.
func openText(v *View, r Rect) (lines, high int) {
	q, known := v.openRequest()
	if q == nil {
		return 0, 0
	}
	p := partsOf(v, q, known, r.W-2, r.H-2)
	return len(p.text), p.textHigh
}

// factsOf are the figures of a request, related ones below each other.
func factsOf(v *View, q *metrics.RequestDetail) (all []figure) {
	all = possible(v, []figure{
		{name: "scheduled", value: moment(q.Scheduled)}, {name: "due", value: moment(q.Due)},
		{name: "sent", value: moment(q.Sent)}, {name: "ended", value: moment(q.Ended)},
		{name: "queued here", value: latencyOrDash(q.SlotWait)}, {name: "encode", value: latencyOrDash(q.Encode)},
		{name: "connect", value: latencyOrDash(q.Connect)}, {name: "TTFT", value: latencyOrDash(q.TTFT)},
		{name: "TPOT", value: latencyOrDash(q.TPOT)}, {name: "E2EL", value: latencyOrDash(q.E2EL)},
		{name: "tokens in", value: tokens(q.InputTokens)}, {name: "cached", value: tokens(q.CachedTokens)},
		{name: "tokens out", value: tokens(q.OutputTokens)},
		{name: "server queue", value: latencyOrDash(q.ServerQueue)},
		{name: "prefill", value: latencyOrDash(q.ServerPrefill)},
	}, func(f figure) string { return f.name })
	if q.Audio > 0 {
		all = append(all, figure{name: "recording", value: number.Latency(q.Audio)})
	}
	if q.Redials > 0 {
		all = append(all, figure{name: "redials", value: number.Count(q.Redials)})
	}
	return all
}

func latencyOrDash(d time.Duration) string { return orDash(d >= 0, number.Latency, d) }

// moment is a moment of the run to a tenth of a second.
func moment(at time.Duration) string {
	if at < 0 {
		return dash
	}
	return fmt.Sprintf("%s.%d", number.Clock(at), int(at/(100*time.Millisecond)%10))
}

// drawFacts writes figures in columns of a width, from top to bottom.
func drawFacts(c screen.Canvas, all []figure, rows, width, gap int) {
	for i, f := range all {
		at := c.Sub(i/rows*(width+gap), i%rows, width, 1)
		at.Print(0, 0, f.name, screen.Label)
		value := cell(f.value)
		if f.style != screen.Text {
			value.Style = f.style
		}
		at.Right(at.W, 0, value.Text, value.Style)
	}
}

// drawStrip draws a request on a line of time, under a rate from the scheduled moment on: its wait for a slot, its wait
// for the first chunk, and a tick for each chunk, so that gaps can be seen. note stands in its place if there is
// nothing to draw.
//
//	129 chunks · ITL min 12.1ms  p50 22.3ms  max 210ms · ┃ 2 coalesced
//	‖‖‖‖‖‖‖‖‖‖············⡇⡇⢸⢸┃⡇⢸     ⢸⡇⡇⢸⢸
//	scheduled─┴sent 88ms──┴TTFT 123ms───────3.02s
func drawStrip(c screen.Canvas, v *View, q *metrics.RequestDetail, note string) {
	if note != "" || c.H < 3 || c.W < 8 {
		c.Print(0, 0, note, screen.Label)
		return
	}
	from, end := q.Sent, v.At
	if v.plan().Paced() && q.Scheduled >= 0 {
		from = min(q.Scheduled, from)
	}
	if over(q.State) {
		end = max(q.Ended, q.Chunks[len(q.Chunks)-1].At)
	}
	took := max(end-from, time.Millisecond)
	part := func(at time.Duration) float64 { return float64(at-from) / float64(took) }
	cellOf := func(at time.Duration) int { return chart.MomentDot(c, part(at)) / 2 }
	sent, first := cellOf(q.Sent), cellOf(q.Chunks[0].At)
	c.Print(0, 1, strings.Repeat("‖", sent), screen.Style{Fg: screen.Queued})
	c.Print(sent, 1, strings.Repeat("·", max(0, first-sent)), screen.Style{Fg: screen.Waiting})
	parts := make([]float64, len(q.Chunks))
	for i := range q.Chunks {
		parts[i] = part(q.Chunks[i].At)
	}
	chart.Moments(c.Sub(0, 1, c.W, 1), v.Raster, parts, screen.Output)
	for i := range q.Chunks[1:] {
		if at := q.Chunks[i+1].At; at-q.Chunks[i].At < chart.ShortLatency {
			c.Set(cellOf(at), 1, coalescedSign, screen.Caution)
		}
	}
	c.Spans(0, 0, gapText(q.Chunks))
	last := number.Latency(took)
	if !over(q.State) {
		last = "now " + last
	}
	marks := []stripMark{{0, "0"}}
	if sent > 0 {
		marks = []stripMark{{0, "scheduled"}, {sent, "sent " + number.Latency(q.Sent-from)}}
	}
	marks = append(marks, stripMark{first, v.firstWait().Naming().Title + " " + latencyOrDash(q.TTFT)})
	drawStripAxis(c.Sub(0, 2, c.W, 1), marks, last)
}

// coalescedSign marks a chunk that came in one read with the one before, as the latencies below chart.ShortLatency.
const coalescedSign = '┃'

// stripMark is a moment on the line of time of a request, in cells, and its name.
type stripMark struct {
	x    int
	name string
}

// drawStripAxis draws the line below, with the names on either side of their moments where there is room.
func drawStripAxis(c screen.Canvas, marks []stripMark, last string) {
	c.Print(0, 0, strings.Repeat("─", c.W), screen.Line)
	c.Right(c.W, 0, last, screen.Label)
	marks = append(marks, stripMark{c.W - screen.Width(last) - 1, ""})
	free := c.Print(0, 0, marks[0].name, screen.Label)
	for i, m := range marks[1 : len(marks)-1] {
		c.Set(m.x, 0, '┴', screen.Text)
		switch n := screen.Width(m.name); {
		case m.x >= free && m.x+1+n <= marks[i+2].x:
			free = c.Print(m.x+1, 0, m.name, screen.Text)
		case m.x-n >= free:
			c.Print(m.x-n, 0, m.name, screen.Text)
		}
	}
}

// gapText is the number of chunks and the gaps between them.
func gapText(chunks []metrics.Chunk) []screen.Span {
	out := heading{screen.Strong.Span(number.Count(len(chunks))), screen.Label.Span(" chunks")}
	if len(chunks) < 2 {
		return out
	}
	gaps, coalesced := make([]time.Duration, len(chunks)-1), 0
	for i := range gaps {
		gaps[i] = max(0, chunks[i+1].At-chunks[i].At)
		if gaps[i] < chart.ShortLatency {
			coalesced++
		}
	}
	slices.Sort(gaps)
	out = append(out, screen.Label.Span(" · ITL"))
	for _, g := range []struct {
		name string
		at   int
	}{{" min ", 0}, {"  p50 ", len(gaps) / 2}, {"  max ", len(gaps) - 1}} {
		out = append(out, screen.Label.Span(g.name), screen.Text.Span(number.Latency(gaps[g.at])))
	}
	out.when(coalesced > 0, screen.Caution, between, string(coalescedSign), " ", number.Count(coalesced), " coalesced")
	return out
}
