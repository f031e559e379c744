package tui

import (
	"fmt"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// overlay draws a titled box above everything else, at most as large as c, and returns its inside.
func overlay(c screen.Canvas, title string, w, h int, corner bool) screen.Canvas {
	w, h = min(w+4, c.W), min(h+2, c.H)
	x, y := (c.W-w)/2, (c.H-h)/2
	if corner {
		x, y = c.W-w, c.H-h
	}
	b := c.Sub(x, y, w, h)
	b.Clear()
	if b.W < 4 || b.H < 2 {
		return b
	}
	border(b, true)
	b.Sub(2, 0, b.W-4, 1).Print(0, 0, " "+title+" ", screen.Strong)
	return b.Sub(2, 1, b.W-4, b.H-2)
}

// drawHelp lists the keys, in two columns where one is too high and there is room for two.
func (m *model) drawHelp(c screen.Canvas) {
	rows := m.helpLines()
	keys, most := 0, 0
	for _, r := range rows {
		keys, most = max(keys, screen.Width(r[0])), max(most, screen.Width(r[1]))
	}
	column, columns := keys+2+most, 1
	if len(rows) > c.H-2 && 2*column+helpGap+4 <= c.W {
		columns = 2
	}
	high := (len(rows) + columns - 1) / columns
	in := overlay(c, "Help, any key closes", columns*column+(columns-1)*helpGap, high, false)
	if high > in.H { // j and k show the rest
		m.helpTop = min(m.helpTop, high-in.H)
	} else {
		m.helpTop = 0
	}
	for i, r := range rows {
		at := in.Sub(i/high*(column+helpGap), i%high-m.helpTop, column, 1)
		if i%high < m.helpTop {
			continue
		}
		if r[0] == "" {
			at.Print(keys+2, 0, r[1], screen.Label)
			continue
		}
		at.Right(keys, 0, r[0], screen.Strong)
		at.Print(keys+2, 0, r[1], screen.Text)
	}
	if high > in.H {
		in.Print(0, 0, "↓", screen.Label)
	}
}

const helpGap = 3 // columns between columns

// drawStopping says what happens to what is still in flight, and to the result.
func (m *model) drawStopping(c screen.Canvas, s *metrics.Snapshot) {
	flying := s.Waiting + s.Running
	rows := []screen.Span{stateSign(s, m.state(s))}
	switch m.state(s) {
	case metrics.Draining:
		rows = append(rows,
			screen.Text.Span("no new requests are sent"),
			screen.Text.Span(fmt.Sprintf("%d in flight may finish: %d waiting, %d running", flying, s.Waiting, s.Running)))
	default:
		rows = append(rows, screen.Text.Span(fmt.Sprintf("cutting %d requests in flight", flying)))
	}
	switch {
	case s.SaveError != "":
		rows = append(rows, screen.Warning.Span("! NOT SAVING: "+screen.Sanitize(s.SaveError)))
	case s.SavePath != "":
		rows = append(rows, screen.Text.Span("the result is saved in any case"))
	default:
		rows = append(rows, screen.Text.Span("the report comes in any case, not saved"))
	}
	switch m.stops {
	case 0:
		rows = append(rows, screen.Label.Span("q q cuts the rest now"))
	case 1:
		rows = append(rows, screen.Label.Span("q again cuts the rest now"))
	default:
		rows = append(rows, screen.Label.Span("q again leaves at once"))
	}
	w := 0
	for _, r := range rows {
		w = max(w, screen.Width(r.Text))
	}
	in := overlay(c, "Stopping", w, len(rows), true)
	for y, r := range rows {
		in.Print(0, y, r.Text, r.Style)
	}
}
