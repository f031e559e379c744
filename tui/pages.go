package tui

import (
	"fmt"

	"benchtop/tui/screen"
)

// page is one screen full of panels.
type page struct {
	name string
	// panels lays them out in the area below the header.
	panels func(r rect, v *view) []box
	// scrolls: the page is one long text and keys scroll it. lists: it is a list with a chosen row.
	scrolls, lists bool
}

// pages are in the order of their digits. To add one: an entry here and, if need be, its panels.
var pages = []page{
	{name: "Overview", panels: func(r rect, v *view) []box { return overview(r, sloLines(v.s)) }},
	{name: "Latency", panels: latencyPage},
	{name: "Load", panels: loadPage},
	{name: "Server", panels: serverPage},
	{name: "Requests", panels: requestsPage, lists: true},
	{name: "Log", panels: alone("events"), scrolls: true},
}

// reportPage is there once the run is over.
var reportPage = page{name: "Report", panels: alone("report"), scrolls: true}

// alone lays out one panel that has the page to itself.
func alone(name string) func(rect, *view) []box {
	return func(r rect, _ *view) []box { return []box{{name, r}} }
}

// pages are those there are now.
func (m *model) pages() []page {
	if m.hasReport() {
		return append(pages[:len(pages):len(pages)], reportPage)
	}
	return pages
}

func (m *model) hasReport() bool { return m.report != nil && m.latest.Report != nil }

func (m *model) pageNow() page {
	all := m.pages()
	return all[min(m.page, len(all)-1)]
}

// turn opens a page; one that is not there stays closed.
func (m *model) turn(page int) {
	if page >= 0 && page < len(m.pages()) {
		m.page, m.focus, m.zoomed = page, "", false
	}
}

// fitTabs are the name and the tabs as they fit beside the right part, which loses its times if need be: first the name goes,
// then the names of the pages that are not shown.
func (h header) fitTabs(w int, right []screen.Span, must int) (tabs, kept []screen.Span) {
	for _, t := range [][]screen.Span{h.tabs(true, true), h.tabs(false, true)} {
		if screen.SpansWidth(t)+screen.SpansWidth(right)+1 <= w {
			return t, right
		}
	}
	tabs = h.tabs(true, false)
	for len(right) > must && screen.SpansWidth(tabs)+screen.SpansWidth(right)+1 > w {
		right = right[:len(right)-1]
	}
	if screen.SpansWidth(tabs)+screen.SpansWidth(right)+1 > w {
		tabs = h.tabs(false, false)
	}
	return tabs, right
}

// tabs are a piece for each page, before them the program's name. Without the name they stand as close as can be.
func (h header) tabs(named, long bool) []screen.Span {
	out := make([]screen.Span, 1, len(h.pages)+1)
	if named {
		out[0] = screen.Style{Fg: screen.Blue, Bold: true}.Span("benchtop ")
	}
	for i, name := range h.pages {
		tab, st := fmt.Sprint(i+1), screen.Label
		if long || i == h.page {
			tab += " " + name
		}
		switch {
		case i == h.page:
			tab, st = "["+tab+"]", screen.Strong
		case named:
			tab = " " + tab + " "
		}
		if !named && i > 0 {
			tab = " " + tab
		}
		out = append(out, st.Span(tab))
	}
	return out
}

// tabAt is the page whose tab lies at x on a line of a width.
func (h header) tabAt(x, w int) (page int, ok bool) {
	right, must := h.states()
	tabs, _ := h.fitTabs(w, right, must)
	at := 0
	for i, t := range tabs {
		if at += screen.Width(t.Text); x < at {
			return i - 1, i > 0
		}
	}
	return 0, false
}

