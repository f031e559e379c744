package tui

import "benchtop/tui/screen"

// rect is a place on the screen, in cells.
type rect struct{ x, y, w, h int }

// of is the rectangle of a canvas.
func (r rect) of(c screen.Canvas) screen.Canvas { return c.Sub(r.x, r.y, r.w, r.h) }

// box is a named rectangle.
type box struct {
	name string
	rect rect
}

// areas says where everything goes for one size.
type areas struct {
	tiny bool // a few words, nothing else
	// head holds the two header lines, figures the key figures, keys the bottom line. A height of 0 means: not shown.
	head, figures, keys rect
	// panels from left to right, top to bottom.
	panels []box
}

// layout turns a size into rectangles that cover it without overlap. What it takes from the view hardly changes during a run,
// so panels stay where they are.
//
//	┌────────────────────────────┐
//	│ head                       │
//	│ figures                    │
//	│┌──────────┐┌──────────────┐│
//	││ panels   ││              ││
//	│└──────────┘└──────────────┘│
//	│ keys                       │
//	└────────────────────────────┘
func layout(p page, w, h int, v *view) areas {
	if w < 40 || h < 10 {
		return areas{tiny: true}
	}
	s := areas{head: rect{0, 0, w, 2}, figures: rect{0, 2, w, 1}, keys: rect{0, h - 1, w, 1}}
	switch {
	case w >= 110 && h >= 34:
		s.figures.h = 2
	case w < 80 || h < 24:
		s.head.h = 1
		s.figures = rect{0, 1, w, figureLines(w, h, sloLines(v.s) > 0)}
	}
	top := s.figures.y + s.figures.h
	s.panels = p.panels(rect{0, top, w, h - 1 - top}, v)
	return s
}

// rows cuts r into rows of the given heights; one height may be 0 and takes the rest.
func (r rect) rows(heights ...int) []rect {
	rest := r.h
	for _, h := range heights {
		rest -= h
	}
	out := make([]rect, len(heights))
	y := r.y
	for i, h := range heights {
		if h == 0 {
			h = max(0, rest)
		}
		h = min(h, r.y+r.h-y)
		out[i] = rect{r.x, y, r.w, h}
		y += h
	}
	return out
}

// columns cuts r into columns of the given widths; one width may be 0 and takes the rest.
func (r rect) columns(widths ...int) []rect {
	turned := rect{r.y, r.x, r.h, r.w}.rows(widths...)
	for i, t := range turned {
		turned[i] = rect{t.y, t.x, t.h, t.w}
	}
	return turned
}

// even cuts r into n columns of nearly the same width.
func (r rect) even(n int) []rect {
	widths := make([]int, n)
	for i := range widths {
		widths[i] = r.w*(i+1)/n - r.w*i/n
	}
	return r.columns(widths...)
}

// overview lays out the first page. The sizes are those of the area below the header; slo is how many lines the objectives
// and gates need, 0 if there are none.
func overview(r rect, slo int) []box {
	switch {
	case r.w >= 180 && r.h >= 40:
		low := max(8, r.h/5, min(slo+2, 12))
		rows := r.rows((r.h-low+1)/2, 0, low)
		a, b := rows[0].even(3), rows[1].even(2)
		out := []box{{"tokens", a[0]}, {"load", a[1]}, {"ttft over time", a[2]}, {"ttft", b[0]}, {"itl", b[1]}}
		if slo == 0 {
			c := rows[2].columns(tableWidth+2, 0, r.w*2/5)
			return append(out, box{"latency", c[0]}, box{"errors", c[1]}, box{"log", c[2]})
		}
		c := rows[2].columns(tableWidth+2, 52, 0, r.w*3/10)
		return append(out, box{"latency", c[0]}, box{"slo", c[1]}, box{"errors", c[2]}, box{"log", c[3]})
	case r.w >= 110 && r.h >= 29:
		table, log := max(7, min(slo+2, 10)), 5
		if r.h > 40 {
			log += (r.h - 40) / 3
		}
		rest := r.h - table - log
		rows := r.rows((rest+1)/2, 0, table, log)
		a, b := rows[0].even(2), rows[1].even(2)
		out := []box{{"tokens", a[0]}, {"load", a[1]}, {"ttft", b[0]}, {"itl", b[1]}}
		if slo == 0 {
			c := rows[2].columns(tableWidth+2, 0)
			return append(out, box{"latency", c[0]}, box{"errors", c[1]}, box{"log", rows[3]})
		}
		free := r.w - tableWidth - 2
		c := rows[2].columns(tableWidth+2, min(free*14/25, 64), 0)
		return append(out, box{"latency", c[0]}, box{"slo", c[1]}, box{"errors", c[2]}, box{"log", rows[3]})
	case r.w >= 80 && r.h >= 20:
		last, name := max(3, r.h-(r.h+1)/2-7), "errors"
		if slo > 0 { // the errors are in the key figures and on the page of the log
			last, name = max(last, min(slo+2, 5)), "slo"
		}
		rows := r.rows(0, 7+last)
		a, b := rows[0].even(2), rows[1].columns(tableWidth+2, 0)
		c := b[0].rows(7, 0)
		return []box{{"tokens", a[0]}, {"load", a[1]}, {"latency", c[0]}, {name, c[1]}, {"ttft", b[1]}}
	}
	// A small terminal, or a narrow and high one: the table, then as many charts as fit below each other.
	out := []box{{"latency", rect{r.x, r.y, r.w, min(7, r.h)}}}
	rest := rect{r.x, r.y + out[0].rect.h, r.w, r.h - out[0].rect.h}
	if need := min(slo, 6) + 2; slo > 0 && (rest.h >= need+8 || rest.h >= need && rest.h < 8) {
		cut := rest.rows(need, 0)
		out, rest = append(out, box{"slo", cut[0]}), cut[1]
	}
	names := []string{"tokens", "ttft", "load", "itl"}
	n := min(rest.h/8, len(names))
	if n == 0 {
		if rest.h > 0 {
			out = append(out, box{"log", rest})
		}
		return out
	}
	for i, name := range names[:n] {
		y0, y1 := rest.h*i/n, rest.h*(i+1)/n
		out = append(out, box{name, rect{rest.x, rest.y + y0, rest.w, y1 - y0}})
	}
	return out
}

// beside finds the panel in the direction dx, dy from the one named, "" if there is none.
func beside(panels []box, from string, dx, dy int) string {
	var here rect
	found := false
	for _, b := range panels {
		if b.name == from {
			here, found = b.rect, true
		}
	}
	if !found {
		if len(panels) == 0 {
			return ""
		}
		return panels[0].name
	}
	best, name := 1<<30, ""
	for _, b := range panels {
		r := b.rect
		var gap, off int
		switch {
		case dx > 0:
			gap, off = r.x-(here.x+here.w), r.y-here.y
		case dx < 0:
			gap, off = here.x-(r.x+r.w), r.y-here.y
		case dy > 0:
			gap, off = r.y-(here.y+here.h), r.x-here.x
		default:
			gap, off = here.y-(r.y+r.h), r.x-here.x
		}
		if gap < 0 || b.name == from {
			continue
		}
		if d := 1000*gap + max(off, -off); d < best {
			best, name = d, b.name
		}
	}
	return name
}
