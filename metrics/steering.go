package metrics

import "time"

// LoadSetting is a load that was set during the run, by the user or by a search.
type LoadSetting struct {
	// Load is the one set; its value is 0 where that of the plan goes on. A rate is in RequestsPerSecond whatever
	// arrives; see Plan.Unit. Paused: nothing new is sent.
	Load
	Paused bool
	// RampTo is the rate, or the number of users, that the load now moves to in RampOver; 0 for none.
	RampTo   float64
	RampOver time.Duration
	// By is ByUser, BySearch, ByConfirm, or ByPlan after a pause.
	By string
}

// Ramping reports whether the load changes by itself.
func (s *LoadSetting) Ramping() bool { return s.RampOver > 0 && s.RampTo > 0 && !s.Paused }

// LoadAt is the load, in requests per second or users, when so much time has passed since it was set; 0 while it is
// paused.
func (s *LoadSetting) LoadAt(passed time.Duration) float64 {
	switch {
	case s.Paused:
		return 0
	case !s.Ramping():
		return s.Value
	}
	line := Ramp{From: s.Value, To: s.RampTo, Over: s.RampOver}
	return line.RateAt(passed)
}

// Sources of settings. A stage of the plan that begins after a pause is an event like a setting, because it begins at
// another moment than planned, but it is no manual change.
const (
	ByUser    = "hand"
	BySearch  = "search"
	ByConfirm = "confirm"
	ByPlan    = "plan"
)

// ConfirmationEnded begins the entry of the log that says how a confirmation ended.
const ConfirmationEnded = "confirmation ended"

// Steering is the load in force, and whether it can be set.
type Steering struct {
	LoadSetting
	// Steerable: the load can be set.
	Steerable bool
	// Why is the reason for which the load cannot be set, as a few words for a person; "" where it can or the reason is
	// unknown.
	Why string
	// Changes counts how often it was set; 0 means that the plan is in force.
	Changes int
	// Search describes the state of the search for the highest load, in a few words; "" for none.
	Search string
}

// CommandKind is what a Command asks for.
type CommandKind string

const (
	// Drain sends nothing new and lets requests in flight finish. Abort cuts them.
	Drain CommandKind = "drain"
	Abort CommandKind = "abort"
	// SetLoad sets the rate or the number of users to Value. While paused it also resumes.
	SetLoad CommandKind = "set"
	// Pause sends nothing new until Resume or SetLoad. Requests that wait for a slot still go out when one is free.
	Pause CommandKind = "pause"
	// Resume ends a pause.
	Resume CommandKind = "resume"
	// RampLoad moves the load from where it is to Value in Over.
	RampLoad CommandKind = "ramp"
	// HoldLoad keeps the load in force steady until it is proven to be within the objectives, or not to be.
	HoldLoad CommandKind = "hold"
	// SetObjectives judges requests by Objectives from now on, and those that are over anew.
	SetObjectives CommandKind = "objectives"
	// Save writes a result of the run so far.
	Save CommandKind = "save"
)

// Command is something that a person asks of a run while it is on.
type Command struct {
	Do CommandKind `json:"do"`
	// Value in requests per second or users, whichever the load is counted in.
	Value float64       `json:"value,omitempty"`
	Over  time.Duration `json:"over_ns,omitempty"`
	// Objectives of SetObjectives; none judges by nothing.
	Objectives SLO `json:"objectives,omitempty"`
}
