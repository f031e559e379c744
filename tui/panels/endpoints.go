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
	empty: func(v *View) bool { return len(v.Endpoints) == 0 }, nothing: nothingYet}

func endpointsTitle(v *View, _, h int) []screen.Span {
	out, n := heading{screen.Strong.Span("endpoints")}, len(v.Endpoints)
	out.when(n > 1, screen.Text, " ", number.Count(n))
	out.when(n > max(1, h-3), screen.Label, " · z shows more")
	return append(out, screen.Text.Span(" whole run"))
}

func endpointFigures(v *View, w int) columns[*metrics.Group] {
	wait := v.firstWait().Naming().Title
	failed := func(e *metrics.Group) screen.Span {
		out := countCell(e.Failed)
		if e.Failed > 0 {
			out.Style = screen.Warning
		}
		return out
	}
	sent := func(e *metrics.Group) screen.Span { return countCell(e.Sent) }
	inFlight := func(e *metrics.Group) screen.Span { return countCell(e.InFlight) }
	done := func(e *metrics.Group) screen.Span { return countCell(e.Completed) }
	p50 := func(e *metrics.Group) screen.Span { return quantileCell(&e.Histograms[v.plan().FirstWait()], 0.5) }
	p99 := func(e *metrics.Group) screen.Span { return quantileCell(&e.Histograms[v.plan().FirstWait()], 0.99) }
	if len(v.plan().Servers) > 1 {
		return columns[*metrics.Group]{
			{"sent", 7, sent, 3}, {"in flight", 10, inFlight, 0}, {"done", 7, done, 1}, {"failed", 7, failed, 0},
			v.throughputColumn(),
			{wait + " p50", 9, p50, 2}, {wait + " p99", 9, p99, 0},
		}.fit(w - 14)
	}
	return columns[*metrics.Group]{
		{"sent", 8, sent, 3}, {"in flight", 11, inFlight, 0}, {"done", 8, done, 0}, {"failed", 8, failed, 0},
		{"out tok", 9, func(e *metrics.Group) screen.Span { return countCell(e.OutputTokens) }, 4},
		{wait + " p50", 10, p50, 2}, {wait + " p99", 10, p99, 1},
	}.fit(w - 20)
}

// throughputColumn is the output of an endpoint in the run so far.
func (v *View) throughputColumn() column[*metrics.Group] {
	name, of := "tok/s", func(e *metrics.Group) int { return e.OutputTokens }
	if !v.plan().Generates() {
		name, of = "req/s", func(e *metrics.Group) int { return e.Completed }
	}
	length := (v.At - v.plan().Warmup).Seconds()
	return column[*metrics.Group]{name, 7, func(e *metrics.Group) screen.Span {
		return screen.Text.Span(orDash(length > 0, number.Short, float64(of(e))/length))
	}, 0}
}

func countCell(n int) screen.Span { return screen.Text.Span(number.Count(n)) }

func quantileCell(h *metrics.Histogram, q float64) screen.Span {
	return screen.Text.Span(orDash(h.Count() > 0, number.Latency, h.Quantile(q)))
}

func drawEndpoints(c screen.Canvas, v *View) {
	t := table[*metrics.Group]{figures: endpointFigures(v, c.W)}
	row := func(i int) *metrics.Group { return &v.Endpoints[i] }
	// The figures stand next to the names, not at the far end of a wide line.
	names := rowNames(len(v.Endpoints), row, v.endpointName, 12, max(0, c.W-t.figures.width()))
	t.before = []field[*metrics.Group]{names}
	t.draw(c, len(v.Endpoints), row, plainRow)
}

// endpointName is the model, or the server where all requests ask for the same model, or both.
func (v *View) endpointName(e *metrics.Group) string {
	servers, name := v.plan().Servers, screen.Sanitize(e.Model)
	if n := len(servers); n > 1 && e.Server >= 0 && e.Server < n {
		return strings.TrimSpace(screen.Sanitize(strings.TrimPrefix(servers[e.Server], "http://")) + " " + name)
	}
	if name != "" {
		return name
	}
	return cmp.Or(screen.Sanitize(strings.TrimPrefix(v.plan().Address(), "http://")), "server")
}
