package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"benchtop/metrics"
)

// classShares sum up the requests of each class; empty where requests have none.
type classShares map[string]*classShare

type classShare struct {
	metrics.ClassShare
	ttft, tpot, e2el metrics.Sample
}

// add counts a request that ended by itself.
func (all classShares) add(q *metrics.Request, slo metrics.SLO) {
	if q.Class == "" {
		return
	}
	name := q.Class
	if all[name] == nil && len(all) >= metrics.MostClasses-1 {
		name = metrics.OtherClasses
	}
	c := all[name]
	if c == nil {
		c = &classShare{ClassShare: metrics.ClassShare{Class: name}, ttft: metrics.Sample{}, tpot: metrics.Sample{}, e2el: metrics.Sample{}}
		all[name] = c
	}
	if !q.OK() {
		c.Failed++
		return
	}
	c.Completed++
	c.InputTokens, c.OutputTokens, c.CachedTokens = c.InputTokens+q.InputTokens, c.OutputTokens+q.OutputTokens, c.CachedTokens+q.CachedTokens
	o := q.Outcome()
	c.ttft.Add(q.TTFT().Seconds())
	c.e2el.Add(q.E2EL().Seconds())
	if q.OutputTokens > 1 {
		c.tpot.Add(o.TPOT())
	}
	if q.Judgement.Judged {
		c.Judged++
		if q.Judgement.Wrong == "" {
			c.Correct++
		}
	}
	if len(slo) > 0 && slo.Judge(&o).Good() {
		c.Good++
	}
}

// report is for a run of so many seconds. Classes are in the order of their names, in which numbers count as such.
func (all classShares) report(p *metrics.Plan, length float64) (out []metrics.ClassShare) {
	for _, c := range all {
		c.RequestThroughput = metrics.PerSecond(float64(c.Completed), length)
		c.OutputThroughput = metrics.PerSecond(float64(c.OutputTokens), length)
		c.TTFT, c.TPOT, c.E2EL = c.ttft.Statistic(p.Percentiles), c.tpot.Statistic(p.Percentiles), c.e2el.Statistic(p.Percentiles)
		out = append(out, c.ClassShare)
	}
	slices.SortFunc(out, func(a, b metrics.ClassShare) int { return natural(a.Class, b.Class) })
	return out
}

// natural compares texts whose numbers count by their value: "priority 2" comes before "priority 10".
func natural(a, b string) int {
	words := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' })
	}
	return cmp.Or(slices.CompareFunc(words(a), words(b), func(a, b string) int {
		x, err := strconv.Atoi(a)
		y, err2 := strconv.Atoi(b)
		if err == nil && err2 == nil {
			return cmp.Compare(x, y)
		}
		return strings.Compare(a, b)
	}), strings.Compare(a, b))
}
