package panels

import (
	"benchtop/tui/screen"
)

// Panel is a box with a title. It knows nothing but the view.
type Panel struct {
	name  string
	title titleOf
	draw  drawOf
	// open stands in place of title and draw where both show the same data.
	open func(v *View) (titleOf, drawOf)
	// server says that there is nothing to draw before the server was asked.
	server bool
}

type (
	// titleOf is the title of a panel of a size. Its first piece is always there, the others as far as they fit.
	titleOf func(v *View, w, h int) []screen.Span
	// drawOf fills the inside of a panel.
	drawOf func(c screen.Canvas, v *View)
)

// timePanel is a chart over time with the legend as its title.
func timePanel(name string, build func(v *View) plot) Panel {
	return Panel{name: name, open: func(v *View) (titleOf, drawOf) {
		p := build(v)
		return p.legend, func(c screen.Canvas, v *View) { v.versus(p, build).draw(c) }
	}}
}

// titleFrame is the part of a panel's width that its title cannot have: corners, blanks, the brackets of the chosen panel.
const titleFrame = 7

// Named finds a panel. To add one: a file with its function, an entry here, a place in a page's layout.
func Named(name string) (Panel, bool) {
	for _, p := range []*Panel{
		&tokensPanel, &loadPanel, &percentilesPanel, &ttftPanel, &itlPanel, &latencyPanel, &sloPanel, &errorsPanel,
		&logPanel, &eventsPanel, &reportPanel,
		&latencyHistogramPanel, &latencyBandPanel, &latencyHeatPanel, &percentileTablePanel,
		&ratePanel, &latenessPanel, &stagesPanel, &endpointsPanel,
		&serverQueuePanel, &kvPanel, &serverTokensPanel, &serverTTFTPanel, &cachePanel, &gpuPanel, &whyPanel,
		&requestsPanel, &requestPanel,
	} {
		if p.name == name {
			return *p, true
		}
	}
	return Panel{}, false
}

// Draw draws the border, the title and the inside. A panel that panics shows an error in its place.
func (p Panel) Draw(c screen.Canvas, v *View, focused bool) {
	if c.W < 4 || c.H < 2 {
		return
	}
	inner := c.Sub(1, 1, c.W-2, c.H-2)
	defer func() {
		if recover() != nil {
			c.Border(focused)
			inner.Clear()
			inner.Center("chart error", screen.Warning)
		}
	}()
	c.Border(focused)
	title, draw := p.title, p.draw
	if p.open != nil {
		title, draw = p.open(v)
	}
	if title := title(v, c.W, c.H); len(title) > 0 {
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
	switch {
	case inner.W == 0 || inner.H == 0:
	case p.server && len(v.Server) == 0:
		drawAbsent(inner, v.ServerAbsent, "the server has not been asked yet")
	default:
		draw(inner, v)
	}
}

// Colours have the same meaning on every page.
const (
	colorOutput  = screen.Blue
	colorInput   = screen.Purple
	colorRunning = screen.Green
	colorWaiting = screen.Purple
	colorHeld    = screen.Orange
	colorError   = screen.Vermilion
)

// legendItem is the name of a line in the title, and its newest value where there is room.
type legendItem struct {
	color       screen.Color
	name, value string
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

// legend is a title with the lines and their values: tokens/s ━ out 7984 ━ in 3812.
func legend(w int, title string, items ...legendItem) []screen.Span {
	for _, values := range []bool{true, false} {
		out := append(make([]screen.Span, 0, 3+2*len(items)), screen.Strong.Span(title))
		for _, it := range items {
			name := it.name
			if values && it.value != "" {
				name += " " + it.value
			}
			out = append(out, screen.Style{Fg: it.color}.Span(" ━ "), screen.Text.Span(name))
		}
		if screen.SpansWidth(out)+6 <= w {
			return out
		}
	}
	return []screen.Span{screen.Strong.Span(title)}
}

// chartRows is the room below a panel of few lines for a chart of its figures, as in a zoomed panel: a blank line, a heading and the chart.
const chartRows = 10

// chartBelow draws a chart with a heading from row y on, if there is room for it.
func chartBelow(c screen.Canvas, y int, heading []screen.Span, draw func(c screen.Canvas)) {
	if c.H-y < chartRows {
		return
	}
	c.Spans(0, y+1, heading)
	draw(c.Sub(0, y+2, c.W, c.H-y-2))
}
