package panels

import (
	"cmp"
	"strings"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// endpointsPanel lists the endpoints that requests are sent to.
var endpointsPanel = Panel{name: "endpoints", title: endpointsTitle, draw: drawEndpoints,
	empty: func(v *View) bool { return len(v.Endpoints) == 0 }, nothing: "waiting for data"}

func endpointsTitle(v *View, _, h int) []screen.Span {
	out, n := heading{screen.Strong.Span("endpoints")}, len(v.Endpoints)
	out.when(n > 1, screen.Text, " ", number.Count(n))
	out.when(n > max(1, h-3), screen.Label, " · z shows more")
	return append(out, screen.Text.Span(" whole run"))
}

func endpointTable(v *View, w int) table[*metrics.Endpoint] {
	wait := v.firstWait().Naming().Title
	return table[*metrics.Endpoint]{
		{"sent", 8, func(e *metrics.Endpoint) screen.Span { return countCell(e.Sent) }, 3},
		{"in flight", 11, func(e *metrics.Endpoint) screen.Span { return countCell(e.InFlight) }, 0},
		{"done", 8, func(e *metrics.Endpoint) screen.Span { return countCell(e.Done) }, 0},
		{"failed", 8, func(e *metrics.Endpoint) screen.Span {
			out := countCell(e.Failed)
			if e.Failed > 0 {
				out.Style = screen.Warning
			}
			return out
		}, 0},
		{"out tok", 9, func(e *metrics.Endpoint) screen.Span { return countCell(e.OutputTokens) }, 4},
		{wait + " p50", 10, func(e *metrics.Endpoint) screen.Span { return quantileCell(&e.FirstWait, 0.5) }, 2},
		{wait + " p99", 10, func(e *metrics.Endpoint) screen.Span { return quantileCell(&e.FirstWait, 0.99) }, 1},
	}.fit(w - 20)
}

func countCell(n int) screen.Span { return screen.Text.Span(number.Count(n)) }

func quantileCell(h *metrics.Histogram, q float64) screen.Span {
	return screen.Text.Span(orDash(h.Count() > 0, number.Latency, h.Quantile(q)))
}

func drawEndpoints(c screen.Canvas, v *View) {
	cols := endpointTable(v, c.W)
	// The figures stand next to the names, not at the far end of a wide line.
	names := 12
	for i := range v.Endpoints {
		names = max(names, screen.Width(v.endpointName(i)))
	}
	names = min(names, max(0, c.W-cols.width()))
	y := 0
	if c.H > 1 {
		cols.names(c, names, 0)
		y = 1
	}
	for i := range min(len(v.Endpoints), c.H-y) {
		c.Print(0, y+i, screen.ShortenMiddle(v.endpointName(i), names), screen.Text)
		cols.row(c, names, y+i, &v.Endpoints[i], screen.Text)
	}
}

// endpointName is the model, or the server where all requests ask for the same model.
func (v *View) endpointName(i int) string {
	if name := screen.Sanitize(v.Endpoints[i].Model); name != "" {
		return name
	}
	return cmp.Or(screen.Sanitize(strings.TrimPrefix(v.plan().BaseURL, "http://")), "server")
}
