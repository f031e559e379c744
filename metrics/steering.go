package metrics

import (
	"strconv"
	"strings"
	"time"
)

// LoadSetting is a load that was set during the run, by the user or by a search.
type LoadSetting struct {
	// Rate in requests per second, or Users in flight without pause; the other is 0. Paused: nothing new is sent.
	Rate   float64
	Users  int
	Paused bool
	// RampTo is the rate, or the number of users, that the load now moves to in RampOver; 0 for none.
	RampTo   float64
	RampOver time.Duration
	// By is ByUser, BySearch, ByConfirm, or ByPlan after a pause.
	By string
}

// Ramping reports whether the load changes by itself.
func (s *LoadSetting) Ramping() bool { return s.RampOver > 0 && s.RampTo > 0 && !s.Paused }

// LoadAt is the load, in requests per second or users, when so much time has passed since it was set; 0 while it is paused.
func (s *LoadSetting) LoadAt(passed time.Duration) float64 {
	from := s.Rate
	if s.Users > 0 {
		from = float64(s.Users)
	}
	switch {
	case s.Paused:
		return 0
	case !s.Ramping():
		return from
	}
	line := Ramp{From: from, To: s.RampTo, Over: s.RampOver}
	return line.RateAt(passed)
}

// LoadText is a load for a person, as "4.84 req/s" or "1 user".
func LoadText(load float64, users bool) string { return LoadWords(LoadNumber(load), users) }

// LoadWords is the number of a load with its unit.
func LoadWords(number string, users bool) string {
	if users && number == "1" {
		return "1 user"
	}
	return number + " " + LoadUnit(users)
}

// LoadUnit is the unit of a load.
func LoadUnit(users bool) string {
	if users {
		return "users"
	}
	return "req/s"
}

// ArrivalText is a text about arrivals in their unit: a rate of a plan with conversations is one of conversations, of several requests each.
func (p *Plan) ArrivalText(text string) string {
	if p == nil || p.Conversations == nil {
		return text
	}
	return strings.ReplaceAll(text, LoadUnit(false), "conversations/s")
}

// LoadNumber is a load with at most four digits below 1000.
func LoadNumber(v float64) string {
	if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64); err == nil && v < 1000 {
		v = short
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Sources of settings. A stage of the plan that begins after a pause is an event like a setting, because it begins at another moment than
// planned, but it is no manual change.
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
	// Steerable: the load can be set. InUsers: it is a number of users, else a rate.
	Steerable, InUsers bool
	// Why is the reason for which the load cannot be set, as a few words for a person; "" where it can or the reason is unknown.
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
