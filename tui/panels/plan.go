package panels

import (
	"math"
	"slices"
	"strings"

	"benchtop/metrics"
	"benchtop/tui/screen"
)

const between = " · "

// PlanLine is the plan in at most w columns.
func PlanLine(p *metrics.Plan, w int) string {
	parts := planParts(p)
	must := core(p, parts)
	if p != nil && p.Find != nil && len(p.Goodput) > 0 && must > 0 &&
		screen.Width(strings.Join(parts[:must], between)) > w {
		parts[must-1] = "search for " + p.Goodput.String() // the objectives say more than the range
	}
	return fit(parts, must, w)
}

// core is how many of the parts a reader has to know: the target, the model, the cold cache, and the load.
func core(p *metrics.Plan, parts []string) int {
	if p != nil {
		if i := slices.Index(parts, screen.Sanitize(p.Load)); i >= 0 {
			return i + 1
		}
	}
	return min(2, len(parts))
}

// planParts are the target, the model, the cold cache, the load, the source of token counts, and the data set. The last
// are left out first.
func planParts(p *metrics.Plan) []string {
	if p == nil {
		return nil
	}
	var out []string
	for _, s := range []string{strings.TrimPrefix(p.Address(), "http://"), p.ModelID, cacheInShort(p), p.Load,
		tokenCounts[p.InputSource], p.Dataset} {
		if s = screen.Sanitize(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// cacheInShort leaves out the cost of the cold cache, which is in the log and in the report.
func cacheInShort(p *metrics.Plan) string {
	short, _, _ := strings.Cut(p.Cache, " (")
	return short
}

// tokenCounts are the sources of the token counts of prompts in short, as far as they are known.
var tokenCounts = map[metrics.TokenSource]string{
	metrics.TokensFromTokenizer: "tokens by tokenizer", metrics.TokensFromServer: "tokens by server",
	metrics.TokensFromIDs:      "token ids",
	metrics.TokensFromEstimate: "tokens estimated",
}

// fit joins parts to at most w columns. Those beyond the first must are cut or left out, the last ones first, before
// any of these is; of these the last one, the load, is cut only where the others have no room left.
func fit(parts []string, must, w int) string {
	const least, leastOfName = 36, 10
	must = min(must, len(parts))
	core := strings.Join(parts[:must], between)
	for n := len(parts); n > must; n-- {
		room := w - screen.Width(core) - screen.Width(between)
		if most := longestThatFits(parts[must:n], room); most >= least {
			return core + between + joinAtMost(parts[must:n], most)
		}
	}
	if must == 0 {
		return ""
	}
	names, load := parts[:must-1], parts[must-1]
	for ; len(names) > 0; names = names[:len(names)-1] {
		most := longestThatFits(names, w-screen.Width(load)-screen.Width(between))
		if most >= leastOfName {
			return joinAtMost(names, most) + between + load
		}
	}
	for n := must; n > 0; n-- { // the load does not fit beside a name
		if most := longestThatFits(parts[:n], w); most >= 40/must {
			return joinAtMost(parts[:n], most)
		}
	}
	return screen.ShortenMiddle(parts[0], w)
}

// longestThatFits is how many columns each part may take so that all of them fit into w.
func longestThatFits(parts []string, w int) int {
	room := w - (len(parts)-1)*screen.Width(between)
	widths := metrics.Each(parts, screen.Width)
	slices.Sort(widths)
	for i, n := range widths {
		if each := room / (len(widths) - i); n > each {
			return each
		}
		room -= n
	}
	return math.MaxInt
}

func joinAtMost(parts []string, most int) string {
	short := metrics.Each(parts, func(p string) string { return screen.ShortenMiddle(p, most) })
	return strings.Join(short, between)
}
