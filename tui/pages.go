package tui

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
