package metrics

import (
	"cmp"
	"slices"
)

// byLoad indexes the levels that have enough requests, by rising load. Where the load was set while the run was on, a level
// that was not within the objectives says nothing if it only suffered from the queue of a higher load right before it.
func (l *levels) byLoad() []int {
	var order []int
	for i := range l.list {
		if l.list[i].Requests >= fewestRequests && !l.suffered(i) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.list[a].Offered, l.list[b].Offered) })
	return order
}

// suffered reports whether a level that was set came right after a higher load that was beyond the objectives, and was
// beyond them itself.
func (l *levels) suffered(i int) bool {
	if !l.steered || i == 0 || len(l.slo) == 0 {
		return false
	}
	v, before := &l.list[i], &l.list[i-1]
	return before.Offered > v.Offered && v.From-before.To < 2*shortestLevel &&
		!l.within(v.share()) && !l.within(before.share())
}

func (v *level) share() float64 { return share(v.Good, v.Requests) }

// highest finds the highest load that, with all lower ones, was within the objectives. Where the load was set, what levels of
// the same load say counts together: a search holds what it found. While the run is on, a load of whose requests not even
// half have ended is not known to be within.
func (l *levels) highest(a *Answer, order []int) {
	if len(l.slo) == 0 {
		return
	}
	enough, _ := l.plan.EnoughGood()
	for k := 0; k < len(order); {
		v := &l.list[order[k]]
		good, requests, over, scheduled := 0, 0, 0, 0
		for {
			same := &l.list[order[k]]
			good, requests = good+same.Good, requests+same.Requests
			over, scheduled = over+same.over, scheduled+same.scheduled
			k++
			if !l.steered || k == len(order) || l.list[order[k]].Offered != v.Offered {
				break
			}
		}
		if !l.within(share(good, requests)) || l.live && 2*over < scheduled {
			return
		}
		a.Within, a.Highest, a.Sure = true, v.Offered, sureOf(good, requests, enough)
	}
}

// within reports whether a share of good requests is enough: what the plan's own gates on it say, or EnoughGood.
func (l *levels) within(good float64) bool {
	enough, asked := l.plan.EnoughGood()
	if !asked {
		return good >= enough
	}
	for _, g := range l.plan.Gates {
		if g.asksForGood() && g.Missed(good) {
			return false
		}
	}
	return true
}
