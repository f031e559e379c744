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
	// Requests that were scheduled in the level and ended in any way but by being cut; Good of them met every objective.
	Requests, Good int
	// Done is the rate of successes that ended in the level, per second.
	Done float64
	// TTFT and ITL of the requests scheduled in the level, in milliseconds.
	TTFTp50, TTFTp99, ITLp99 float64
}

// Answer is what a person came for: the load at which the server bends, and the highest that was within the objectives.
type Answer struct {
	// Bends says that a bend was found, At which load: halfway between the last level before it and the first after it.
	Bends bool
	At    float64
	// Before and After index the two levels.
	Before, After int
	// Within says that a level was within the objectives, Highest is the load of the highest such level.
	Within  bool
	Highest float64
	// Users says that loads are numbers of users, not requests per second.
	Users bool
	// Why there is no bend, in a few words; "" if there is one.
	Why string
}
