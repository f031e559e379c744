package tui

// panel is a box with a title. title and draw see nothing but the view.
type panel struct {
	name  string
	title func(v *view, w, h int) []span
	draw  func(c canvas, v *view)
}

// titleFrame is what of a panel's width its title cannot have: corners, blanks, the brackets of the chosen one.
const titleFrame = 7

// panelNamed finds a panel. To add one: a file with its function, an entry here, a place in a page's layout.
func panelNamed(name string) (panel, bool) {
	for _, p := range []*panel{
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
	return panel{}, false
}

// frame draws the border, the title and what is inside. A panel that panics says so and harms nobody else.
func (p panel) frame(c canvas, v *view, focused bool) {
	if c.w < 4 || c.h < 2 {
		return
	}
	inner := c.sub(1, 1, c.w-2, c.h-2)
	defer func() {
		if recover() != nil {
			border(c, focused)
			inner.clear()
			inner.center("chart error", warning)
		}
	}()
	border(c, focused)
	title := p.title(v, c.w, c.h)
	if len(title) > 0 {
		open, shut := " ", " "
		if focused {
			open, shut = "[", "]"
		}
		top := c.sub(2, 0, c.w-4, 1)
		x := top.print(0, 0, open, text)
		x = top.print(x, 0, title[0].text, strong)
		if focused || len(title) == 1 {
			x = top.print(x, 0, shut, text)
		}
		// What does not fit is left out from the end, in whole pieces.
		rest := title[1:]
		for len(rest) > 0 && x+spansWidth(rest)+1 > top.w {
			rest = rest[:len(rest)-1]
		}
		if len(rest) > 0 {
			x = top.spans(x, 0, rest)
			top.print(x, 0, " ", text)
		}
	}
	if inner.w > 0 && inner.h > 0 {
		p.draw(inner, v)
	}
}

func border(c canvas, focused bool) {
	st := line
	if focused {
		st = text
	}
	for x := 1; x < c.w-1; x++ {
		c.set(x, 0, '─', st)
		c.set(x, c.h-1, '─', st)
	}
	for y := 1; y < c.h-1; y++ {
		c.set(0, y, '│', st)
		c.set(c.w-1, y, '│', st)
	}
	c.set(0, 0, '╭', st)
	c.set(c.w-1, 0, '╮', st)
	c.set(0, c.h-1, '╰', st)
	c.set(c.w-1, c.h-1, '╯', st)
}
