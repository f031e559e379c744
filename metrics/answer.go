package metrics

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// LoadLevel is a stretch of the run at one load, and what the server made of it.
type LoadLevel struct {
	// From and To are offsets from the start of the run.
	From, To time.Duration
	// Offered is the load: requests per second that were scheduled, or the number of users of a closed loop.
	Offered float64
	// Users says that Offered counts users.
	Users bool
	// Requests that were scheduled in the level and ended in any way but by being cut; Good of them met every objective, in a
	// search (Plan.Find) with their wait for a slot of the client counted in.
	Requests, Good int
	// Sent is the rate of requests that were sent in the level, Done that of successes that ended in it, per second.
	Sent, Done float64
	// TTFT and ITL of the requests scheduled in the level, in milliseconds; that of ITL is an estimate from a Histogram.
	TTFTp50, TTFTp99, ITLp99 float64
}

// Answer is what a person came for: the load at which the server bends, and the highest that was within the objectives.
type Answer struct {
	// Bends says that a bend was found, At which load: halfway between the last level before it and the first after it, for
	// users the last number of them from which more still brought more.
	Bends bool
	At    float64
	// Before and After index the two levels. Shown is the level whose waits show it: After, or a higher load where the queue
	// had to grow first.
	Before, After, Shown int
	// Within says that a level was within the objectives, Highest is the load of the highest such level.
	Within  bool
	Highest float64
	// Sure is how sure it is that the share of good requests at Highest really is enough, from 0 to 1; 0 where Within is
	// false.
	Sure float64
	// BentAt is the moment of the run at which the load passed the bend; Never without one.
	BentAt time.Duration
	// Users says that loads are numbers of users, not requests per second.
	Users bool
	// Why there is no bend, in a few words; "" if there is one.
	Why string
}

// fewestRequests a level needs to be looked at.
const fewestRequests = 5

// answer reads the finished levels.
func (l *levels) answer() Answer {
	a := Answer{BentAt: Never}
	order := l.byLoad()
	if len(order) == 0 {
		a.Why = tooFew
		return a
	}
	a.Users = l.list[order[0]].Users
	if slices.ContainsFunc(order, func(i int) bool { return l.list[i].Users != a.Users }) {
		a.Why = "stages of rates and of users"
		return a
	}
	l.highest(&a, order)
	l.held(&a)
	switch {
	case len(l.list) == 1 && l.plan.Ramp == nil:
		a.Why = "steady load"
	case len(order) < 2:
		a.Why = tooFew
	case a.Users:
		l.knee(&a, l.longest(order))
	default:
		l.bend(&a, order)
	}
	if a.Bends {
		a.BentAt = l.list[a.After].From
	}
	return a
}

const tooFew = "too few requests"

func load(v float64, users bool) string {
	text := strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
	if users {
		return text + " users"
	}
	return text + " req/s"
}
