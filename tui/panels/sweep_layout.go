package panels

import (
	"fmt"

	"benchtop/metrics/grid"
	"benchtop/tui/screen"
)

// SweepPage is what the screen of a sweep shows below its verdict.
type SweepPage uint8

// The pages: all panels, the chosen combination alone, the server's log alone.
const (
	SweepGrid SweepPage = iota
	SweepDetail
	SweepLog
)

// Layout turns a size into rectangles that cover it. A server that was not started here has none, nor has a front
// without figures; of a single combination the detail says all.
//
//	┌────────────────────────┐  ┌────────────────────────────────────┐
//	│ head, verdict          │  │ head, verdict                      │
//	│┌──────────────────────┐│  │┌─────────────────────┐┌───────────┐│
//	││ grid                 ││  ││ grid                ││ front     ││
//	│└──────────────────────┘│  ││                     │├───────────┤│
//	│┌─────────┐┌───────────┐│  ││                     ││ search    ││
//	││ detail  ││ front     ││  │└─────────────────────┘├───────────┤│
//	│└─────────┘└───────────┘│  │┌─────────────────────┐│ detail    ││
//	│ server                 │  ││ server              ││           ││
//	│ keys                   │  │└─────────────────────┘└───────────┘│
//	└────────────────────────┘  └────────────────────────────────────┘
func (v *SweepView) Layout(page SweepPage, w, h int) Areas {
	a := Lines(w, h)
	if a.Tiny {
		return a
	}
	if lines := len(v.card()); v.Over && page == SweepGrid && h-lines >= 24 {
		a.Verdict.H = lines
	}
	rest := a.Below()
	switch {
	case page == SweepDetail:
		a.Panels = []Box{{Name: "detail", Rect: rest}}
	case page == SweepLog:
		a.Panels = []Box{{Name: "server", Rect: rest}}
	case v.Table != nil:
		a.Panels = v.compared(rest)
	case len(v.cells) == 1 && !v.hasServer() && len(v.searches) == 0:
		a.Panels = []Box{{Name: "detail", Rect: rest}}
	case w >= 160 && (v.hasServer() || v.hasFront()):
		a.Panels = v.wide(rest)
	default:
		a.Panels = v.narrow(rest)
	}
	return a
}

// hasServer reports whether the server is one that is started here.
func (v *SweepView) hasServer() bool { return v.Server.State != grid.ServerForeign }

// hasFront reports whether a combination may have a place on the plane of the front.
func (v *SweepView) hasFront() bool {
	return len(v.front) > 0 || v.measured() == 0 && v.Dir != "" // a series does not tell its GPUs
}

// wide puts the detail below the grid, or at the right where the log of a server is there.
func (v *SweepView) wide(r Rect) []Box {
	search, front := 0, r.H/2
	if n := len(v.searches); n > 0 {
		search = min(n, 6) + 2
	}
	if !v.hasServer() {
		front = r.H - search
	}
	sides := r.columns(0, r.W*2/5)
	left, right := sides[0].rows(max(8, min(r.H-12, len(v.cells)+3)), 0), sides[1]
	out := []Box{{Name: "grid", Rect: left[0]}, {Name: "detail", Rect: left[1]}}
	cut := func(name string, lines int) {
		parts := right.rows(lines, 0)
		out, right = append(out, Box{Name: name, Rect: parts[0]}), parts[1]
	}
	if v.hasFront() {
		cut("front", front)
	}
	if search > 0 {
		cut("search", search)
	}
	if v.hasServer() {
		out[1].Name = "server"
		cut("detail", right.H)
	}
	return out
}

// compared has the table of the runs below them.
func (v *SweepView) compared(r Rect) []Box {
	out, r := v.serverBelow(r)
	parts := r.rows(min(len(v.cells)+3, r.H/2), 0)
	return append(out, Box{Name: "grid", Rect: parts[0]}, Box{Name: "table", Rect: parts[1]})
}

// serverBelow cuts a server off at the bottom, where one is started here.
func (v *SweepView) serverBelow(r Rect) (out []Box, rest Rect) {
	if v.hasServer() {
		server := Box{Name: "server", Rect: r.rows(0, 1)[1], Bare: true}
		if r.H >= 32 {
			server = Box{Name: "server", Rect: r.rows(0, 5)[1]}
		}
		r.H -= server.Rect.H
		out = []Box{server}
	}
	return out, r
}

