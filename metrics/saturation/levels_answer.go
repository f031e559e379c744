package saturation

import (
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
