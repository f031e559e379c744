package panels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// enginesPanel compares the engines of a server, or several servers, by their own metrics: the queue now, or its mean
// over a run that is over, tokens and TTFT in the span.
var enginesPanel = Panel{name: "engines", title: enginesTitle, draw: drawEngines,
	empty: func(v *View) bool { return len(v.engines()) == 0 }, nothing: "one engine"}

// engines are those in the samples of the span, the slowest first, or where that is not known those with the longest
// queue; none where there is one.
func (v *View) engines() []metrics.Engine {
	kept := v.selected().engines
	if some, ok := kept[v.Whole]; ok {
		return some
	}
	from, _ := v.stretch()
	out := metrics.EnginesOver(v.serverSpan(), from)
	for i := range out {
		if e := &out[i]; !v.whole() {
			now := v.engineNow(e)
			e.Running, e.Waiting, e.KVUsage = now.Running, now.Waiting, now.KVUsage
		}
	}
	slices.SortStableFunc(out, func(a, b metrics.Engine) int {
		return cmp.Or(lastly(a.Server == metrics.OtherServers, b.Server == metrics.OtherServers),
			cmp.Compare(b.TTFT.Mean, a.TTFT.Mean), cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.Running, a.Running))
	})
	kept[v.Whole] = out
	return out
}

// engineNow is an engine in the sample at the right edge of the charts, with all Unsaid if it is not there.
func (v *View) engineNow(e *metrics.Engine) metrics.Engine {
	if s := v.cursorServer(); s != nil {
		for _, now := range s.Engines {
			if now.Server == e.Server && now.Name == e.Name {
				return now
			}
		}
	}
	return metrics.Engine{Running: metrics.Unsaid(), Waiting: metrics.Unsaid(), KVUsage: metrics.Unsaid()}
}

// whose says of how many engines a figure is the sum or the mean, or of how many servers where each has one; "" for one
// engine.
func (v *View) whose() string {
	all, servers, what, over := v.engines(), map[int]bool{}, "engine", ""
	for i := range all {
		servers[all[i].Server] = true
	}
	n := len(all)
	if len(servers) == n && len(v.plan().Pages) == 0 {
		what = "server"
	}
	switch {
	case n < 2:
		return ""
	case !servers[metrics.OtherServers]:
	case what == "server":
		n = len(v.plan().Servers)
	default:
		n, over = n-1, "over "
	}
	return fmt.Sprintf(" of %s%d %ss", over, n, what)
}

// otherServers counts the servers without a row of their own; 0 where one of the rows is not a server.
func (v *View) otherServers() int {
	all, servers := v.engines(), map[int]bool{}
	for i := range all {
		servers[all[i].Server] = true
	}
	if len(servers) < len(all) {
		return 0
	}
	return len(v.plan().Servers) - (len(all) - 1)
}

func enginesTitle(v *View, _, _ int) []screen.Span {
	count := strings.TrimPrefix(v.whose(), " of ")
	return heading{screen.Strong.Span(cmp.Or(count, "engines")), screen.Text.Span(" by /metrics"),
		screen.Label.Span(" " + v.scope())}
}

func drawEngines(c screen.Canvas, v *View) {
	all, last := v.engines(), v.Server[len(v.Server)-1]
	row := func(i int) *metrics.Engine { return &all[i] }
	gauge := func(x float64) screen.Span { return cell(orDash(metrics.Said(x), said, x)) }
	prompt := 4
	if v.plan().SeveralRoles() { // some do nothing but that
		prompt = 2
	}
	t := table[*metrics.Engine]{order: "slowest", figures: columns[*metrics.Engine]{
		{"running", 8, func(e *metrics.Engine) screen.Span { return gauge(e.Running) }, 3},
		{"waiting", 8, func(e *metrics.Engine) screen.Span { return gauge(e.Waiting) }, 0},
		{"KV", 5, func(e *metrics.Engine) screen.Span { return shareCell(e.KVUsage) }, 2},
		{"tok/s in", 9, func(e *metrics.Engine) screen.Span {
			last.PromptTokens, last.Took = e.PromptTokens, e.Took
			return gauge(serverPrompt(&last))
		}, prompt},
		{"tok/s", 7, func(e *metrics.Engine) screen.Span {
			last.OutputTokens, last.Took = e.OutputTokens, e.Took
			return gauge(serverOutput(&last))
		}, 1},
		{v.firstWait().Naming().Title + " mean", 10, func(e *metrics.Engine) screen.Span {
			return cell(orDash(e.TTFT.N > 0, number.Latency, e.TTFT.Mean))
		}, 0},
	}}
	t.name(c.W, rowNames(len(all), row, v.engineName))
	t.draw(c, len(all), row, plainRow)
}

// engineName is the name of an engine. Where each server has one, the row of the others has their number.
func (v *View) engineName(e *metrics.Engine) string {
	if n := v.otherServers(); e.Server == metrics.OtherServers && n > 0 {
		return number.Count(n) + " " + metrics.OtherEngines
	}
	name := cmp.Or(v.plan().EngineName(e, v.engines()), v.plan().Address(), "server")
	return foreignName(strings.TrimPrefix(name, "http://"))
}
