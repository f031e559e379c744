package metrics

import "time"

// AnswerRule names the rule by which an Answer was found.
const AnswerRule = "effective-requests-1"

// Answer is the headline result: the load that is within the objectives, and the load at which the server saturates.
// Its parts do not contradict each other: Proven is no higher than Capacity.High.
type Answer struct {
	// TierAnswer is that of the first tier, or of the objectives of a run without tiers; Others are those of the
	// further tiers, in the order of the plan.
	TierAnswer
	Others []TierAnswer
	// Unit of the loads: RequestsPerSecond or Users.
	Unit Unit
	// LowestTried and HighestTried are the loads of the levels; 0 without levels.
	LowestTried, HighestTried float64

	// Saturates: the server does not keep up with the load To, and did with From. Both are loads that were tried: From
	// is 0 where it kept up with none, To is 0 where the highest load that was tried is not surely above Capacity.
	Saturates bool
	From, To  float64
	// Capacity is the rate at which the server worked while there was a queue, with its spread; the zero value where it
	// is not known closely. It is in the unit of a rate.
	Capacity Range
	// Confirmed is false while the run is on and later requests may change the verdict.
	Confirmed bool
	// Before and After index the levels of From and To, -1 for none. Shown is the level whose waits show saturation.
	Before, After, Shown int
	// SaturatedAt is the moment of the run at which the load passed saturation; Never without one.
	SaturatedAt time.Duration
	// Drifting: the server became slower under a load that stayed the same, so there is no border to name.
	Drifting bool
	// Why is the reason for which no saturation is named, in a few words; "" if it is.
	Why string
	// Bottleneck of the levels past saturation, or of the whole run without one.
	Bottleneck Bottleneck
	// PeakOutput is the highest mean of the output tokens per second over five seconds; see PeakOutput.
	PeakOutput float64
}

// TierAnswer is what is known of the highest load within the objectives of one tier.
type TierAnswer struct {
	// Proven is the highest load that is within the objectives with at least EnoughConfidence: that which was sent at
	// the level ProvenLevel. 0 for none.
	Proven      float64
	ProvenLevel int
	Confidence  float64
	// Estimate is where the highest load within the objectives probably is; the zero value where that cannot be said. A
	// High of 0 is not known, because no load was too high.
	Estimate Range
	// None: the lowest load that was tried was proven to miss the objectives.
	None bool
	// Untested: no load above Proven was tried.
	Untested bool
	// HeldLevel is the level that needs the least further time for a proof of more than Proven, -1 for none; the
	// level's verdict says how much.
	HeldLevel int
	// Why says in a few words why neither a load is proven nor an estimate is known.
	Why string
}

// Range is a load between two bounds.
type Range struct{ Load, Low, High float64 }

// Known reports whether there is one.
func (r Range) Known() bool { return r.Load > 0 }

// Tier is the answer for the tier with this number, from 0.
func (a *Answer) Tier(i int) TierAnswer {
	if i > 0 && i <= len(a.Others) {
		return a.Others[i-1]
	}
	return a.TierAnswer
}

// Highest is the highest load within the objectives as far as it is known: the proven one, else the estimate, 0 for
// neither.
func (t *TierAnswer) Highest() float64 {
	if t.Proven > 0 {
		return t.Proven
	}
	return t.Estimate.Load
}

// closeSpread is the spread of a capacity, as a part of it to either side, up to which one number stands for it.
const closeSpread = 0.08

// At is the load at which the server saturates, where it is known closely enough for one number.
func (a *Answer) At() (load float64, close bool) {
	c := a.Capacity
	if !a.Saturates || !c.Known() || c.High > c.Load*(1+closeSpread) || c.Low < c.Load*(1-closeSpread) {
		return 0, false
	}
	return c.Load, true
}
