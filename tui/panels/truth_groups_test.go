package panels

import (
	"cmp"
	"fmt"
	"math"
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
	m.run.Plan.Axes = []metrics.Axis{{By: metrics.AxisHeader, Header: "x-served-by"}}
	for i := range m.requests {
		q := &m.requests[i]
		if r.IntN(5) > 0 {
			q.Conversation, q.Turn, q.Turns = i/turns, i%turns, turns
		}
		q.Class = []string{"", "chat", "rag"}[r.IntN(3)]
		if q.FirstChunk != metrics.Never && len(q.Chunks) > 0 {
			q.Served = [][]string{nil, {"pod-a"}, {"pod-b"}}[r.IntN(3)]
		}
		if q.OK() && r.IntN(4) > 0 {
			q.IdealTokens, q.IdealKnown = r.IntN(q.InputTokens+1), true
		}
	}
}

// groupTruth is a group of requests as they say.
type groupTruth struct {
	flying, done, failed, good, tokens int
	cached, cachedOf                   int
	ideal, idealOf                     int
	wait                               metrics.Histogram
	early                              metrics.Histogram // of those in flight as well
}

// groups are the requests that ended, without the warm-up, and all in flight, by a name; "" for none.
func (f *truth) groups(name func(q *metrics.Request) string) (map[string]*groupTruth, int) {
	out, all := map[string]*groupTruth{}, 0
	for i := range f.run.requests {
		q := &f.run.requests[i]
		of := name(q)
		if of == "" || q.Sent > f.s.At {
			continue
		}
		if out[of] == nil {
			out[of] = &groupTruth{}
		}
		g, flying, warming := out[of], q.Done > f.s.At, q.Scheduled < f.s.Plan.Warmup
		if flying {
			g.flying++
		}
		if !warming && (flying || q.OK()) && q.FirstChunk != metrics.Never && q.FirstChunk <= f.s.At {
			g.early.Add(q.FirstChunk - q.Sent)
		}
		if flying || warming {
			continue
		}
		all++
		if !q.OK() {
			g.failed++
			continue
		}
		g.done, g.tokens = g.done+1, g.tokens+q.OutputTokens
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
	ours := f.result["benchtop"].(map[string]any)
	if list == "places" {
		ours = ours["compared"].([]any)[0].(map[string]any)
	}
	for _, x := range ours[list].([]any) {
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
		case f.large && len(rows) > 0 && g.done+g.failed > 0:
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
	f.comparison(groups, all, func(name string, g *groupTruth) []string {
		return f.waits(g, "classes", "class", name)
	})
}

// places are known of requests whose answers began with the header, and of those that ended.
func (f *truth) places() {
	if len(f.s.Plan.Axes) == 0 {
		f.groupRows(nil, []string{"share"}, nil)
		return
	}
	groups, all := f.groups(func(q *metrics.Request) string {
		switch {
		case q.Done > f.s.At && (q.Served == nil || q.FirstChunk > f.s.At):
			return ""
		case q.Served == nil:
			return metrics.NoPlace
		}
		return q.Served[0]
	})
	f.comparison(groups, all, func(name string, g *groupTruth) []string {
		return f.waits(g, "places", "place", name)
	})
}

func (f *truth) endpoints() {
	groups, all := f.groups(func(q *metrics.Request) string { return cmp.Or(q.Model, "127.0.0.1:8000") })
	f.comparison(groups, all, func(_ string, g *groupTruth) []string {
		if f.s.Plan.Pooling { // known when a request ends
			g.early = g.wait
		}
		return []string{orDash(g.early.Count() > 0, number.Latency, g.early.Quantile(.5)),
			orDash(g.early.Count() > 0, number.Latency, g.early.Quantile(.99))}
	})
}

// comparison compares the rows of groups: their load, waits, output, and what became of their requests.
func (f *truth) comparison(groups map[string]*groupTruth, all int, waits func(string, *groupTruth) []string) {
	plan, failed := f.s.Plan, 0
	for _, g := range groups {
		failed += g.failed
	}
	columns := []string{"share", "in flight", "req/s", "p50", "p99"}
	if !plan.Pooling {
		columns = append(columns, "tok/s")
	}
	if len(plan.Goodput) > 0 {
		columns = append(columns, "good")
	}
	if failed > 0 {
		columns = append(columns, "failed")
	}
	length := (f.s.At - plan.Warmup).Seconds()
	f.groupRows(groups, columns, func(name string, g *groupTruth) []string {
		row := []string{orDash(all > 0, saidShare, float64(g.done+g.failed)/math.Max(1, float64(all))),
			number.Count(g.flying), number.Rate(float64(g.done) / length)}
		row = append(row, waits(name, g)...)
		if !plan.Pooling {
			row = append(row, number.Short(float64(g.tokens)/length))
		}
		if len(plan.Goodput) > 0 {
			row = append(row, orDash(g.done+g.failed > 0, percent, float64(g.good)/float64(g.done+g.failed)))
		}
		if failed > 0 {
			row = append(row, number.Count(g.failed))
		}
		return row
	})
}

// engines compares the rows of engines, which are made up with names from engine-0 on.
func (f *truth) engines() {
	type sums struct{ n, running, waiting, kv, prompt, tokens, requests, wait float64 }
	all, newest := map[string]*sums{}, f.sample()
	for _, s := range f.samples() {
		for _, e := range s.Engines {
			x := all[e.Name]
			if x == nil {
				x = &sums{}
				all[e.Name] = x
			}
			x.n++
			x.running, x.waiting, x.kv = x.running+e.Running, x.waiting+e.Waiting, x.kv+e.KVUsage
			x.prompt, x.tokens, x.requests = x.prompt+e.PromptTokens, x.tokens+e.OutputTokens, x.requests+e.TTFT.N
			x.wait += e.TTFT.N * e.TTFT.Mean.Seconds()
		}
	}
	rows, names := f.table("running", "waiting", "KV", "tok/s in", "tok/s", "mean")
	for name, x := range all {
		i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, name+" ") })
		if i < 0 {
			if f.large {
				f.failf("no row of %s", name)
			}
			continue
		}
		queue := []float64{x.running / x.n, x.waiting / x.n, x.kv / x.n}
		if !f.over() || f.v.cursorSecond() != nil {
			k := slices.IndexFunc(newest.Engines, func(e metrics.Engine) bool { return e.Name == name })
			e := newest.Engines[k]
			queue = []float64{e.Running, e.Waiting, e.KVUsage}
		}
		want := []string{said(queue[0]), said(queue[1]), saidShare(queue[2]), said(x.prompt / x.n),
			said(x.tokens / x.n),
			orDash(x.requests > 0, number.Latency, number.Seconds(x.wait/x.requests))}
		if !slices.Equal(rows[i], want) {
			f.failf("%s: %q, want %q", name, rows[i], want)
		}
		f.read++
	}
}