// latencyPage lays out the page of latencies. The sizes are those of the area below the header.
func latencyPage(r rect, v *view) []box {
	table := 1 + len(latencies) + 2
	switch {
	case r.w >= 180 && r.h >= 30: // the table beside the histogram
		if v.baseline != nil && r.h >= 40 {
			table += len(latencies)
		}
		rows := r.rows(max(table, r.h*2/5), 0)
		a, b := rows[0].columns(0, fullTable+2), rows[1].even(2)
		return []box{{"latency histogram", a[0]}, {"percentiles", a[1]}, {"latency band", b[0]}, {"latency heat", b[1]}}
	case r.w >= 110 && r.h >= 26:
		rows := r.rows((r.h-table+1)/2, 0, table)
		a := rows[1].even(2)
		return []box{{"latency histogram", rows[0]}, {"latency band", a[0]}, {"latency heat", a[1]}, {"percentiles", rows[2]}}
	case r.w >= 80 && r.h >= 18:
		rows := r.rows(0, min(table, r.h/2))
		a, b := rows[0].even(2), rows[1].columns(shortTable+2, 0)
		return []box{{"latency histogram", a[0]}, {"latency band", a[1]}, {"percentiles", b[0]}, {"latency heat", b[1]}}
	}
	return stack(r, table, "percentiles", "latency histogram", "latency band", "latency heat")
}

// stack lays out panels below each other, for a small terminal, or a narrow and high one: the first with as many lines as it
// needs, then as many of the rest as fit.
func stack(r rect, lines int, names ...string) []box {
	first := min(lines, r.h)
	if r.h-first < leastChart {
		first = r.h
	}
	out := []box{{names[0], rect{r.x, r.y, r.w, first}}}
	rest := rect{r.x, r.y + first, r.w, r.h - first}
	n := min(rest.h/leastChart, len(names)-1)
	for i, name := range names[1 : n+1] {
		y0, y1 := rest.h*i/n, rest.h*(i+1)/n
		out = append(out, box{name, rect{rest.x, rest.y + y0, rest.w, y1 - y0}})
	}
	return out
}

// leastChart is how many lines a chart needs to say anything.
const leastChart = 7

// loadPage lays out the page of the load. The sizes are those of the area below the header. Several endpoints get a place
// even where there is little.
func loadPage(r rect, v *view) []box {
	ends := min(len(v.s.Endpoints)+3, 12)
	switch {
	case r.w >= 110 && r.h >= 26:
		rows := r.rows(0, r.h*3/10, max(11, r.h*3/10))
		a, b := rows[1].even(2), rows[2].columns(r.w*31/50, 0)
		return []box{{"rate", rows[0]}, {"load", a[0]}, {"lateness", a[1]}, {"stages", b[0]}, {"endpoints", b[1]}}
	case r.w >= 80 && r.h >= 18:
		rows := r.rows(0, r.h/2)
		a, b := rows[0].even(2), rows[1].columns(r.w*29/50, 0)
		out := []box{{"rate", a[0]}, {"load", a[1]}, {"stages", b[0]}}
		if len(v.s.Endpoints) > 1 {
			return append(out, box{"endpoints", b[1]})
		}
		return append(out, box{"lateness", b[1]})
	}
	if len(v.s.Endpoints) > 1 {
		return stack(r, ends, "endpoints", "rate", "stages", "load", "lateness")
	}
	return stack(r, max(leastChart, r.h/4), "rate", "stages", "load", "lateness", "endpoints")
}

// Heights of panels with their borders.
const (
	absentHeight = 4 // of one that only says why it is empty
	whyHeight    = 8
	cacheHeight  = 6
	gpusMost     = 16 // rows of accelerators on the page; a zoomed panel shows more
)

