package report

import "benchtop/metrics"

// groups sum up the requests of each class, and those at each place of conversations with several turns.
type groups struct {
	names          metrics.Classes
	classes, turns []*group // by their numbers, nil for no request yet
}

type group struct {
	metrics.Group
	ttft, tpot, e2el metrics.Sample
}

// at is the group with a number, from 1.
func at(all *[]*group, place int) *group {
	for len(*all) < place {
		*all = append(*all, nil)
	}
	g := &(*all)[place-1]
	if *g == nil {
		*g = &group{ttft: metrics.Sample{}, tpot: metrics.Sample{}, e2el: metrics.Sample{}}
	}
	return *g
}

// add counts a request that ended by itself.
func (all *groups) add(q *metrics.Request, good bool) {
	if n := all.names.Place(q.Class); n > 0 {
		g := at(&all.classes, n)
		g.Class = all.names.Name(n)
		g.add(q, good)
	}
	if n := metrics.TurnPlace(q); n > 0 {
		g := at(&all.turns, n)
		g.First, g.Last = metrics.TurnsAt(n)
		g.add(q, good)
	}
}

func (g *group) add(q *metrics.Request, good bool) {
	g.Count(q, good)
	if !q.OK() {
		return
	}
	g.ttft.Add(q.TTFT().Seconds())
	g.e2el.Add(q.E2EL().Seconds())
	if q.OutputTokens > 1 {
		o := q.Outcome()
		g.tpot.Add(o.TPOT())
	}
}

// report is for a run of so many seconds.
func (all *groups) report(p *metrics.Plan, length float64) (classes, turns []metrics.Group) {
	return grouped(all.classes, p, length), grouped(all.turns, p, length)
}

func grouped(all []*group, p *metrics.Plan, length float64) (out []metrics.Group) {
	for _, g := range all {
		if g == nil {
			continue
		}
		g.RequestThroughput = metrics.PerSecond(float64(g.Completed), length)
		g.OutputThroughput = metrics.PerSecond(float64(g.OutputTokens), length)
		g.TTFT, g.TPOT, g.E2EL = g.ttft.Statistic(p.Percentiles), g.tpot.Statistic(p.Percentiles), g.e2el.Statistic(p.Percentiles)
		out = append(out, g.Group)
	}
	metrics.SortGroups(out, func(g *metrics.Group) *metrics.GroupCounts { return &g.GroupCounts })
	return out
}
