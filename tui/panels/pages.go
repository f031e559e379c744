package panels

import (
	"fmt"

	"benchtop/tui/screen"
)

// Page is one screen full of panels.
type Page struct {
	Name string
	// panels lays them out in the area below the header.
	panels func(r Rect, v *View) []Box
	// Scrolls says that the page is one long text, Lists that it is a list with a chosen row.
	Scrolls, Lists bool
}

// Pages are in the order of their digits. To add one: an entry here and, if need be, its panels.
var Pages = []Page{
	{Name: "Overview", panels: func(r Rect, v *View) []Box { return overview(r, sloLines(v.Snapshot)) }},
	{Name: "Latency", panels: latencyPage},
	{Name: "Load", panels: loadPage},
	{Name: "Server", panels: serverPage},
	{Name: "Requests", panels: requestsPage, Lists: true},
	{Name: "Log", panels: alone("events"), Scrolls: true},
}

// ReportPage is there once the run is over.
var ReportPage = Page{Name: "Report", panels: alone("report"), Scrolls: true}

// alone lays out one panel that has the page to itself.
func alone(name string) func(Rect, *View) []Box {
	return func(r Rect, _ *View) []Box { return []Box{{name, r}} }
}

// fitTabs are the name and the tabs that fit beside the right part, which loses its times if need be. The name of the program is left out first, then
// the names of the pages that are not shown.
func (h Header) fitTabs(w int, right []screen.Span, must int) (tabs, kept []screen.Span) {
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

// tabs are a piece for each page, before them the program's name. Without the name they stand closely.
func (h Header) tabs(named, long bool) []screen.Span {
	out := make([]screen.Span, 1, len(h.Pages)+1)
	if named {
		out[0] = screen.Strong.Span("benchtop ")
	}
	for i, name := range h.Pages {
		tab, st := fmt.Sprint(i+1), screen.Label
		if long || i == h.Page {
			tab += " " + name
		}
		switch {
		case i == h.Page:
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

// TabAt is the page whose tab lies at x on a line of a width.
func (h Header) TabAt(x, w int) (page int, ok bool) {
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
func latencyPage(r Rect, v *View) []Box {
	table := 1 + len(latencies) + 2
	switch {
	case r.W >= 180 && r.H >= 30: // the table beside the histogram
		if v.Baseline != nil && r.H >= 40 {
			table += len(latencies)
		}
		rows := r.rows(max(table, r.H*2/5), 0)
		a, b := rows[0].columns(0, fullTable+2), rows[1].even(2)
		return []Box{{"latency histogram", a[0]}, {"percentiles", a[1]}, {"latency band", b[0]}, {"latency heat", b[1]}}
	case r.W >= 110 && r.H >= 26:
		rows := r.rows((r.H-table+1)/2, 0, table)
		a := rows[1].even(2)
		return []Box{{"latency histogram", rows[0]}, {"latency band", a[0]}, {"latency heat", a[1]}, {"percentiles", rows[2]}}
	case r.W >= 80 && r.H >= 18:
		rows := r.rows(0, min(table, r.H/2))
		a, b := rows[0].even(2), rows[1].columns(shortTable+2, 0)
		return []Box{{"latency histogram", a[0]}, {"latency band", a[1]}, {"percentiles", b[0]}, {"latency heat", b[1]}}
	}
	return stack(r, table, "percentiles", "latency histogram", "latency band", "latency heat")
}

// stack lays out panels below each other, for a small terminal, or a narrow and high one: the first with as many lines as it
// needs, then as many of the rest as fit.
func stack(r Rect, lines int, names ...string) []Box {
	first := min(lines, r.H)
	if r.H-first < leastChart {
		first = r.H
	}
	out := []Box{{names[0], Rect{r.X, r.Y, r.W, first}}}
	rest := Rect{r.X, r.Y + first, r.W, r.H - first}
	n := min(rest.H/leastChart, len(names)-1)
	return append(out, rest.evenRows(names[1:n+1])...)
}

// leastChart is how many lines a chart needs.
const leastChart = 7

// loadPage lays out the page of the load. The sizes are those of the area below the header. Several endpoints are listed even on a small screen.
func loadPage(r Rect, v *View) []Box {
	ends := min(len(v.Endpoints)+3, 12)
	switch {
	case r.W >= 110 && r.H >= 26:
		rows := r.rows(0, r.H*3/10, max(11, r.H*3/10))
		a, b := rows[1].even(2), rows[2].columns(r.W*31/50, 0)
		return []Box{{"rate", rows[0]}, {"load", a[0]}, {"lateness", a[1]}, {"stages", b[0]}, {"endpoints", b[1]}}
	case r.W >= 80 && r.H >= 18:
		rows := r.rows(0, r.H/2)
		a, b := rows[0].even(2), rows[1].columns(r.W*29/50, 0)
		out := []Box{{"rate", a[0]}, {"load", a[1]}, {"stages", b[0]}}
		if len(v.Endpoints) > 1 {
			return append(out, Box{"endpoints", b[1]})
		}
		return append(out, Box{"lateness", b[1]})
	}
	if len(v.Endpoints) > 1 {
		return stack(r, ends, "endpoints", "rate", "stages", "load", "lateness")
	}
	return stack(r, max(leastChart, r.H/4), "rate", "stages", "load", "lateness", "endpoints")
}

// Heights of panels with their borders.
const (
	absentHeight = 4 // of a panel without data, which says why
	whyHeight    = 8
	cacheHeight  = 6
	gpusMost     = 16 // rows of accelerators on the page; a zoomed panel shows more
)

// serverPage lays out the figures of the server and the accelerators. A panel without data takes little room, and figures of the client stand in its
// place.
func serverPage(r Rect, v *View) []Box {
	if len(v.Server) == 0 {
		return silentServerPage(r, v)
	}
	switch {
	case r.W >= 180 && r.H >= 34 && len(v.GPUs) > 0:
		low := max(gpuHeight(v), whyHeight+cacheHeight)
		rows := r.rows(0, (r.H-low)/2, low)
		a, b, c := rows[0].even(2), rows[1].even(2), rows[2].columns(r.W*2/5, 0)
		left := c[0].rows(0, cacheHeight)
		return []Box{
			{"server queue", a[0]}, {"kv", a[1]}, {"server tokens", b[0]}, {"server ttft", b[1]},
			{"why ttft", left[0]}, {"cache", left[1]}, {"gpu", c[1]},
		}
	case r.W >= 110 && r.H >= 29:
		low := min(gpuHeight(v), r.H-whyHeight-14)
		rest := r.H - whyHeight - low
		rows := r.rows((rest+1)/2, 0, whyHeight, low)
		a, b, c := rows[0].even(2), rows[1].even(2), rows[2].columns(r.W*14/25, 0)
		return []Box{
			{"server queue", a[0]}, {"kv", a[1]}, {"server tokens", b[0]}, {"server ttft", b[1]},
			{"why ttft", c[0]}, {"cache", c[1]}, {"gpu", rows[3]},
		}
	case r.W >= 80 && r.H >= 18:
		low := min(gpuHeight(v), r.H-whyHeight-6)
		rows := r.rows(0, whyHeight, low)
		a, b := rows[0].even(2), rows[1].columns(r.W*11/20, 0)
		return []Box{{"server queue", a[0]}, {"kv", a[1]}, {"why ttft", b[0]}, {"cache", b[1]}, {"gpu", rows[2]}}
	}
	return stacked(r, []Box{
		{"server queue", Rect{H: 8}}, {"why ttft", Rect{H: whyHeight}}, {"kv", Rect{H: 8}}, {"gpu", Rect{H: gpuHeight(v)}},
		{"cache", Rect{H: cacheHeight}},
	})
}

// silentServerPage is the page of a server without counters.
func silentServerPage(r Rect, v *View) []Box {
	low := gpuHeight(v)
	if r.W < 80 || r.H < absentHeight+whyHeight+low {
		return stacked(r, []Box{
			{"why ttft", Rect{H: whyHeight}}, {"server queue", Rect{H: absentHeight}}, {"gpu", Rect{H: low}},
		})
	}
	rows := r.rows(absentHeight, 0, whyHeight, low)
	if rows[1].H < 6 {
		rows = r.rows(absentHeight, 0, low)
		return []Box{{"server queue", rows[0]}, {"why ttft", rows[1]}, {"gpu", rows[2]}}
	}
	b := rows[1].even(2)
	return []Box{
		{"server queue", rows[0]}, {"ttft over time", b[0]}, {"load", b[1]}, {"why ttft", rows[2]}, {"gpu", rows[3]},
	}
}

// stacked puts as many of the boxes as fit below each other, by the heights they need; the first takes what is left.
func stacked(r Rect, all []Box) []Box {
	n, used := 0, 0
	for n < len(all) && (n == 0 || used+all[n].Rect.H <= r.H) {
		used += all[n].Rect.H
		n++
	}
	heights := make([]int, n)
	for i := range heights[1:] {
		heights[i+1] = all[i+1].Rect.H
	}
	out := all[:n]
	for i, at := range r.rows(heights...) {
		out[i].Rect = at
	}
	return out
}

// splitWidth is the least width of a page for the list and the open request beside each other.
const splitWidth = 110

// requestsPage lays out the list of requests, and an open request beside it or in its place.
func requestsPage(r Rect, v *View) []Box {
	switch {
	case !v.List.Opened:
		return []Box{{"requests", r}}
	case r.W < splitWidth:
		return []Box{{"request", r}}
	}
	list, open := requestRects(r, true)
	return []Box{{"requests", list}, {"request", open}}
}

// requestRects are where the list and the open request are: in one place where there is no room for both, or none is open.
func requestRects(r Rect, opened bool) (list, open Rect) {
	if !opened || r.W < splitWidth {
		return r, r
	}
	at := r.columns(r.W*9/20, 0)
	return at[0], at[1]
}

// listHeight is how many rows the list shows, without its border and the names of its columns.
func listHeight(r Rect, opened bool) int {
	list, _ := requestRects(r, opened)
	return list.H - 3
}
