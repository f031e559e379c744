package metrics

import "time"

// LoadLevel is a stretch of the run at one load, with its figures.
type LoadLevel struct {
	// From and To are offsets from the start of the run.
	From, To time.Duration
	// Offered is the load in Unit: requests per second that were scheduled, or the number of users of a closed loop.
	Offered float64
	Unit    Unit
	// Completed is the share of the work asked for in the level that the server did at its pace, from 0 to 1. Failed
	// requests are not completed.
	Completed float64
	// Sent is the rate of requests that were sent in the level, Done that of successes that ended in it, per second.
	Sent, Done float64
	// TTFT and ITL of the requests scheduled in the level, in milliseconds; that of ITL is an estimate from a
	// Histogram. Wait is TTFT from the load time.
	TTFTp50, TTFTp99, WaitP99, ITLp99 float64
	// Steady is the part of the level in which nothing changed; nil where it is too short to tell, and in a ramp.
	Steady *SteadyWindow
	// Limited lists, in a few words each, what of this client may have changed the verdict on the level.
	Limited []string
	// LevelVerdict is that of the first tier, or of the objectives of a run without tiers.
	LevelVerdict
	// Others are the verdicts of the tiers after the first, in the order of the plan.
	Others []LevelVerdict
}

// LevelVerdict is what is known of a level against the objectives of one tier.
type LevelVerdict struct {
	// Requests were scheduled in the level and ended without being cut; Good of them met every objective, counted from
	// their load times, because under a rate the wait for a slot is an effect of the server.
	Requests, Good int
	// Effective is the number of independent requests that these are worth; 0 where that cannot be known.
	Effective float64
	Standing  Standing
	// Confidence is the probability, at most MostConfidence, that a long run at this load has the standing within or
	// missed; 0 where there is none to have.
	Confidence float64
	// Why says in a few words why the standing is unknown.
	Why string
	// Missing is how much longer the load must be held for a verdict; 0 where nothing is missing, or how much is not
	// known.
	Missing time.Duration
	// Near: so near the objectives that how much is missing for a proof, if it ever comes, cannot be told.
	Near bool
}

// Tier is the verdict of the tier with this number, from 0.
func (v *LoadLevel) Tier(i int) LevelVerdict {
	if i > 0 && i <= len(v.Others) {
		return v.Others[i-1]
	}
	return v.LevelVerdict
}

// Standing of a level against the objectives.
type Standing string

const (
	// LevelOpen: no objectives, or no requests.
	LevelOpen Standing = ""
	// LevelWithin: enough of its requests met the objectives, and the server kept up. LevelMissed: too few did. Whether
	// a long run would say the same is a matter of Confidence.
	LevelWithin Standing = "within"
	LevelMissed Standing = "missed"
	// LevelBehind: the server did less work than was asked for.
	LevelBehind Standing = "behind"
	// LevelUnknown: too little is known; Why says what is in the way.
	LevelUnknown Standing = "unknown"
	// LevelLimited: this client may have made the difference. LevelUnanswered: too many requests got no answer because
	// the server was gone.
	LevelLimited    Standing = "limited"
	LevelUnanswered Standing = "unanswered"
)

// Evidence reports whether a level of this standing says anything about its load.
func (s Standing) Evidence() bool { return s != LevelLimited && s != LevelUnanswered }

// Failed reports whether the load was not within the objectives, however sure that is.
func (s Standing) Failed() bool { return s == LevelMissed || s == LevelBehind }

const (
	// EnoughConfidence is the confidence from which on a load counts as proven.
	EnoughConfidence = 0.95
	// MostConfidence is the highest: no measurement is certain.
	MostConfidence = 0.99
)
