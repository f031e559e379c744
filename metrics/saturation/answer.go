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
	limited := l.limited()
	if len(order) == 0 {
		a.Why = tooFew
		if limited > 0 {
			a.Why = clientLimited(limited, len(l.list))
		}
		return a
	}
	a.Users = l.list[order[0]].Users
	if slices.ContainsFunc(order, func(i int) bool { return l.list[i].Users != a.Users }) {
		a.Why = "stages of rates and of users"
		return a
	}
	switch {
	case len(l.list) == 1 && l.plan.Ramp == nil:
		a.Why = "steady load"
	case len(order) < 2 && limited > 0:
		a.Why = clientLimited(limited, len(l.list))
	case len(order) < 2:
		a.Why = tooFew
	case a.Users:
		l.knee(&a, l.longest(order))
	default:
		l.saturation(&a, order)
	}
	if lowest := l.lowest(); !a.Saturates && limited > 0 && lowest >= 0 && len(l.list[lowest].Limited) > 0 {
		a.Why = clientLimited(limited, len(l.list)) // what waits are to be compared with is no evidence
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

func clientLimited(n, of int) string { return fmt.Sprintf("client limited in %d of %d levels", n, of) }

// lowest is the level of the lowest load, -1 where there is none.
func (l *Levels) lowest() int {
	lowest := -1
	for i := range l.list {
		if lowest < 0 || l.list[i].Offered < l.list[lowest].Offered {
			lowest = i
		}
	}
	return lowest
}

// limited counts the levels that this client limited.
func (l *Levels) limited() (n int) {
	for i := range l.list {
		if len(l.list[i].Limited) > 0 {
			n++
		}
	}
	return n
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
// grow, and another, shorter look at the load need not show it. all are the waits of the levels in order.
func (l *Levels) worst(order []int, all []waits, base waits) ([]int, []waits) {
	how := make(map[int]int, len(order)) // far past saturation: not, longer or much longer
	for k, i := range order {
		for _, times := range []float64{longer, muchLonger} {
			if l.past(i, all[k], base, times) {
				how[i]++
			}
		}
	}
	of := make(map[int]waits, len(order))
	for k, i := range order {
		of[i] = all[k]
	}
	order = l.oneOfEach(order, func(i, than int) bool {
		return how[i] > how[than] || how[i] == 0 && how[than] == 0 && l.list[i].Requests > l.list[than].Requests
	})
	all = make([]waits, len(order))
	for k, i := range order {
		all[k] = of[i]
	}
	return order, all
}

// longest leaves the longest level of each load that was set.
func (l *Levels) longest(order []int) []int {
	length := func(i int) int64 { return int64(l.list[i].To - l.list[i].From) }
	return l.oneOfEach(order, func(i, than int) bool { return length(i) > length(than) })
}

// oneOfEach leaves of levels of the same load, which follow each other in order, the first than which no other is better. Of a
// plan's own levels each speaks for itself.
func (l *Levels) oneOfEach(order []int, better func(i, than int) bool) []int {
	if !l.steered {
		return order
	}
	var kept []int
	for _, i := range order {
		last := len(kept) - 1
		switch {
		case last < 0 || l.list[kept[last]].Offered != l.list[i].Offered:
			kept = append(kept, i)
		case better(i, kept[last]):
			kept[last] = i
		}
	}
	return kept
}

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
	enough, _ := l.plan.EnoughGood()
	a.Within, a.Highest, a.HighestLevel, a.Sure = true, v.Achieved(), n-1, sureOf(v.Good, v.Requests, enough)
}
