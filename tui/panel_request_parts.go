package tui

import (
	"fmt"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// requestParts is how an open request shares out the lines of its panel: a head, facts, the line of time, what went wrong,
// and the text with what is left.
type requestParts struct {
	facts    []fact
	factRows int
	gap      int // empty lines between the parts
	strip    int // lines of the line of time; 1 for a note in its place
	note     string
	wrong    []string
	text     []string
	textName string
	textHigh int // lines of text that fit, 0 if there is no room for any
}

// fact is a name and a figure.
type fact struct{ name, value string }

// The width of a fact, its name and its value, and the columns between two.
const (
	factWidth = 19
	factGap   = 3
)

func partsOf(v *view, q *metrics.RequestDetail, known bool, w, h int) requestParts {
	p := requestParts{facts: factsOf(q), strip: 3}
	columns := min(max(1, (w+factGap)/(factWidth+factGap)), 5)
	p.factRows = (len(p.facts) + columns - 1) / columns
	p.gap = min(1, h/16)
	switch {
	case !known && q.Kept:
		p.strip, p.note = 1, "asking for its chunks…"
	case !q.Kept:
		p.strip, p.note = 1, "its chunks were not kept"
	case q.Sent < 0:
		p.strip, p.note = 1, "not sent yet"
	case len(q.Chunks) == 0:
		p.strip, p.note = 1, "no chunk came"
		if !over(q.State) {
			p.note = "no chunk yet"
		}
	}
	left := h - 1 - p.factRows - p.gap - p.strip - p.gap
	whole := q.Whole
	if whole == "" {
		whole = q.Error
	}
	if p.wrong = fold(whole, w); len(p.wrong) > 0 {
		most := max(1, left-1)
		if q.Text != "" {
			most = max(1, left/2-1)
		}
		if len(p.wrong) > most {
			p.wrong = p.wrong[:most]
			p.wrong[most-1] = screen.Shorten(p.wrong[most-1]+" …", w)
		}
		left -= len(p.wrong) + 1 + p.gap
	}
	if q.Text != "" {
		p.text, p.textName = fold(q.Text, w), "text"
		if q.TextCut {
			p.textName = "text, its beginning"
		}
		p.textHigh = max(0, min(left-1, len(p.text)))
	}
	return p
}

// openText is how many lines the text of the open request has, and how many of them fit a panel that covers r.
func openText(v *view, r rect) (lines, high int) {
	q, known := v.openRequest()
	if q == nil {
		return 0, 0
	}
	p := partsOf(v, q, known, r.w-2, r.h-2)
	return len(p.text), p.textHigh
}

// factsOf are the figures of a request, those that belong together below each other.
func factsOf(q *metrics.RequestDetail) []fact {
	all := []fact{
		{"scheduled", moment(q.Scheduled)}, {"due", moment(q.Due)}, {"sent", moment(q.Sent)}, {"ended", moment(q.Ended)},
		{"held", latencyOrNone(q.Held)}, {"encode", latencyOrNone(q.Encode)}, {"connect", latencyOrNone(q.Connect)},
		{"TTFT", latencyOrNone(q.TTFT)}, {"TPOT", latencyOrNone(q.TPOT)}, {"E2EL", latencyOrNone(q.E2EL)},
		{"tokens in", tokens(q.InputTokens)}, {"cached", tokens(q.CachedTokens)}, {"tokens out", tokens(q.OutputTokens)},
		{"server queue", latencyOrNone(q.ServerQueue)}, {"prefill", latencyOrNone(q.ServerPrefill)},
	}
	if q.Redials > 0 {
		all = append(all, fact{"redials", number.Count(q.Redials)})
	}
	return all
}

func latencyOrNone(d time.Duration) string {
	if d < 0 {
		return "–"
	}
	return number.Latency(d)
}

// moment is a moment of the run to a tenth of a second.
func moment(at time.Duration) string {
	if at < 0 {
		return "–"
	}
	return fmt.Sprintf("%s.%d", number.Clock(at), int(at/(100*time.Millisecond)%10))
}

// drawFacts writes the facts in columns, from top to bottom.
func drawFacts(c screen.Canvas, all []fact, rows int) {
	if rows <= 0 {
		return
	}
	for i, f := range all {
		cell := c.Sub(i/rows*(factWidth+factGap), i%rows, factWidth, 1)
		cell.Print(0, 0, f.name, screen.Label)
		st := screen.Text
		if f.value == "–" {
			st = screen.Label
		}
		cell.Right(cell.W, 0, f.value, st)
	}
}
