package panels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"benchtop/metrics"
	"benchtop/tui/number"
)

// makeGroups makes some requests turns of conversations, and gives some a class.
func (m *madeUp) makeGroups(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 14))
	if r.IntN(4) == 0 {
		return
	}
	turns := 2 + r.IntN(40)
	for i := range m.requests {
		q := &m.requests[i]
		if r.IntN(5) > 0 {
			q.Conversation, q.Turn, q.Turns = i/turns, i%turns, turns
		}
		q.Class = []string{"", "chat", "rag"}[r.IntN(3)]
		if q.OK() && r.IntN(4) > 0 {
			q.IdealTokens, q.IdealKnown = r.IntN(q.InputTokens+1), true
		}
	}
}

// groupTruth is a group of requests as they say.
type groupTruth struct {
	done, failed, good int
	cached, cachedOf   int
	ideal, idealOf     int
	wait               metrics.Histogram
}

// groups are the requests that ended, without the warm-up, by a name; "" for none.
func (f *truth) groups(name func(q *metrics.Request) string) (map[string]*groupTruth, int) {
	out, all := map[string]*groupTruth{}, 0
	for i := range f.run.requests {
		q := &f.run.requests[i]
		of := name(q)
		if of == "" || q.Done > f.s.At || q.Scheduled < f.s.Plan.Warmup {
			continue
		}
		all++
		if out[of] == nil {
			out[of] = &groupTruth{}
		}
		g := out[of]
		if !q.OK() {
			g.failed++
			continue
		}
		g.done++
		if o := q.Outcome(); f.s.Plan.Goodput.Judge(&o).Good() {
			g.good++
		}
		if q.CachedKnown {
			g.cached, g.cachedOf = g.cached+q.CachedTokens, g.cachedOf+q.InputTokens
		}
		if q.IdealKnown {
			g.ideal, g.idealOf = g.ideal+q.IdealTokens, g.idealOf+q.InputTokens
		}
		wait := q.TTFT()
		if f.s.Plan.Pooling {
			wait = q.E2EL()
		}
		g.wait.Add(wait)
	}
	return out, all
}

// waits are the median and the 99th percentile, at the end those of the result.
func (f *truth) waits(g *groupTruth, list, key, name string) []string {
	if !f.over() {
		return []string{orDash(g.done > 0, number.Latency, g.wait.Quantile(.5)),
			orDash(g.done > 0, number.Latency, g.wait.Quantile(.99))}
	}
	latency := strings.ToLower(f.v.firstWait().Naming().Title) + "_ms"
	for _, x := range f.result["benchtop"].(map[string]any)[list].([]any) {
		of := x.(map[string]any)
		if fmt.Sprint(of[key]) != name {
			continue
		}
		figures := of[latency].(map[string]any)
		if figures["median"] == nil {
			return []string{dash, dash}
		}
		return []string{number.Latency(number.Seconds(figures["median"].(float64) / 1000)),
			number.Latency(number.Seconds(figures["p99"].(float64) / 1000))}
	}
	f.failf("no %s %s in the result", key, name)
	return nil
}

func shareText(n, of int) string { return orDash(of > 0, saidShare, float64(n)/float64(of)) }

// groupRows compares rows of a table with groups.
func (f *truth) groupRows(groups map[string]*groupTruth, columns []string,
	want func(name string, g *groupTruth) []string) {
	rows, names := f.table(columns...)
	for name, g := range groups {
		i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, name+" ") })
		switch {
		case i >= 0 && !slices.Equal(rows[i], want(name, g)):
			f.failf("%s: %q, want %q", name, rows[i], want(name, g))
		case i >= 0:
			f.read++
		case f.large && len(rows) > 0:
			f.failf("no row of %s", name)
		}
	}
}

func (f *truth) turns() {
	groups, _ := f.groups(func(q *metrics.Request) string {
		if q.Turns < 2 {
			return ""
		}
		if turn := q.Turn + 1; turn <= 32 {
			return fmt.Sprint(turn)
		}
		return "33-64"
	})
	columns, cached, ideal := []string{"done", "p50", "p99"}, false, false
	for _, g := range groups {
		cached, ideal = cached || g.cachedOf > 0, ideal || g.idealOf > 0
	}
	if cached {
		columns = append(columns, "cached")
	}
	if ideal {
		columns = append(columns, "ideal")
	}
	f.groupRows(groups, columns, func(name string, g *groupTruth) []string {
		first, _, _ := strings.Cut(name, "-")
		row := append([]string{number.Count(g.done)}, f.waits(g, "turns", "turn", first)...)
		if cached {
			row = append(row, shareText(g.cached, g.cachedOf))
		}
		if ideal {
			row = append(row, shareText(g.ideal, g.idealOf))
		}
		return row
	})
}

func (f *truth) classes() {
	groups, all := f.groups(func(q *metrics.Request) string { return q.Class })
	columns := []string{"share", "req/s", "p50", "p99"}
	if len(f.s.Plan.Goodput) > 0 {
		columns = append(columns, "good")
	}
	length := (f.s.At - f.s.Plan.Warmup).Seconds()
	f.groupRows(groups, columns, func(name string, g *groupTruth) []string {
		row := append([]string{shareText(g.done+g.failed, all), number.Rate(float64(g.done) / length)},
			f.waits(g, "classes", "class", name)...)
		if len(f.s.Plan.Goodput) > 0 {
			row = append(row, percent(float64(g.good)/float64(g.done+g.failed)))
		}
		return row
	})
}
