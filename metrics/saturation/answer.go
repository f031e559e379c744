package saturation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"benchtop/metrics"
)

// fewestRequests a level needs to be looked at.
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
		a.Why = limited // what waits are to be compared with is no evidence
	}
	if a.Saturates {
		a.From, a.To = l.list[a.Before].Offered, l.list[a.After].Offered
		a.SaturatedAt = l.list[a.After].From
	}
	l.stand() // saturation may have shown that less was completed
	l.highest(&a, order)
	l.held(&a)
	return a
}

const tooFew = "too few requests"

// limited says how many levels this client limited, "" for none, and whether the lowest of all loads is one.
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

// A load may be set more than once while a run is on: then one of its levels speaks for it, so that it is no step from one
// load to the next.

// worst leaves one level of each load that was set, the first of those that are furthest past saturation: a queue takes time to
// grow, and another, shorter look at the load need not show it.
func (l *Levels) worst(order []*level) []*level {
	return l.oneOfEach(order, func(v, than *level) bool {
		return v.past > than.past || v.past == 0 && than.past == 0 && v.Requests > than.Requests
	})
}

// longest leaves the longest level of each load that was set.
func (l *Levels) longest(order []*level) []*level {
	return l.oneOfEach(order, func(v, than *level) bool { return v.To-v.From > than.To-than.From })
}

// oneOfEach leaves of levels of the same load, which follow each other in order, the first than which no other is better. Of a
// plan's own levels each speaks for itself.
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

// byLoad are the levels that have enough requests and are evidence of the server, by rising load. Where the load was set while the
// run was on, a level that was not within the objectives says nothing if it only suffered from the queue of a higher load right before
// it.
func (l *Levels) byLoad() (order []*level) {
	for i := range l.list {
		if v := &l.list[i]; v.Requests >= fewestRequests && len(v.Limited) == 0 && !l.suffered(i) {
			order = append(order, v)
		}
	}
	slices.SortStableFunc(order, func(a, b *level) int { return cmp.Compare(a.Offered, b.Offered) })
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
		l.list[i].Standing = l.standing(&l.list[i])
	}
}

// standing of a level, or of several at the same load that count together. Where not even half of what it offered has ended, nothing is
// known.
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

// highest finds the highest load that, with all lower ones, was within the objectives. One level between others that were within is
// noise until a second one is not within either, unless a search set the loads: it held each of them for as long as it takes. Where the
// load was set, what levels of the same load say counts together.
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
			if v.Achieved() > a.Highest { // of a higher load less may have been completed
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

// lastSet is how the last setting of the load turned out.
type lastSet struct {
	// held: a search made it, and it was in force to the end. found: the search says that it held.
	held, found bool
}

func lastOf(sets []Setting) lastSet {
	if len(sets) == 0 {
		return lastSet{}
	}
	s := &sets[len(sets)-1]
	return lastSet{held: s.By == metrics.BySearch && !s.Paused && !s.Ramping(), found: s.found}
}

// held makes what a search held in the end the answer: a higher load that passed for a while may not have lasted. It counts
// where the search says that it held; one that had no time to end must be within the objectives.
func (l *Levels) held(a *metrics.Answer) {
	n := len(l.list)
	if l.plan.Find == nil || !l.last.held || n == 0 || len(l.SLO) == 0 {
		return
	}
	v := &l.list[n-1]
	if v.set == nil || v.To != l.end || v.Requests < fewestRequests {
		return // it was too short to tell
	}
	if len(v.Limited) > 0 || v.Standing == metrics.LevelBehind || !l.last.found && v.Standing != metrics.LevelWithin {
		return
	}
	l.within(a, v)
}
