package tui

import (
	"fmt"

	"benchtop/metrics"
)

// overlay draws a titled box above everything else, at most as large as c, and returns its inside.
func overlay(c canvas, title string, w, h int, corner bool) canvas {
	w, h = min(w+4, c.w), min(h+2, c.h)
	x, y := (c.w-w)/2, (c.h-h)/2
	if corner {
		x, y = c.w-w, c.h-h
	}
	b := c.sub(x, y, w, h)
	b.clear()
	if b.w < 4 || b.h < 2 {
		return b
	}
	border(b, true)
	b.sub(2, 0, b.w-4, 1).print(0, 0, " "+title+" ", strong)
	return b.sub(2, 1, b.w-4, b.h-2)
}

// drawHelp lists the keys, in two columns where one is too high and there is room for two.
func (m *model) drawHelp(c canvas) {
	rows := m.helpLines()
	keys, most := 0, 0
	for _, r := range rows {
		keys, most = max(keys, width(r[0])), max(most, width(r[1]))
	}
	column, columns := keys+2+most, 1
	if len(rows) > c.h-2 && 2*column+helpGap+4 <= c.w {
		columns = 2
	}
	high := (len(rows) + columns - 1) / columns
	in := overlay(c, "Help, any key closes", columns*column+(columns-1)*helpGap, high, false)
	if high > in.h { // j and k show the rest
		m.helpTop = min(m.helpTop, high-in.h)
	} else {
		m.helpTop = 0
	}
	for i, r := range rows {
		at := in.sub(i/high*(column+helpGap), i%high-m.helpTop, column, 1)
		if i%high < m.helpTop {
			continue
		}
		if r[0] == "" {
			at.print(keys+2, 0, r[1], label)
			continue
		}
		at.right(keys, 0, r[0], strong)
		at.print(keys+2, 0, r[1], text)
	}
	if high > in.h {
		in.print(0, 0, "↓", label)
	}
}

const helpGap = 3 // columns between columns

// drawStopping says what happens to what is still in flight, and to the result.
func (m *model) drawStopping(c canvas, s *metrics.Snapshot) {
	flying := s.Waiting + s.Running
	rows := []span{stateSign(s, m.state(s))}
	switch m.state(s) {
	case metrics.Draining:
		rows = append(rows,
			span{"no new requests are sent", text},
			span{fmt.Sprintf("%d in flight may finish: %d waiting, %d running", flying, s.Waiting, s.Running), text})
	default:
		rows = append(rows, span{fmt.Sprintf("cutting %d requests in flight", flying), text})
	}
	switch {
	case s.SaveError != "":
		rows = append(rows, span{"! NOT SAVING: " + sanitize(s.SaveError), warning})
	case s.SavePath != "":
		rows = append(rows, span{"the result is saved in any case", text})
	default:
		rows = append(rows, span{"the report comes in any case, not saved", text})
	}
	switch m.stops {
	case 0:
		rows = append(rows, span{"q q cuts the rest now", label})
	case 1:
		rows = append(rows, span{"q again cuts the rest now", label})
	default:
		rows = append(rows, span{"q again leaves at once", label})
	}
	w := 0
	for _, r := range rows {
		w = max(w, width(r.text))
	}
	in := overlay(c, "Stopping", w, len(rows), true)
	for y, r := range rows {
		in.print(0, y, r.text, r.style)
	}
}
