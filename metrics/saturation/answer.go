package saturation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"benchtop/metrics"
)

// fewestRequests is the number of requests from which on a level counts.
const fewestRequests = 5

// Judge computes the figures of each level, and from them the answer.
func (l *Levels) Judge() ([]metrics.LoadLevel, metrics.Answer) {
	l.finish()
	a := l.answer()
	out := make([]metrics.LoadLevel, 0, len(l.list))
	for i := range l.list {
		out = append(out, l.list[i].LoadLevel)
	}
	return out, a
}

// answer reads the finished levels.
func (l *Levels) answer() metrics.Answer {
	a := metrics.Answer{SaturatedAt: metrics.Never}
	l.stand()
	order := l.byLoad()
	limited, lowestLimited := l.limited()
	if len(order) == 0 {
		a.Why = cmp.Or(limited, tooFew)
		return a
	}
	a.Users = order[0].Users
	if slices.ContainsFunc(order, func(v *level) bool { return v.Users != a.Users }) {
		a.Why = "stages of rates and of users"
		return a
	}
	switch {
	case len(l.list) == 1 && l.plan.Ramp == nil:
		a.Why = "steady load"
	case len(order) < 2:
		a.Why = cmp.Or(limited, tooFew)
	case a.Users:
		l.userSaturation(&a, l.longest(order))
	default:
		l.rateSaturation(&a, order)
	}
	if !a.Saturates && lowestLimited {
		a.Why = limited // the baseline itself is no evidence
	}
	if a.Saturates {
		a.From, a.To = l.list[a.Before].Offered, l.list[a.After].Offered
		a.SaturatedAt = l.list[a.After].From
	}
	l.stand() // the search for saturation may have lowered the completed shares
	l.highest(&a, order)
	l.held(&a)
	return a
}

const tooFew = "too few requests"

// limited describes how many levels this client limited, "" for none, and reports whether the lowest of all loads is one of them.
func (l *Levels) limited() (text string, lowest bool) {
	n := 0
	var least *level
	for i := range l.list {
		v := &l.list[i]
		if len(v.Limited) > 0 {
			n++
		}
		if least == nil || v.Offered < least.Offered {
			least = v
		}
	}
	if n == 0 {
		return "", false
	}
	return fmt.Sprintf("client limited in %d of %d levels", n, len(l.list)), len(least.Limited) > 0
}

func load(v float64, users bool) string {
	text := strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
	if users {
		return text + " users"
	}
	return text + " req/s"
}

// A load may be set more than once in a run. One of its levels represents it then, so that equal loads are no step between loads.

// worst keeps one level of each load that was set: the first of those furthest past saturation. A queue takes time to grow, so a
// shorter level of the same load may miss it.
func (l *Levels) worst(order []*level) []*level {
	return l.oneOfEach(order, func(v, than *level) bool {
		return v.past > than.past || v.past == 0 && than.past == 0 && v.Requests > than.Requests
	})
}

// longest keeps the longest level of each load that was set.
func (l *Levels) longest(order []*level) []*level {
	return l.oneOfEach(order, func(v, than *level) bool { return v.To-v.From > than.To-than.From })
}

// oneOfEach keeps the best level of each load, the first of equals. Levels of the same load are neighbours in order. All levels of a
// plan are kept.
func (l *Levels) oneOfEach(order []*level, better func(v, than *level) bool) []*level {
	if !l.steered {
		return order
	}
	var kept []*level
	for _, v := range order {
		last := len(kept) - 1
		switch {
		case last < 0 || kept[last].Offered != v.Offered:
			kept = append(kept, v)
		case better(v, kept[last]):
			kept[last] = v
		}
	}
	return kept
}

// byLoad are the levels with enough requests that are evidence of the server, by rising load. Where the load was set during the run, a
// level that missed the objectives does not count if the queue of a higher load right before it explains that.
func (l *Levels) byLoad() (order []*level) {
	for i := range l.list {
		if v := &l.list[i]; v.Requests >= fewestRequests && len(v.Limited) == 0 && !l.suffered(i) {
			order = append(order, v)
		}
	}
	slices.SortStableFunc(order, func(a, b *level) int { return cmp.Compare(a.Offered, b.Offered) })
	return order
}

// suffered reports whether a level missed the objectives right after a higher load that missed them.
func (l *Levels) suffered(i int) bool {
	if !l.steered || i == 0 || len(l.SLO) == 0 {
		return false
	}
	v, before := &l.list[i], &l.list[i-1]
	return before.Offered > v.Offered && v.From-before.To < 2*shortestLevel &&
		!l.plan.Enough(v.share()) && !l.plan.Enough(before.share())
}

func (v *level) share() float64 { return metrics.Share(v.Good, v.Requests) }

// stand fills in the standing of each level against the objectives.
func (l *Levels) stand() {
	for i := range l.list {
		l.list[i].Standing = l.standing(&l.list[i])
	}
}

// standing of a level, or of several at the same load that count together. It is open until half of the offered requests have ended.
func (l *Levels) standing(v *level) metrics.Standing {
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

// highest finds the highest load that was within the objectives together with all lower loads. One level that missed them between
// levels within counts as noise, a second one does not. In a search no level is noise, since the search holds each load long enough.
// Where the load was set, levels of the same load count together.
func (l *Levels) highest(a *metrics.Answer, order []*level) {
	noise := false
	for k := 0; k < len(order); {
		v := *order[k]
		for k++; l.steered && k < len(order) && order[k].Offered == v.Offered; k++ {
			same := order[k]
			v.Good, v.Requests = v.Good+same.Good, v.Requests+same.Requests
			v.over, v.scheduled = v.over+same.over, v.scheduled+same.scheduled
			v.Completed = min(v.Completed, same.Completed)
		}
		standing := l.standing(&v)
		if standing == metrics.LevelWithin {
			if v.Achieved() > a.Highest { // a higher load may have completed less
				l.within(a, &v)
			}
			continue
		}
		between := a.Within && k < len(order) && order[k].Standing == metrics.LevelWithin
		if noise || !between || l.plan.Find != nil || standing == metrics.LevelOpen {
			return
		}
		noise = true
	}
}

// within makes a level the highest one within the objectives.
func (l *Levels) within(a *metrics.Answer, v *level) {
	enough, _ := l.plan.EnoughGood()
	a.Within, a.Highest, a.HighestLevel, a.Confidence = true, v.Achieved(), v.index, probShareAtLeast(v.Good, v.Requests, enough)
}

// lastSet is the outcome of the last setting of the load.
type lastSet struct {
	// held: a search set it, and it was in force to the end. found: the search reports that it held.
	held, found bool
}

func lastOf(sets []Setting) lastSet {
	if len(sets) == 0 {
		return lastSet{}
	}
	s := &sets[len(sets)-1]
	return lastSet{held: s.By == metrics.BySearch && !s.Paused && !s.Ramping(), found: s.found}
}

// held makes the load that a search held in the end the answer, since a higher load that passed for a while may not have lasted. It
// counts where the search reports that it held. Where the search did not end, its level must be within the objectives.
func (l *Levels) held(a *metrics.Answer) {
	n := len(l.list)
	if l.plan.Find == nil || !l.last.held || n == 0 || len(l.SLO) == 0 {
		return
	}
	v := &l.list[n-1]
	if v.set == nil || v.To != l.end || v.Requests < fewestRequests {
		return // the level is too short
	}
	if len(v.Limited) > 0 || v.Standing == metrics.LevelBehind || !l.last.found && v.Standing != metrics.LevelWithin {
		return
	}
	l.within(a, v)
}
