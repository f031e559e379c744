package tui

// page is one screen full of panels.
type page struct {
	name string
	// panels lays them out in the area below the header.
	panels func(r rect) []box
	// scrolls: the page is one long text and keys scroll it.
	scrolls bool
}

// pages are in the order of their digits. To add one: an entry here and, if need be, its panels.
var pages = []page{
	{name: "Overview", panels: overview},
	{name: "Log", panels: func(r rect) []box { return []box{{"events", r}} }, scrolls: true},
}
