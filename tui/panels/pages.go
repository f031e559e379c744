package panels

import (
	"fmt"
	"slices"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

// Page is one screen full of panels.
type Page struct {
	Name string
	// panels lays them out in the area below the header.
	panels func(r Rect, v *View) []Box
	// Scrolls says that the page is one long text, Lists that it is a list with a chosen row. Concludes says that a
	// card with the results of a run that is over stands in place of the verdict.
	Scrolls, Lists, Concludes bool
}

// Pages are in the order of their digits. To add one: an entry here and, if need be, its panels.
var Pages = []Page{
	{Name: "Overview", panels: overviewPage, Concludes: true},
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
	return func(r Rect, _ *View) []Box { return r.framed(share{name: name}) }
}

// fitTabs are the name and the tabs that fit beside the right part, which loses its times if need be. The name of the
// program is left out first, then the names of the pages that are not shown.
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

// timeWidth is the width of the charts over time, at the left of every page that has them: on all pages the same, so
// that a moment stays in its column.
func timeWidth(r Rect) int { return r.W * 3 / 5 }

// overviewPage lays out the first page: charts over time at the left, distributions beside them, the newest words of
// the log below.
func overviewPage(r Rect, v *View) []Box {
	named := func(s share) string { return s.name }
	over := possible(v, charts("tokens", "load", "ttft over time", "itl over time"), named)
	over[0].lines = -3 // two lanes, or one whose plateau is the sign of saturation
	errors := share{"errors", min(len(v.Failures), 3)}
	switch {
	case r.W >= 100 && r.H >= 26:
		log := 1 + max(0, r.H-40)/4
		if r.H >= 40 && len(v.Server) > 0 {
			over = append(over, charts("server queue", "kv")...)
		}
		right := possible(v, []share{{"ttft", 0}, {"itl", 0}, {"latency", 1 + len(v.latencies())}}, named)
		if errors.lines > 0 {
			right = slices.Insert(right, len(right)-1, errors)
		}
		right = v.withGroups(right, r.H-log, 6)
		rows := r.rows(0, log)
		at := rows[0].columns(timeWidth(r), 0)
		return slices.Concat(at[0].framed(over...), at[1].framed(right...),
			[]Box{{Name: "log", Rect: rows[1], Bare: true}})
	case r.W >= 80 && r.H >= 12:
		at := r.columns(r.W*11/20, 0)
		right := possible(v, []share{{"ttft", 0}, {"itl", 0}, {"latency", 2}}, named)
		right[len(right)-1].lines = len(right) - 1 // a latency each
		if errors.lines > 0 {
			right = slices.Insert(right, len(right)-1, errors)
			right = slices.DeleteFunc(right, func(p share) bool { return p.name == "itl" && r.H < 24 })
		}
		right = v.withGroups(right, r.H, 4)
		return append(at[0].framed(over[:3]...), at[1].framed(right...)...)
	case r.H >= 24: // narrow and high
		return r.framed(append(over[:3:3], share{"ttft", 0}, share{"latency", 1 + len(v.latencies())})...)
	}
	return r.framed(over[0], over[2])
}

// tables are those of some names that have several rows, with at most so many.
func (v *View) tables(most int, names ...string) (out []share) {
	rows := map[string]int{"endpoints": len(v.Endpoints), "classes": len(v.classRows()), "turns": len(v.turnRows()),
		"places": len(v.placeRows()), "engines": len(v.engines()), "machines": v.plan().Part.N}
	for _, name := range names {
		if n := rows[name]; n > 1 {
			out = append(out, share{name, 1 + min(n, most)})
		}
	}
	return out
}

// withGroups puts a table of groups before the last panel of a stack h lines high, or two where it is high. In a low
// one it takes the place of the distribution of ITL, whose percentiles stand below it.
func (v *View) withGroups(stack []share, h, most int) []share {
	tables := v.tables(most, "places", "endpoints", "classes", "engines", "turns")
	tables = tables[:min(len(tables), 1+h/40)]
	stack = slices.DeleteFunc(stack, func(p share) bool { return p.name == "itl" && len(tables) > 0 && h < 34 })
	return slices.Insert(stack, len(stack)-1, tables...)
}

// latencyPage lays out the page of latencies. The sizes are those of the area below the header.
func latencyPage(r Rect, v *View) []Box {
	over, table := charts("latency band", "latency heat"), share{"percentiles", 1 + len(v.pageLatencies())}
	if v.plan().Measures(metrics.Pace) {
		table.lines++ // the speeds
	}
	turns := v.tables(turnsMost, "turns")
	switch {
	case r.W >= 180 && r.H >= 30: // the table beside the charts
		if v.Baseline != nil && r.H >= 40 {
			table.lines += len(v.pageLatencies())
		}
		at := r.columns(r.W-fullTable-2, 0)
		right := append(append([]share{{"latency histogram", 0}}, turns...), table)
		return append(at[0].framed(over...), at[1].framed(right...)...)
	case r.W >= 80 && r.H >= 18:
		rows := r.rows(0, min(table.lines+2, r.H/2))
		at := rows[0].columns(timeWidth(r), 0)
		out := append(at[0].framed(over...), at[1].framed(share{"latency histogram", 0})...)
		if len(turns) == 0 {
			return append(out, rows[1].framed(share{name: table.name})...)
		}
		low := rows[1].columns(min(timeWidth(r), r.W-turnsWidth), 0)
		return slices.Concat(out, low[0].framed(share{name: table.name}), low[1].framed(share{name: "turns"}))
	}
	table.lines = min(table.lines, max(3, r.H/3))
	return r.framed(table, share{"latency histogram", 0}, over[0], over[1])
}

// turnsWidth is the least width of the panel of turns with the hits of the prefix cache, turnsMost its most rows in a
// stack of panels.
const (
	turnsWidth = turnName + 2*7 + 7 + 6 + 2
	turnsMost  = 12
)

// endsLines are those of a heat map of requests that ended.
const endsLines = 7

// lengthLines are those of a heat map of lengths that are all alike, which its title tells.
const lengthLines = 2

// loadPage lays out the page of the load: the stages below, since their rows are wide. Endpoints and objectives take
// room where there are any, and lengths and finish reasons what they leave.
func loadPage(r Rect, v *View) []Box {
	over := charts("rate", "load", "lateness")
	var right []share
	if n := sloLines(v.Snapshot); n > 0 {
		right = append(right, share{"slo", 0})
	}
	right = append(right, v.tables(9, "machines", "places", "endpoints", "classes")...)
	if r.W < 80 || r.H < 18 {
		stages := share{"stages", max(3, r.H/4)}
		if len(right) > 0 {
			return r.framed(append([]share{over[0], stages}, append(right, over[1:]...)...)...)
		}
		return r.framed(over[0], stages, over[1], over[2])
	}
	low, p := max(7, r.H*3/10), v.plan()
	if p.Ramp == nil && p.Find == nil && v.Steering.Changes == 0 { // so many stages will do
		low = min(low, 4+max(1, len(p.Stages)))
	}
	rows := r.rows(0, low)
	stages := rows[1].framed(share{name: "stages"})
	if rows[0].H < 13 {
		over = over[:2]
	}
	ends := possible(v, charts("finish reasons", "prompt lengths", "answer lengths"),
		func(s share) string { return s.name })
	if r.W >= 100 {
		room := rows[0].H/(endsLines+1) - len(right) - sloLines(v.Snapshot)/endsLines
		ends = ends[:min(max(room, 0), len(ends))]
		for i := 1; i < len(ends); i++ {
			if v.oneLength(ends[i].name) {
				ends[i].lines = lengthLines
			}
		}
		right = append(right, ends...)
	}
	if len(right) == 0 {
		return append(rows[0].framed(over...), stages...)
	}
	at := rows[0].columns(timeWidth(r), 0)
	return slices.Concat(at[0].framed(over...), at[1].framed(right...), stages)
}

// Lines of panels without their borders.
const (
	absentLines = 2 // of a panel without data, which says why
	whyLines    = 6
	cacheLines  = 4
	draftsFrom  = 20 // lines of a page without engines
	gpusMost    = 16 // rows of accelerators on the page; a zoomed panel shows more
)

// serverPage lays out the figures of the server and the accelerators. Where the server has no figures, those of the
// client stand in their place.
func serverPage(r Rect, v *View) []Box {
	over, right := charts("server queue", "kv", "server tokens", "server ttft"),
		[]share{{"why ttft", 0}, {"cache", cacheLines}}
	told := len(cacheRows(&v.Totals))
	right[1].lines += told
	engines := v.tables(9, "engines", "endpoints")
	engines = engines[:min(len(engines), 1)]
	if len(v.Server) == 0 {
		over = append([]share{{"server queue", absentLines}}, charts("ttft over time", "load")...)
		if told == 0 {
			right = right[:1]
		}
	}
	right = slices.Insert(right, 1, engines...)
	gpus := gpuLines(v)
	if r.W < 80 || r.H < 14 {
		out := slices.Concat(over[:1], engines, []share{{"why ttft", min(whyLines, r.H/3)}}, over[1:2])
		if gpus > 0 {
			out = append(out, share{"gpu", gpus})
		}
		return r.framed(out...)
	}
	var low []Box
	if gpus > 0 {
		rows := r.rows(0, min(gpus+2, r.H/2))
		r, low = rows[0], rows[1].framed(share{name: "gpu"})
	}
	if r.H < 14 {
		over = over[:2]
	}
	if v.serverSums().SpecDecode.Drafts > 0 && r.H >= draftsFrom+draftsFrom/2*len(engines) {
		right = append(right, share{"drafts", r.H / 5})
	}
	at := r.columns(timeWidth(r), 0)
	return slices.Concat(at[0].framed(over...), at[1].framed(right...), low)
}

// splitWidth is the least width of a page for the list and the open request beside each other.
const splitWidth = 110

// requestsPage lays out the list of requests, and an open request beside it or in its place.
func requestsPage(r Rect, v *View) []Box {
	switch {
	case !v.List.Opened:
		return r.framed(share{name: "requests"})
	case r.W < splitWidth:
		return r.framed(share{name: "request"})
	}
	list, open := requestRects(r, true)
	return append(list.framed(share{name: "requests"}), open.framed(share{name: "request"})...)
}

// requestRects are where the list and the open request are: in one place where there is no room for both, or none is
// open.
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
