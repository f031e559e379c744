package tui

import (
	"strings"

	"benchtop/tui/chart"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
)

// preparingSign is the state of the header while a run is prepared.
func preparingSign(clock string) []screen.Span {
	return []screen.Span{screen.Style{Fg: screen.Blue, Bold: true}.Span("◐ PREPARING"), screen.Text.Span(" " + clock)}
}

// drawPreparation fills the screen. Header, box and bottom line are where the dashboard has them.
func (m *model) drawPreparation(c screen.Canvas) {
	c.Clear()
	v := &m.prep.shown
	if c.W < 40 || c.H < 10 {
		v.drawTiny(c)
		return
	}
	head := 2
	if c.W < 80 || c.H < 24 {
		head = 1
	}
	v.drawHead(c.Sub(0, 0, c.W, head))
	v.drawBox(c.Sub(0, head, c.W, c.H-head-1))
	drawCancel(c.Sub(0, c.H-1, c.W, 1))
}

func drawCancel(c screen.Canvas) {
	c.Print(c.Print(0, 0, "q", screen.Strong), 0, " cancel", screen.Label)
}

// drawHead draws one or two lines: the name and the state, then the plan.
func (v *preparationView) drawHead(c screen.Canvas) {
	right := preparingSign(v.clock)
	c.Sub(0, 0, c.W-screen.SpansWidth(right)-1, 1).Print(0, 0, "benchtop", screen.Style{Fg: screen.Blue, Bold: true})
	c.Spans(c.W-screen.SpansWidth(right), 0, right)
	c.Print(0, 1, panels.PlanLine(v.plan, c.W), screen.Label)
}

// drawTiny shows the step in progress alone.
func (v *preparationView) drawTiny(c screen.Canvas) {
	c.Spans(0, 0, preparingSign(v.clock))
	if c.H > 2 {
		drawCancel(c.Sub(0, c.H-1, c.W, 1))
		c = c.Sub(0, 0, c.W, c.H-1)
	}
	if v.at < 0 {
		return
	}
	r := &v.rows[v.at]
	said := strings.TrimSpace(r.name + " " + r.count)
	c.Print(0, 1, said, screen.Text)
	for i, line := range screen.Wrap(r.words, c.W, c.H-2) {
		c.Print(0, 2+i, line, screen.Label)
	}
}

// preparationLine is a line of the box: of a step, or a further line of its words.
type preparationLine struct {
	row   *preparationRow // nil for a further line of words
	words string
}

// widestBox keeps the times of steps near their names.
const widestBox = 120

// drawBox lists the steps. Where there are more lines than room, the step in progress is among those that are shown.
func (v *preparationView) drawBox(c screen.Canvas) {
	names := 0
	for i := range v.rows {
		names = max(names, screen.Width(v.rows[i].name))
	}
	c = c.Sub(0, 0, min(c.W, widestBox), c.H)
	inner := c.W - 4
	at := 2 + names + 2 // where words begin
	var lines []preparationLine
	current := 0
	for i := range v.rows {
		r := &v.rows[i]
		lines = append(lines, preparationLine{row: r, words: r.words})
		if r.state != stepOn {
			continue
		}
		current = len(lines) - 1
		rest := screen.Wrap(r.words, inner-at-stepTook, mostWords)
		if r.count != "" { // the count stands where the words would begin
			lines[current].words = ""
		} else if len(rest) > 0 {
			lines[current].words, rest = rest[0], rest[1:]
		}
		for _, words := range rest {
			lines = append(lines, preparationLine{words: words})
		}
	}
	c = c.Sub(0, 0, c.W, min(c.H, len(lines)+2))
	if c.H < 3 {
		return
	}
	c.Border(false)
	c.Print(2, 0, " preparing the run ", screen.Strong)
	c = c.Sub(2, 1, inner, c.H-2)
	from := max(0, min(current-c.H/2, len(lines)-c.H))
	for y, l := range lines[from:min(len(lines), from+c.H)] {
		line := c.Sub(0, y, c.W, 1)
		if l.row != nil {
			l.row.draw(line, at)
		}
		words := screen.Text
		if l.row != nil && l.row.state == stepDone {
			words = screen.Label
		}
		line.Sub(at, 0, c.W-at-stepTook, 1).Print(0, 0, l.words, words)
	}
}

// stepTook is the width of the column of times, mostWords how many lines the words of a step may take.
const stepTook, mostWords = 7, 4

// draw writes a step without its words, which begin at a column.
func (r *preparationRow) draw(c screen.Canvas, at int) {
	sign, name := "·", screen.Label
	style := screen.Label
	switch r.state {
	case stepOn:
		sign, name, style = "▶", screen.Strong, screen.Style{Fg: screen.Blue, Bold: true}
	case stepDone:
		sign, name, style = "✓", screen.Text, screen.Style{Fg: screen.Green, Bold: true}
	}
	c.Print(0, 0, sign, style)
	c.Print(2, 0, r.name, name)
	c.Right(c.W, 0, r.took, screen.Label)
	if r.count == "" {
		return
	}
	x := at
	if room := c.W - at - stepTook - screen.Width(r.count) - 2; r.part >= 0 && room >= 10 {
		w := min(room, 40)
		chart.Bar(c.Sub(at, 0, w, 1), r.part)
		x += w + 2
	}
	c.Print(x, 0, r.count, screen.Text)
}
