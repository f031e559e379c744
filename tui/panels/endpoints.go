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
	failed := func(e *metrics.Endpoint) screen.Span {
		out := countCell(e.Failed)
		if e.Failed > 0 {
			out.Style = screen.Warning
		}
		return out
	}
	sent := func(e *metrics.Endpoint) screen.Span { return countCell(e.Sent) }
	inFlight := func(e *metrics.Endpoint) screen.Span { return countCell(e.InFlight) }
	done := func(e *metrics.Endpoint) screen.Span { return countCell(e.Done) }
	p50 := func(e *metrics.Endpoint) screen.Span { return quantileCell(&e.FirstWait, 0.5) }
	p99 := func(e *metrics.Endpoint) screen.Span { return quantileCell(&e.FirstWait, 0.99) }
	if len(v.plan().Servers) > 1 {
		return table[*metrics.Endpoint]{
			{"sent", 7, sent, 3}, {"in flight", 10, inFlight, 0}, {"done", 7, done, 1}, {"failed", 7, failed, 0}, v.throughputColumn(),
			{wait + " p50", 9, p50, 2}, {wait + " p99", 9, p99, 0},
		}.fit(w - 14)
	}
	return table[*metrics.Endpoint]{
		{"sent", 8, sent, 3}, {"in flight", 11, inFlight, 0}, {"done", 8, done, 0}, {"failed", 8, failed, 0},
		{"out tok", 9, func(e *metrics.Endpoint) screen.Span { return countCell(e.OutputTokens) }, 4},
		{wait + " p50", 10, p50, 2}, {wait + " p99", 10, p99, 1},
	}.fit(w - 20)
}

// throughputColumn is the output of an endpoint in the run so far.
func (v *View) throughputColumn() column[*metrics.Endpoint] {
	name, of := "tok/s", func(e *metrics.Endpoint) int { return e.OutputTokens }
	if !v.plan().Generates() {
		name, of = "req/s", func(e *metrics.Endpoint) int { return e.Done }
	}
	length := (v.At - v.plan().Warmup).Seconds()
	return column[*metrics.Endpoint]{name, 7, func(e *metrics.Endpoint) screen.Span {
		return screen.Text.Span(orDash(length > 0, number.Short, float64(of(e))/length))
	}, 0}
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

// endpointName is the model, or the server where all requests ask for the same model, or both.
func (v *View) endpointName(i int) string {
	e, servers := &v.Endpoints[i], v.plan().Servers
	name := screen.Sanitize(e.Model)
	if n := len(servers); n > 1 && e.Server >= 0 && e.Server < n {
		return strings.TrimSpace(screen.Sanitize(strings.TrimPrefix(servers[e.Server], "http://")) + " " + name)
	}
	if name != "" {
		return name
	}
	return cmp.Or(screen.Sanitize(strings.TrimPrefix(v.plan().Address(), "http://")), "server")
}
