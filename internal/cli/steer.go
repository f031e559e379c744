package cli

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"benchtop/datasets/numpy"
	"benchtop/export"
	"benchtop/internal/steering"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// helm changes the load of a run while it is on: by orders of the user's, along ramps, or for a search. One goroutine works
// the orders off, so that whoever gives one never waits.
type helm struct {
	session *session
	inUsers bool
	why     string // the load cannot be set, "" if it can
	orders  chan metrics.Command

	connecting sync.WaitGroup // of connections for more users

	mu    sync.Mutex // guards everything below, and that changes of the load come one by one
	state metrics.Steering
	told  metrics.Steering // what the stream knows of it
	ramp  *steering.Ramp
	// loadSet says that the plan's load is no longer in force; a pause alone does not end it, but moves what follows: shift is
	// by how much, pausedAt when the last pause began.
	loadSet         bool
	shift, pausedAt time.Duration
	stageOn         int // the plan's stage that was told of last
	// waiting orders are not carried out yet; after the last of them the arrivals are paused if willPause.
	waiting   int
	willPause bool
	// giveUp ends the search, nil while there is none.
	giveUp context.CancelFunc
}

const (
	// rampEvery is how often a ramp moves the load, planEvery how often what the plan asks for is told.
	rampEvery = 100 * time.Millisecond
	planEvery = 500 * time.Millisecond
	// mostSteered bounds the users that may be asked for to what a client can mean.
	mostSteered = 1_000_000
	// ordersWaiting is how many orders may wait. They take microseconds each.
	ordersWaiting = 64
)

// newHelm prepares the steering of a run whose plan is known, and the options of its load for that.
func newHelm(s *session) *helm {
	p := &s.plan
	h := &helm{session: s, orders: make(chan metrics.Command, ordersWaiting)}
	h.inUsers = p.InUsers()
	if !h.inUsers && !p.Paced() {
		h.why = "needs --request-rate or --max-concurrency: all requests are due at once, so there is no rate to steer" // what helps first: a screen may be narrow
	}
	h.state = metrics.Steering{LoadSetting: p.LoadAt(0, 0), Steerable: h.why == "", Why: h.why, InUsers: h.inUsers}
	s.load.HoldPaused = h.inUsers
	if s.load.SteeredUntil = p.Duration; s.load.Steered == nil {
		// A generator of its own, so that what was drawn for the plan does not depend on hands.
		s.load.Steered = shape.Gaps(p.Burstiness, numpy.NewLegacy(uint32(p.Seed)^steeredSeed))
	}
	return h
}

const steeredSeed = 0x5eed

// Steer takes an order of the user's. It does not wait, and says in a few words what comes of it.
func (s *session) Steer(o metrics.Command) (said string, ok bool) {
	h := s.helm
	if problem := h.refuse(&o); problem != "" {
		return problem, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case h.orders <- o:
		h.waiting, h.willPause = h.waiting+1, o.Do == metrics.Pause
		return h.promise(o), true
	default:
		return "too many changes at once; try again in a moment", false
	}
}

// refuse says why an order cannot be followed, "" if it can. It rounds users.
func (h *helm) refuse(o *metrics.Command) string {
	switch ending := h.ending(); {
	case ending != "":
		return ending
	case h.why != "":
		return h.why
	}
	h.mu.Lock()
	paused := h.state.Paused
	if h.waiting > 0 {
		paused = h.willPause
	}
	h.mu.Unlock()
	switch o.Do {
	case metrics.Pause:
		if paused {
			return "paused already"
		}
		return ""
	case metrics.Resume:
		if !paused {
			return "not paused"
		}
		return ""
	case metrics.RampLoad:
		if o.Over <= 0 || o.Over > shape.LongestRun {
			return "a ramp needs a time, such as 30s"
		}
	case metrics.SetLoad:
	default:
		return fmt.Sprintf("there is no order %q", string(o.Do))
	}
	if h.inUsers {
		return h.refuseUsers(o)
	}
	if !(o.Value > 0) || o.Value > shape.HighestRate {
		return fmt.Sprintf("a rate must be above 0 and at most %g req/s; P pauses", shape.HighestRate)
	}
	return ""
}

func (h *helm) refuseUsers(o *metrics.Command) string {
	o.Value = math.Round(o.Value)
	if !(o.Value >= 1) || o.Value > mostSteered {
		return fmt.Sprintf("there must be from 1 to %d users; P pauses", mostSteered)
	}
	if err := room(int(o.Value)); err != nil {
		return export.Clean(err.Error())
	}
	return ""
}

// ending says why nothing can be steered any more, "" if it can.
func (h *helm) ending() string {
	s := h.session
	if s.measured() {
		return "the run is over"
	}
	s.mu.Lock()
	stage := s.stage
	s.mu.Unlock()
	switch {
	case stage > 0:
		return "the run is ending, nothing new is sent"
	case !s.engine.Sending():
		return "everything has been sent"
	}
	return ""
}

// promise says what an order will do.
func (h *helm) promise(o metrics.Command) string {
	switch o.Do {
	case metrics.Pause:
		return "paused"
	case metrics.Resume:
		return "resumed"
	case metrics.RampLoad:
		return fmt.Sprintf("moving to %s in %s", h.words(o.Value), metrics.Duration(o.Over))
	}
	return h.words(o.Value)
}

// words is a load for a person.
func (h *helm) words(load float64) string {
	switch {
	case !h.inUsers:
		return shape.Number(load) + " req/s"
	case load == 1:
		return "1 user"
	}
	return shape.Number(load) + " users"
}

// SetObjectives changes what requests are judged by from now on, and those that are over anew.
func (s *session) SetObjectives(slo metrics.SLO) string {
	if s.measured() {
		return "the run is over"
	}
	slo = slices.Clone(slo)
	words := "no objectives"
	if len(slo) > 0 {
		words = "objectives: " + slo.String() + " (ms)"
	}
	s.stream.Tell(metrics.LogEntry{Level: metrics.Info, Text: words, Mark: "SLO", Objectives: &slo})
	return words
}
