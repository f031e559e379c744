package panels

import (
	"fmt"
	"strings"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// endpointsPanel lists what requests are sent to.
var endpointsPanel = panel{"endpoints", endpointsTitle, drawEndpoints}

func endpointsTitle(v *View, _, h int) []screen.Span {
	out := []screen.Span{screen.Strong.Span("endpoints")}
	if n := len(v.Endpoints); n > 1 {
		out = append(out, screen.Text.Span(fmt.Sprintf(" %d", n)))
		if n > h-3 {
			out = append(out, screen.Label.Span(" · z shows more"))
		}
	}
	return append(out, screen.Text.Span(" whole run"))
}

// endpointColumn is a column of the table of endpoints.
type endpointColumn struct {
	name  string
	width int
	of    func(e *metrics.Endpoint) string
	spare int // columns with the highest number go first
}

func endpointColumns(v *View, w int) []endpointColumn {
	wait := v.firstWait().Naming().Title
	all := []endpointColumn{
		{"sent", 8, func(e *metrics.Endpoint) string { return number.Count(e.Sent) }, 3},
		{"in flight", 11, func(e *metrics.Endpoint) string { return number.Count(e.InFlight) }, 0},
		{"done", 8, func(e *metrics.Endpoint) string { return number.Count(e.Done) }, 0},
		{"failed", 8, func(e *metrics.Endpoint) string { return number.Count(e.Failed) }, 0},
		{"out tok", 9, func(e *metrics.Endpoint) string { return number.Count(e.OutputTokens) }, 4},
		{wait + " p50", 10, func(e *metrics.Endpoint) string { return quantileOr(&e.FirstWait, 0.5) }, 2},
		{wait + " p99", 10, func(e *metrics.Endpoint) string { return quantileOr(&e.FirstWait, 0.99) }, 1},
	}
	for spare := 4; spare > 0; spare-- {
		n := 0
		for _, c := range all {
			n += c.width
		}
		if n+20 <= w {
			break
		}
		for i, c := range all {
			if c.spare == spare {
				all = append(all[:i:i], all[i+1:]...)
				break
			}
		}
	}
	return all
}

func quantileOr(h *metrics.Histogram, q float64) string {
	if h.Count() == 0 {
		return "–"
	}
	return number.Latency(h.Quantile(q))
}

func drawEndpoints(c screen.Canvas, v *View) {
	if len(v.Endpoints) == 0 {
		c.Center("nothing sent yet", screen.Label)
		return
	}
	cols := endpointColumns(v, c.W)
	room := c.W
	for _, col := range cols {
		room -= col.width
	}
	// The figures stand next to the names, not at the far end of a wide line.
	names := 0
	for i := range v.Endpoints {
		names = max(names, screen.Width(v.endpointName(i)))
	}
	names = min(max(names, 12), max(0, room))
	y := 0
	if c.H > 1 {
		x := names
		for _, col := range cols {
			x += col.width
			c.Right(x, 0, col.name, screen.Label)
		}
		y = 1
	}
	for i := range v.Endpoints {
		e := &v.Endpoints[i]
		if y >= c.H {
			return
		}
		c.Print(0, y, screen.ShortenMiddle(v.endpointName(i), names), screen.Text)
		x := names
		for _, col := range cols {
			x += col.width
			st := screen.Text
			if col.name == "failed" && e.Failed > 0 {
				st = screen.Warning
			}
			c.Right(x, y, screen.Shorten(col.of(e), col.width), st)
		}
		y++
	}
}

// endpointName is the model, or the server where all requests ask for the same model.
func (v *View) endpointName(i int) string {
	if name := screen.Sanitize(v.Endpoints[i].Model); name != "" {
		return name
	}
	p := v.plan()
	if name := screen.Sanitize(strings.TrimPrefix(p.BaseURL, "http://")); name != "" {
		return name
	}
	return "server"
}
