// Package panels turns a snapshot and a size into pages of panels, the header and its key figures. It takes plain data,
// a View, and knows neither keys nor time: the model of the dashboard fills a View and draws.
//
//	View ──> Layout: named rectangles ──> Named(name).Draw: a panel on its rectangle
//	  └────> Header.Draw, DrawFigures: the lines above
//
// A page is in pages.go. The name of a panel is the name of its file, or stands in panel.go.
package panels

import (
	"cmp"
	"slices"
	"strings"

	"benchtop/tui/screen"
)

// Panel is a box with a title. It knows nothing but the view.
type Panel struct {
	name  string
	title titleOf
	draw  drawOf
	// open stands in place of title and draw where both show the same data.
	open func(v *View) (titleOf, drawOf)
	// timed says that the panel is a chart over time: the axis is on its lower border. foot is on the lower border of
	// others.
	timed bool
	foot  func(v *View, w int) []screen.Span
	// server says that there is nothing to draw before the server was asked.
	server bool
	// nothing stands in place of a drawing where empty says that there is nothing to draw; nil: never.
	empty   func(v *View) bool
	nothing string
}

type (
	// titleOf is the title of a panel of a size. Its first piece is always there, the others as far as they fit.
	titleOf func(v *View, w, h int) []screen.Span
	// drawOf fills the inside of a panel.
	drawOf func(c screen.Canvas, v *View)
)

// timePanel is a chart over time with the legend as its title.
func timePanel(name string, build func(v *View) plot) Panel {
	return Panel{name: name, timed: true, open: func(v *View) (titleOf, drawOf) {
		p := build(v)
		return p.legend, func(c screen.Canvas, v *View) { v.versus(p, build).draw(c) }
	}}
}

// titleFrame is the part of a panel's width that its title cannot have: corners, blanks, the brackets of the chosen
// panel.
const titleFrame = 7

// all panels. To add one: a file with its function, an entry here, a place in a page's layout.
var all = []*Panel{
	&tokensPanel, &loadPanel, &percentilesPanel, &itlOverTimePanel, &ttftPanel, &itlPanel, &latencyPanel, &sloPanel,
	&errorsPanel,
	&logPanel, &eventsPanel, &reportPanel,
	&latencyHistogramPanel, &latencyBandPanel, &latencyHeatPanel, &percentileTablePanel,
	&ratePanel, &latenessPanel, &stagesPanel, &endpointsPanel, &classesPanel, &placesPanel, &turnsPanel,
	&serverQueuePanel, &kvPanel, &serverTokensPanel, &serverTTFTPanel, &cachePanel, &gpuPanel, &whyPanel,
	&enginesPanel, &machinesPanel, &requestsPanel, &requestPanel, &promptLengthsPanel, &answerLengthsPanel,
	&finishPanel,
	&draftsPanel,
}

// Named finds a panel.
func Named(name string) (Panel, bool) {
	for _, p := range all {
		if p.name == name {
			return *p, true
		}
	}
	return Panel{}, false
}

// Draw draws the border, the title and the inside. A panel that panics shows an error in its place.
func (p Panel) Draw(c screen.Canvas, v *View, b Box, focused bool) {
	inner := c
	if !b.Bare {
		if c.W < 4 || c.H < 2 {
			return
		}
		inner = c.Sub(1, 1, c.W-2, c.H-2)
		c.Border(focused, b.Joins, b.Opens)
	}
	defer func() {
		if recover() != nil {
			inner.Clear()
			inner.Center("chart error", screen.Warning)
		}
	}()
	if b.Joins {
		v = v.below()
	}
	title, draw := p.title, p.draw
	if p.open != nil {
		title, draw = p.open(v)
	}
	if !b.Bare {
		p.drawFrame(c, v, b, title(v, c.W, c.H), focused)
	}
	switch {
	case inner.W == 0 || inner.H == 0:
	case p.server && len(v.Server) == 0:
		drawAbsent(inner, v.ServerAbsent, nothingYet)
	case p.empty != nil && p.empty(v):
		inner.Center(p.nothing, screen.Label)
	default:
		draw(inner, v)
	}
}

// drawFrame draws what is on the border: the title, the axis of time and the foot.
func (p Panel) drawFrame(c screen.Canvas, v *View, b Box, title []screen.Span, focused bool) {
	if p.timed && !b.Opens {
		t, _, _ := v.overTime()
		t.Draw(c.Sub(1, 0, c.W-2, c.H), v.ticks())
	}
	drawTitle(c, title, focused)
	if p.timed && b.Joins {
		v.crossings(c.Sub(1, 0, c.W-2, 1))
	}
	if p.foot != nil && !b.Opens {
		foot := p.foot(v, c.W-titleFrame)
		c.Sub(2, c.H-1, c.W-4, 1).Spans(0, 0, foot)
	}
}

