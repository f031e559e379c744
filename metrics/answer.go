package metrics

import "time"

// LoadLevel is a stretch of the run at one load, with its figures.
type LoadLevel struct {
	// From and To are offsets from the start of the run.
	From, To time.Duration
	// Offered is the load: requests per second that were scheduled, or the number of users of a closed loop.
	Offered float64
	// Users: Offered counts users.
	Users bool
	// Completed is the share of the offered load that the server completed at its pace, from 0 to 1: see saturation.Pace. Failed
	// requests are not completed.
	Completed float64
	// Requests were scheduled in the level and ended without being cut; Good of them met every objective, counted from their load
	// times, because under a rate the wait for a slot is an effect of the server.
	Requests, Good int
	// Sent is the rate of requests that were sent in the level, Done that of successes that ended in it, per second.
	Sent, Done float64
	// TTFT and ITL of the requests scheduled in the level, in milliseconds; that of ITL is an estimate from a Histogram. Wait is TTFT
	// from the load time.
	TTFTp50, TTFTp99, WaitP99, ITLp99 float64
	// Limited lists, in a few words each, how this client limited the figures of the level, which then are no evidence of the
	// server.
	Limited []string
	// Standing against the objectives.
	Standing Standing
}

// Standing of a level against the objectives.
type Standing string

const (
	// LevelOpen: no objectives, or too few requests.
	LevelOpen Standing = ""
	// LevelWithin: enough of its requests met the objectives, and it was completed.
	LevelWithin Standing = "within"
	// LevelMissed: too few did. LevelBehind: enough did, but less than EnoughCompleted of the offered load was completed.
	LevelMissed Standing = "missed"
	LevelBehind Standing = "behind"
	// LevelLimited: this client limited the figures.
	LevelLimited Standing = "limited"
)

// EnoughCompleted is the share of the offered load that a level within the objectives must complete.
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
	// Saturates: the server keeps up with the load From, and not with the load To. Both are offered loads of levels; of users, From is
	// the highest number up to which more users added throughput.
	Saturates bool
	From, To  float64
	// Confirmed is false while the run is on and a single level shows saturation, which may be noise.
	Confirmed bool
	// Before and After index the two levels. Shown is the level whose waits show it: After, or a higher load where the queue
	// had to grow first.
	Before, After, Shown int
	// Within: a level was within the objectives. Highest is the load that the highest such level achieved.
	Within  bool
	Highest float64
	// HighestLevel indexes that level.
	HighestLevel int
	// Confidence is the probability that the true share of good requests at Highest is enough; 0 where Within is false.
	Confidence float64
	// SaturatedAt is the moment of the run at which the load passed saturation; Never without one.
	SaturatedAt time.Duration
	// Users: loads are numbers of users rather than requests per second.
	Users bool
	// Why is the reason for which no saturation was found, in a few words; "" if it was found.
	Why string
}

// closeLevels is the relative distance up to which one number represents the levels on both sides of saturation.
const closeLevels = 0.1

// At is the load at which the server saturates: the middle between From and To where they are close enough for one number.
func (a *Answer) At() (load float64, close bool) {
	if !a.Saturates || a.To > a.From*(1+closeLevels) {
		return 0, false
	}
	return (a.From + a.To) / 2, true
}
