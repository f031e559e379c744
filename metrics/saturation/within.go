package saturation

import (
	"cmp"
	"slices"

	"benchtop/metrics"
)

// byLoad indexes the levels that have enough requests and are evidence of the server, by rising load. Where the load was set while the
// run was on, a level that was not within the objectives says nothing if it only suffered from the queue of a higher load right before
// it.
func (l *Levels) byLoad() []int {
	var order []int
	for i := range l.list {
		v := &l.list[i]
		if v.Requests >= fewestRequests && len(v.Limited) == 0 && !l.suffered(i) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.list[a].Offered, l.list[b].Offered) })
	return order
}

// suffered reports whether a level that was set came right after a higher load that was beyond the objectives, and was
// beyond them itself.
func (l *Levels) suffered(i int) bool {
	if !l.steered || i == 0 || len(l.SLO) == 0 {
		return false
	}
	v, before := &l.list[i], &l.list[i-1]
	return before.Offered > v.Offered && v.From-before.To < 2*shortestLevel &&
		!l.plan.Enough(v.share()) && !l.plan.Enough(before.share())
}

func (v *level) share() float64 { return metrics.Share(v.Good, v.Requests) }

// stand says of each level how it stands against the objectives.
func (l *Levels) stand() {
	for i := range l.list {
		l.list[i].Standing = l.standing(l.list[i])
	}
}

// standing of a level, or of several at the same load that count together. Where not even half of what it offered has ended, nothing is
// known.
func (l *Levels) standing(v level) metrics.Standing {
	switch {
	case len(l.SLO) == 0 || v.Requests == 0:
		return metrics.LevelOpen
	case len(v.Limited) > 0:
		return metrics.LevelLimited
	case !l.plan.Enough(v.share()):
		return metrics.LevelMissed
	case 2*v.over < v.scheduled:
		return metrics.LevelOpen
	case v.Completed < metrics.EnoughCompleted:
		return metrics.LevelBehind
	}
	return metrics.LevelWithin
}

// highest finds the highest load that, with all lower ones, was within the objectives. One level between others that were within is
// noise until a second one is not within either, unless a search set the loads: it held each of them for as long as it takes. Where the
// load was set, what levels of the same load say counts together.
func (l *Levels) highest(a *metrics.Answer, order []int) {
	enough, _ := l.plan.EnoughGood()
	noise := false
	for k := 0; k < len(order); {
		i := order[k]
		v := l.list[i]
		for k++; l.steered && k < len(order) && l.list[order[k]].Offered == v.Offered; k++ {
			same := &l.list[order[k]]
			v.Good, v.Requests = v.Good+same.Good, v.Requests+same.Requests
			v.over, v.scheduled = v.over+same.over, v.scheduled+same.scheduled
			v.Completed = min(v.Completed, same.Completed)
		}
		if l.standing(v) == metrics.LevelWithin {
			if got := v.Achieved(); got > a.Highest { // of a higher load less may have been completed
				a.Within, a.Highest, a.HighestLevel, a.Sure = true, got, i, sureOf(v.Good, v.Requests, enough)
			}
			continue
		}
		between := a.Within && k < len(order) && l.list[order[k]].Standing == metrics.LevelWithin
		if noise || !between || l.plan.Find != nil || l.standing(v) == metrics.LevelOpen {
			return
		}
		noise = true
	}
}