// serverPage lays out what the server and the accelerators say. What is absent takes little room, and what the client itself
// knows stands in its place.
func serverPage(r rect, v *view) []box {
	if len(v.s.Server) == 0 {
		return silentServerPage(r, v)
	}
	switch {
	case r.w >= 180 && r.h >= 34 && len(v.s.GPUs) > 0:
		low := max(gpuHeight(v), whyHeight+cacheHeight)
		rows := r.rows(0, (r.h-low)/2, low)
		a, b, c := rows[0].even(2), rows[1].even(2), rows[2].columns(r.w*2/5, 0)
		left := c[0].rows(0, cacheHeight)
		return []box{
			{"server queue", a[0]}, {"kv", a[1]}, {"server tokens", b[0]}, {"server ttft", b[1]},
			{"why ttft", left[0]}, {"cache", left[1]}, {"gpu", c[1]},
		}
	case r.w >= 110 && r.h >= 29:
		low := min(gpuHeight(v), r.h-whyHeight-14)
		rest := r.h - whyHeight - low
		rows := r.rows((rest+1)/2, 0, whyHeight, low)
		a, b, c := rows[0].even(2), rows[1].even(2), rows[2].columns(r.w*14/25, 0)
		return []box{
			{"server queue", a[0]}, {"kv", a[1]}, {"server tokens", b[0]}, {"server ttft", b[1]},
			{"why ttft", c[0]}, {"cache", c[1]}, {"gpu", rows[3]},
		}
	case r.w >= 80 && r.h >= 18:
		low := min(gpuHeight(v), r.h-whyHeight-6)
		rows := r.rows(0, whyHeight, low)
		a, b := rows[0].even(2), rows[1].columns(r.w*11/20, 0)
		return []box{{"server queue", a[0]}, {"kv", a[1]}, {"why ttft", b[0]}, {"cache", b[1]}, {"gpu", rows[2]}}
	}
	return stacked(r, []box{
		{"server queue", rect{h: 8}}, {"why ttft", rect{h: whyHeight}}, {"kv", rect{h: 8}}, {"gpu", rect{h: gpuHeight(v)}},
		{"cache", rect{h: cacheHeight}},
	})
}

// silentServerPage is the page where the server says nothing of itself.
func silentServerPage(r rect, v *view) []box {
	low := gpuHeight(v)
	if r.w < 80 || r.h < absentHeight+whyHeight+low {
		return stacked(r, []box{
			{"why ttft", rect{h: whyHeight}}, {"server queue", rect{h: absentHeight}}, {"gpu", rect{h: low}},
		})
	}
	rows := r.rows(absentHeight, 0, whyHeight, low)
	if rows[1].h < 6 {
		rows = r.rows(absentHeight, 0, low)
		return []box{{"server queue", rows[0]}, {"why ttft", rows[1]}, {"gpu", rows[2]}}
	}
	b := rows[1].even(2)
	return []box{
		{"server queue", rows[0]}, {"ttft over time", b[0]}, {"load", b[1]}, {"why ttft", rows[2]}, {"gpu", rows[3]},
	}
}

// stacked puts as many of the boxes as fit below each other, by the heights they need; the first takes what is left.
func stacked(r rect, all []box) []box {
	n, used := 0, 0
	for n < len(all) && (n == 0 || used+all[n].rect.h <= r.h) {
		used += all[n].rect.h
		n++
	}
	heights := make([]int, n)
	for i := range heights[1:] {
		heights[i+1] = all[i+1].rect.h
	}
	out := all[:n]
	for i, at := range r.rows(heights...) {
		out[i].rect = at
	}
	return out
}

// splitWidth is how wide a page is that has room for the list and the open request beside each other.
const splitWidth = 110

// requestsPage lays out the list of requests and, once one is open, that one beside it or in its place.
func requestsPage(r rect, v *view) []box {
	switch {
	case !v.list.opened:
		return []box{{"requests", r}}
	case r.w < splitWidth:
		return []box{{"request", r}}
	}
	return []box{{"requests", listRect(r, true)}, {"request", openRect(r)}}
}

// listRect is where the list is, openRect where the open request is.
func listRect(r rect, opened bool) rect {
	if opened && r.w >= splitWidth {
		return r.columns(r.w*9/20, 0)[0]
	}
	return r
}

func openRect(r rect) rect {
	if r.w >= splitWidth {
		return r.columns(r.w*9/20, 0)[1]
	}
	return r
}

// listHeight is how many rows the list shows: what its border and the names of its columns leave.
func listHeight(r rect, opened bool) int { return listRect(r, opened).h - 3 }
