package live

import "benchtop/metrics"

// groups count the requests of each class, and those at each place of conversations with several turns, without the warm-up.
type groups struct {
	names          metrics.Classes
	classes, turns []metrics.LiveGroup // by their numbers
}

// groupPlaces are the numbers of the groups of a request, 0 for none.
type groupPlaces struct{ class, turn uint8 }

func (g *groups) placesOf(q *metrics.Request) groupPlaces {
	return groupPlaces{uint8(g.names.Place(q.Class)), uint8(metrics.TurnPlace(q))}
}

// of are the groups of a request.
func (g *groups) of(at groupPlaces) (all [2]*metrics.LiveGroup) {
	for len(g.classes) < int(at.class) {
		g.classes = append(g.classes, metrics.LiveGroup{GroupCounts: metrics.GroupCounts{Class: g.names.Name(len(g.classes) + 1)}})
	}
	for len(g.turns) < int(at.turn) {
		first, last := metrics.TurnsAt(len(g.turns) + 1)
		g.turns = append(g.turns, metrics.LiveGroup{GroupCounts: metrics.GroupCounts{First: first, Last: last}})
	}
	if at.class > 0 {
		all[0] = &g.classes[at.class-1]
	}
	if at.turn > 0 {
		all[1] = &g.turns[at.turn-1]
	}
	return all
}

// done counts a request that ended. slo is in force.
func (g *groups) done(p *metrics.Plan, slo metrics.SLO, q *metrics.Request) {
	if q.Failure == metrics.Cancelled || p.Warming(q) {
		return
	}
	good := false
	if slo = p.ObjectivesFor(q.Class, slo); len(slo) > 0 && q.OK() {
		o := q.Outcome()
		good = slo.Judge(&o).Good()
	}
	wait := p.FirstWait().Of(q)
	for _, of := range g.of(g.placesOf(q)) {
		if of == nil {
			continue
		}
		of.Count(q, good)
		if q.OK() {
			of.FirstWait.Add(wait)
		}
	}
}

// goodBy replaces the counts of good requests, which are by the numbers of the groups.
func (g *groups) goodBy(good *goodCounts) {
	for i := range g.classes {
		g.classes[i].Good = good.classes[i+1]
	}
	for i := range g.turns {
		g.turns[i].Good = good.turns[i+1]
	}
}

// goodCounts count good requests by the numbers of their groups.
type goodCounts struct {
	classes [metrics.MostClasses + 1]int
	turns   [metrics.MostTurnPlaces + 1]int
}

func (c *goodCounts) add(at groupPlaces) {
	c.classes[at.class]++
	c.turns[at.turn]++
}

func (c *goodCounts) join(o *goodCounts) {
	for i, n := range o.classes {
		c.classes[i] += n
	}
	for i, n := range o.turns {
		c.turns[i] += n
	}
}

// share returns the groups for a reader.
func (g *groups) share() (classes, turns []metrics.LiveGroup) {
	return shared(g.classes), shared(g.turns)
}

func shared(all []metrics.LiveGroup) (out []metrics.LiveGroup) {
	for i := range all {
		if g := all[i]; g.Completed+g.Failed > 0 {
			g.FirstWait = g.FirstWait.Share()
			out = append(out, g)
		}
	}
	metrics.SortGroups(out, func(g *metrics.LiveGroup) *metrics.GroupCounts { return &g.GroupCounts })
	return out
}
