package metrics

import "time"

// LoadLevel is a stretch of the run at one load, and what the server made of it.
type LoadLevel struct {
	// From and To are offsets from the start of the run.
	From, To time.Duration
	// Offered is the load: requests per second that were scheduled, or the number of users of a closed loop.
	Offered float64
	// Users says that Offered counts users.
	Users bool
	// Completed is the share of what was offered that the server completed at the pace at which it came, from 0 to 1: see Pace. A
	// request that failed is not completed.
	Completed float64
	// Requests that were scheduled in the level and ended in any way but by being cut; Good of them met every objective, counted from the
	// moment at which the load asked for them: under a rate the wait for a slot of the client is the server's doing.
	Requests, Good int
	// Sent is the rate of requests that were sent in the level, Done that of successes that ended in it, per second.
	Sent, Done float64
	// TTFT and ITL of the requests scheduled in the level, in milliseconds; that of ITL is an estimate from a Histogram. Wait is TTFT
	// from the moment at which the load asked for the request.
	TTFTp50, TTFTp99, WaitP99, ITLp99 float64
	// Limited says, in a few words each, how this client limited what was measured in the level: then it is no evidence of what the
	// server can do.
	Limited []string
	// Standing is how the level stands against the objectives.
	Standing Standing
}

// Standing of a level against the objectives.
type Standing string

const (
	// LevelOpen: there are no objectives, or too little is known.
	LevelOpen Standing = ""
	// LevelWithin: enough of its requests met the objectives, and it was completed.
	LevelWithin Standing = "within"
	// LevelMissed: too many did not. LevelBehind: enough did, but less than EnoughCompleted of what it offered was completed.
	LevelMissed Standing = "missed"
	LevelBehind Standing = "behind"
	// LevelLimited: this client limited what was measured.
	LevelLimited Standing = "limited"
)

// EnoughCompleted is the share of what a level offers that must be completed for it to be within the objectives.
const EnoughCompleted = 0.95

// Achieved is the load that was completed, in the unit of Offered. Users without pause achieve their number.
func (v *LoadLevel) Achieved() float64 {
	if v.Users {
		return v.Offered
	}
	return v.Offered * v.Completed
}

// Answer is the headline result: the load at which the server saturates, and the highest that was within the objectives.
type Answer struct {
	// Saturates says that the server keeps up with the load From, and not with the load To. Both are offered loads of levels; for users,
	// From is the last number of them from which more still brought more.
	Saturates bool
	From, To  float64
	// Confirmed is false while the run is on and a single level shows it: that may be noise.
	Confirmed bool
	// Before and After index the two levels. Shown is the level whose waits show it: After, or a higher load where the queue
	// had to grow first.
	Before, After, Shown int
	// Within says that a level was within the objectives, Highest is the load that the highest such level achieved.
	Within  bool
	Highest float64
	// HighestLevel indexes that level.
	HighestLevel int
	// Confidence is how sure it is that the share of good requests at Highest really is enough, from 0 to 1; 0 where Within is
	// false.
	Confidence float64
	// SaturatedAt is the moment of the run at which the load passed saturation; Never without one.
	SaturatedAt time.Duration
	// Users says that loads are numbers of users, not requests per second.
	Users bool
	// Why the server was not seen to saturate, in a few words; "" if it was.
	Why string
}

// closeLevels is by how much the levels on both sides of saturation may differ for one number to stand for them.
const closeLevels = 0.1

// At is the load at which the server saturates where its levels are close enough for one number, the middle between them; else it is only
// known to lie between From and To.
func (a *Answer) At() (load float64, close bool) {
	if !a.Saturates || a.To > a.From*(1+closeLevels) {
		return 0, false
	}
	return (a.From + a.To) / 2, true
}