// drawTitle writes the title on the upper border.
func drawTitle(c screen.Canvas, title []screen.Span, focused bool) {
	if len(title) == 0 {
		return
	}
	open, shut := " ", " "
	if focused {
		open, shut = "[", "]"
	}
	top := c.Sub(2, 0, c.W-4, 1)
	x := top.Print(0, 0, open, screen.Text)
	x = top.Print(x, 0, title[0].Text, screen.Strong)
	if focused || len(title) == 1 {
		x = top.Print(x, 0, shut, screen.Text)
	}
	// The last pieces are left out where there is no room for them.
	rest := title[1:]
	for len(rest) > 0 && x+screen.SpansWidth(rest)+1 > top.W {
		rest = rest[:len(rest)-1]
	}
	if len(rest) > 0 {
		x = top.Spans(x, 0, rest)
		top.Print(x, 0, " ", screen.Text)
	}
}

// legendItem is the name of a line in the title, and its newest value where there is room. A spare one is left out
// first.
type legendItem struct {
	color        screen.Color
	name, value  string
	spare        bool
	brief, short string // the value, and the name alone, where there is little room; "" for the same
}

// needed are the items that are not spare.
func needed(items []legendItem) []legendItem {
	return slices.DeleteFunc(slices.Clone(items), func(it legendItem) bool { return it.spare })
}

// heading is a title in pieces.
type heading []screen.Span

// when adds words where a condition holds.
func (t *heading) when(is bool, st screen.Style, words ...string) {
	if is {
		*t = append(*t, st.Span(strings.Join(words, "")))
	}
}

// noted adds the first of some notes that fits to the title of a panel w wide.
func noted(title []screen.Span, w int, st screen.Style, words ...string) []screen.Span {
	for _, s := range words {
		if s != "" && screen.SpansWidth(title)+screen.Width(s)+6 <= w {
			return append(title, st.Span(s))
		}
	}
	return title
}

// legend is a title with the lines and their values: tokens/s ━ out 7984 ━ in 3812. Where there is no room for all,
// spare lines are left out first, then the values from the last, then lines from the end.
func legend(w int, title string, items ...legendItem) []screen.Span {
	few, brief := needed(items), slices.Clone(items)
	for i := range brief {
		brief[i].value = cmp.Or(brief[i].brief, brief[i].value)
	}
	for _, try := range [][]legendItem{items, few, brief, needed(brief)} {
		if out := legendOf(title, try); screen.SpansWidth(out)+6 <= w {
			return out
		}
	}
	few = needed(brief)
	for i, it := range slices.Backward(few) { // a line without a figure is better than one without a name
		few[i].name, few[i].value = cmp.Or(it.short, it.name), ""
		if out := legendOf(title, few); screen.SpansWidth(out)+6 <= w {
			return out
		}
	}
	for ; len(few) > 1; few = few[:len(few)-1] {
		if out := legendOf(title, few[:len(few)-1]); screen.SpansWidth(out)+6 <= w {
			return out
		}
	}
	return []screen.Span{screen.Strong.Span(title)}
}

// runLegend is the title of a chart whose figures are those of the whole run once that is over, and says so: where
// there is no room for that, the lines have no figures.
func (v *View) runLegend(w int, title string, items ...legendItem) []screen.Span {
	if !v.whole() {
		return legend(w, title, items...)
	}
	note := between + v.rateWindow()
	out := noted(legend(w-screen.Width(note), title, items...), w, screen.Label, note)
	names := needed(items)
	for i := range names {
		names[i].value, names[i].brief = "", ""
	}
	if bare := legend(w, title, names...); len(bare) > len(out)-1 {
		return bare
	}
	return out
}

func legendOf(title string, items []legendItem) []screen.Span {
	out := append(make([]screen.Span, 0, 3+2*len(items)), screen.Strong.Span(title))
	for _, it := range items {
		name := it.name
		if it.value != "" {
			name += " " + it.value
		}
		out = append(out, screen.Style{Fg: it.color}.Span(" ━ "), screen.Text.Span(name))
	}
	return out
}

// chartRows is the room below a panel of few lines for a chart of its figures, as in a zoomed panel: a blank line, a
// heading, the chart and its axis.
const chartRows = 7

// chartBelow draws a chart with a heading from row y on, if there is room for it.
func (v *View) chartBelow(c screen.Canvas, y int, heading []screen.Span, draw func(c screen.Canvas)) {
	if c.H-y < chartRows {
		return
	}
	c.Spans(0, y+1, heading)
	draw(c.Sub(0, y+2, c.W, c.H-y-3))
	t, _, _ := v.overTime()
	t.Draw(c.Sub(0, c.H-1, c.W, 1), v.ticks())
}

// dash stands for a figure that is not known.
const dash = "–"

// orDash writes a figure, or a dash where it is not known.
func orDash[T any](known bool, write func(T) string, figure T) string {
	if known {
		return write(figure)
	}
	return dash
}

// cell is a figure for a column, a label where it is not known.
func cell(figure string) screen.Span {
	if figure == dash {
		return screen.Label.Span(dash)
	}
	return screen.Text.Span(figure)
}