func (v *SweepView) narrow(r Rect) (out []Box) {
	out, r = v.serverBelow(r)
	if r.H < 17 {
		if len(v.searches) > 0 && r.H >= 10 {
			parts := r.rows(0, min(len(v.searches), 4)+2)
			return append(out, Box{Name: "grid", Rect: parts[0]}, Box{Name: "search", Rect: parts[1]})
		}
		return append(out, Box{Name: "grid", Rect: r})
	}
	parts := r.rows(max(8, min(r.H*3/5, len(v.cells)+3)), 0)
	out = append(out, Box{Name: "grid", Rect: parts[0]})
	left := parts[1]
	if v.hasFront() {
		below := left.columns(left.W*9/20, 0)
		out, left = append(out, Box{Name: "front", Rect: below[1]}), below[0]
	}
	search := min(len(v.searches), 6) + 2
	switch {
	case search == 2:
		return append(out, Box{Name: "detail", Rect: left})
	case left.H-search < 6:
		return append(out, Box{Name: "search", Rect: left})
	}
	rows := left.rows(search, 0)
	return append(out, Box{Name: "search", Rect: rows[0]}, Box{Name: "detail", Rect: rows[1]})
}

// GridLines is how many combinations a layout shows.
func (a *Areas) GridLines() int {
	for _, b := range a.Panels {
		if b.Name == "grid" {
			return max(1, b.Rect.H-3)
		}
	}
	return 1
}

// Draw fills the areas, but the line of keys. A panel that panics shows an error in its place.
func (v *SweepView) Draw(c screen.Canvas, a Areas) {
	if a.Tiny {
		c.Safely(func(c screen.Canvas) {
			c.Clear()
			v.drawHead(c.Sub(0, 0, c.W, 1))
			v.drawVerdict(c.Sub(0, 1, c.W, 1))
			v.drawServerLine(c.Sub(0, 2, c.W, 1))
		})
		return
	}
	a.Head.Of(c).Safely(v.drawHead)
	a.Verdict.Of(c).Safely(v.drawVerdict)
	for _, b := range a.Panels {
		title, draw := v.panel(b.Name)
		at := b.Rect.Of(c)
		switch {
		case b.Bare:
			at.Safely(v.drawServerLine)
		case at.W >= 4 && at.H >= 2:
			at.Border(false, false, false)
			at.Safely(func(c screen.Canvas) { drawTitle(c, fitTitle(title(), c.W-titleFrame), false) })
			at.Sub(1, 1, at.W-2, at.H-2).Safely(draw)
		}
	}
}

// panel is the title and the inside of a panel.
func (v *SweepView) panel(name string) (title func() []screen.Span, draw func(screen.Canvas)) {
	switch name {
	case "table":
		return v.tableTitle, v.drawTable
	case "detail":
		return v.detailTitle, v.drawDetail
	case "front":
		return v.frontTitle, v.drawFront
	case "search":
		return v.searchTitle, v.drawSearches
	case "server":
		return v.serverTitle, v.drawServer
	}
	return v.gridTitle, v.drawGrid
}

func (v *SweepView) tableTitle() []screen.Span {
	return []screen.Span{screen.Text.Span(screen.Sanitize(v.Table.Title))}
}

// drawTable draws the lines of a table as far as there is room.
func (v *SweepView) drawTable(c screen.Canvas) {
	for y, line := range v.Table.Lines {
		if rest := len(v.Table.Lines) - y; y == c.H-1 && rest > 1 {
			c.Print(0, y, fmt.Sprintf("%d more, in the report", rest), screen.Label)
			return
		}
		style := screen.Text
		switch {
		case y == 0:
			style = screen.Label
		case line.Good:
			style = screen.Success
		case line.Bad:
			style = screen.Warning
		}
		c.Print(0, y, line.Text, style)
	}
}

// fitTitle shortens the last piece of a title that is too long for w columns.
func fitTitle(title []screen.Span, w int) []screen.Span {
	if over := screen.SpansWidth(title) - w; over > 0 && len(title) > 1 {
		last := title[len(title)-1]
		if room := screen.Width(last.Text) - over; room >= 12 {
			last.Text = screen.Shorten(last.Text, room)
			return append(title[:len(title)-1:len(title)-1], last)
		}
	}
	return title
}
