package tui

// page is one screen full of panels.
type page struct {
	name string
	// panels lays them out in the area below the header. slo is how many lines the objectives and gates need, 0 if there
	// are none.
	panels func(r rect, slo int) []box
	// scrolls: the page is one long text and keys scroll it.
	scrolls bool
}

// pages are in the order of their digits. To add one: an entry here and, if need be, its panels.
var pages = []page{
	{name: "Overview", panels: overview},
	{name: "Log", panels: func(r rect, _ int) []box { return []box{{"events", r}} }, scrolls: true},
}
