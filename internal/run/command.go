package run

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"benchtop/internal/attach"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// Command does what a key, or another terminal, asks for, and says in a few words what comes of it.
func (r *Run) Command(c metrics.Command) (said string, ok bool) {
	if !r.call(func() { said, ok = r.carryOut(c) }) {
		return Saved.refusal(steer), false
	}
	return said, ok
}

func (r *Run) carryOut(c metrics.Command) (said string, ok bool) {
	on := steer
	switch c.Do {
	case metrics.Drain:
		r.step(drain)
		return "", true
	case metrics.Abort:
		r.step(abort)
		return "", true
	case metrics.SetObjectives:
		on = judge
	case metrics.Save:
		on = saveSoFar
	}
	if !r.step(on) {
		return r.phase.refusal(on), false
	}
	switch on {
	case judge:
		return r.setObjectives(c.Objectives), true
	case saveSoFar:
		return r.saveSoFar()
	}
	said, ok = r.load.Command(c)
	return text.Clean(said), ok
}

// Signal takes a signal that would kill the process.
//
//	SIGINT    as the key q: drain; again: abort; a third time: leave at once
//	SIGQUIT   abort
//	SIGTERM   leave the screen, drain for 2 s; again: abort
//	SIGHUP    the terminal is gone: the same, unless the run survives that
//
// Once the load is over the result is saved whatever comes but a third request to stop; phase.go has each step.
func (r *Run) Signal(sig os.Signal) {
	switch sig {
	case syscall.SIGHUP:
		r.TerminalLost()
	case syscall.SIGTERM:
		r.do(terminate)
	case syscall.SIGQUIT:
		r.do(quit)
	default:
		r.do(interrupt)
	}
}

// TerminalLost ends the run, or lets it go on where it is to survive that.
func (r *Run) TerminalLost() {
	r.call(func() {
		if known := r.lost.Swap(true); known && r.phase != Saved {
			return // it shows twice: as a signal, and as a screen that cannot be written
		}
		if r.config.SurviveHangUp {
			r.step(detach)
		} else {
			r.step(hangUp)
		}
	})
}

// ScreenLeft takes note that the user left the dashboard: after two requests to stop that is the third.
func (r *Run) ScreenLeft() { r.do(screenLeft) }

// refuse ends a run whose first requests were all refused, for that reason. It does not wait for the owner.
func (r *Run) refuse(reason string) {
	go r.call(func() {
		if r.step(refused) {
			r.reason = reason
		}
	})
}

// Suffice ends the sending, since what was measured is enough for a reason; requests in flight go on.
func (r *Run) Suffice(reason string) {
	r.call(func() {
		if r.step(drain) {
			r.reason = reason
		}
	})
}

func (r *Run) do(on command) { r.call(func() { r.step(on) }) }

// step takes the step of the table that a command has in this phase; false if there is none.
func (r *Run) step(on command) bool {
	to, do, ok := r.phase.next(on)
	if !ok {
		return false
	}
	reason := on.reason()
	if on == interrupt {
		reason = map[Phase]string{Draining: metrics.StoppedByUser, Aborting: metrics.AbortedByUser}[to]
	}
	// Of several reasons the one of the highest rank counts; once the load is over none is added.
	if r.phase < Finishing && reason != "" && metrics.ConclusionOf(reason) >= metrics.ConclusionOf(r.reason) {
		r.reason = reason
	}
	was := r.phase
	r.phase = to
	r.affect(do, was, reason)
	return true
}

// affect brings about the effects of a step.
func (r *Run) affect(do effects, was Phase, reason string) {
	if do&closeScreen != 0 {
		r.config.Terminal.Close()
	}
	if do&hasten != 0 {
		r.config.Terminal.Hasten()
	}
	if do&goOn != 0 {
		r.Log(metrics.Warn, "terminal lost; the run continues without it")
	}
	switch patience := r.config.Load.Drain; {
	case do&drainLong != 0:
		r.drain(patience, metrics.Info, fmt.Sprintf("%s: draining, up to %s for requests in flight", reason, patience))
	case do&drainBriefly != 0 && was == Running:
		r.drain(briefDrain, metrics.Info,
			fmt.Sprintf("%s: draining, up to %s for requests in flight", reason, briefDrain))
	case do&drainBriefly != 0: // it drains already, with more patience than there is now
		r.drain(briefDrain, metrics.Warn, reason+": draining for at most 2s")
		time.AfterFunc(briefDrain, r.engine.Abort)
	case do&cut != 0:
		r.stream.Tell(metrics.Phase{State: metrics.Aborting, DrainBy: metrics.Never})
		r.Log(metrics.Warn, reason+": cancelling requests in flight")
		go r.engine.Abort()
	}
	if do&endLoad != 0 {
		r.closeLoad()
	}
	if do&hurry != 0 {
		r.hurry(errEnough)
	}
	if do&leave != 0 {
		go r.config.Terminal.Leave()
	}
}

func (r *Run) drain(limit time.Duration, level metrics.Level, text string) {
	r.stream.Tell(metrics.Phase{State: metrics.Draining, DrainBy: time.Since(r.start) + limit})
	r.Log(level, text)
	go r.engine.Drain(limit) // the first counts
}

// closeLoad ends the steering of the load, and keeps stages that were still to come from being announced.
func (r *Run) closeLoad() {
	r.endSending()
	r.load.Close()
}

// setObjectives changes what requests are judged by from now on, and those that are over anew.
func (r *Run) setObjectives(slo metrics.SLO) string {
	slo = slices.Clone(slo)
	words := "no objectives"
	if len(slo) > 0 {
		words = "objectives: " + slo.String() + " (ms)"
	}
	r.lead(metrics.LogEntry{Level: metrics.Info, Text: words, Mark: "SLO", Objectives: &slo})
	return words
}

// The terminals that look at single requests: that of the run itself, and all others together.
const (
	ownScreen = iota
	otherScreens
	lookers
)

// Inspect says what the run's own dashboard wants to see of single requests.
func (r *Run) Inspect(l metrics.Inspection) { r.lookAs(ownScreen, l) }

// lookAs joins what all terminals want to see: of several opened requests that of the run's own.
func (r *Run) lookAs(who int, l metrics.Inspection) {
	r.call(func() {
		r.looks[who] = l
		var all metrics.Inspection
		for _, l := range r.looks {
			all = all.With(l)
		}
		r.view.Inspect(all)
	})
}

// Host lets other terminals look at the run. It is no reason not to run that they cannot. It comes before Do.
func (r *Run) Host(version string) {
	host, err := attach.Listen(attachHost{r}, version)
	if err != nil {
		r.announce(metrics.Warn, "other terminals cannot join this run: "+text.Clean(err.Error()))
	}
	r.host = host
}

// attachHost is a run as other terminals see it.
type attachHost struct{ *Run }

// Snapshot of the run.
func (h attachHost) Snapshot() metrics.Snapshot { return h.view.Recent() }

// Controllable says that the first terminal is gone.
func (h attachHost) Controllable() bool { return h.lost.Load() }

// Inspect is what the other terminals want to see of single requests.
func (h attachHost) Inspect(l metrics.Inspection) { h.lookAs(otherScreens, l) }
