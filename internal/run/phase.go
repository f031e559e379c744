package run

import (
	"benchtop/metrics"
)

// Phase is where a run stands on its way from the first request to the saved result.
//
//	Running ──▶ Draining, HangingUp, Terminating ──▶ Aborting      the load
//	   └───────────────────────┴─────────────────────────┴──▶ Finishing, Finishing2, Finishing3 ──▶ Saved
type Phase uint8

const (
	// Running: requests are sent.
	Running Phase = iota
	// Draining: nothing new is sent; requests in flight get the time that the user gave them. In HangingUp and
	// Terminating, after the terminal was lost and after SIGTERM, they get briefDrain.
	Draining
	HangingUp
	Terminating
	// Aborting: requests in flight are cut.
	Aborting
	// Finishing: the load is over, and its result is on the way to the disk. The number says how often the user has
	// asked for the end by then: never, once, twice.
	Finishing
	Finishing2
	Finishing3
	// Saved: the result is where it belongs, or its failure is known. Only the screen is left.
	Saved
	phases
)

// command is what may happen to a run from outside, and the two steps that it takes by itself.
type command uint8

const (
	drain      command = iota // a key
	abort                     // a key
	interrupt                 // Ctrl-C, SIGINT
	quit                      // SIGQUIT
	terminate                 // SIGTERM
	hangUp                    // the terminal is lost: SIGHUP, or a screen that cannot be written
	detach                    // the same where the run is to go on without it
	screenLeft                // the user left the dashboard
	steer                     // another load
	judge                     // other objectives
	saveSoFar                 // a result of the run so far
	refused                   // the server refuses the first requests alike
	loadOver                  // the last request has ended
	saved                     // the result is saved
	commands
)

// reason is the one for which a command ends a run, as it stands in the journal; "" for none.
func (c command) reason() string {
	switch c {
	case drain:
		return metrics.StoppedByUser
	case abort, quit:
		return metrics.AbortedByUser
	case refused:
		return metrics.RefusedByServer
	case terminate:
		return metrics.EndedBySIGTERM
	case hangUp:
		return metrics.TerminalLost
	}
	return ""
}

// effects are what a step does, in the order in which they stand here.
type effects uint16

const (
	closeScreen  effects = 1 << iota // the dashboard ends, the run does not
	hasten                           // the way out waits for no terminal that takes no output
	goOn                             // it is said that the run goes on without its terminal
	drainLong                        // nothing new is sent; requests in flight may end
	drainBriefly                     // likewise, but not for long
	cut                              // requests in flight are cut
	endLoad                          // the load cannot be steered any more
	hurry                            // what goes on after the load, and could as well be left, ends
	leave                            // the process ends whatever the run does; what was measured is in the journal
	allow                            // the command is carried out
)

const (
	away  = closeScreen | hasten
	brief = away | endLoad | drainBriefly
)

// steps are the life of a run: what a command does in a phase, and which phase follows. Where there is no row it does
// nothing. Nothing ends a run but its result on disk, save a third request to stop, which leaves what was measured in
// the journal.
var steps = []struct {
	in Phase
	on command
	to Phase
	do effects
}{
	{Running, drain, Draining, endLoad | drainLong},
	{Running, interrupt, Draining, endLoad | drainLong},
	{Running, abort, Aborting, endLoad | cut},
	{Running, quit, Aborting, endLoad | cut},
	{Running, terminate, Terminating, brief},
	{Running, hangUp, HangingUp, brief},
	{Running, detach, Running, away | goOn},
	{Running, steer, Running, allow},
	{Running, judge, Running, allow},
	{Running, saveSoFar, Running, allow},
	{Running, refused, Draining, endLoad | drainBriefly},
	{Running, loadOver, Finishing, endLoad},

	{Draining, abort, Aborting, cut},
	{Draining, interrupt, Aborting, cut},
	{Draining, quit, Aborting, cut},
	{Draining, terminate, Terminating, brief},
	{Draining, hangUp, HangingUp, brief},
	{Draining, detach, Draining, away | goOn},
	{Draining, judge, Draining, allow},
	{Draining, saveSoFar, Draining, allow},
	{Draining, loadOver, Finishing2, 0},

	{HangingUp, abort, Aborting, cut}, // from another terminal
	{HangingUp, interrupt, Aborting, cut},
	{HangingUp, quit, Aborting, cut},
	{HangingUp, terminate, Terminating, brief},
	{HangingUp, judge, HangingUp, allow},
	{HangingUp, saveSoFar, HangingUp, allow},
	{HangingUp, loadOver, Finishing2, hurry},

	{Terminating, abort, Aborting, cut},
	{Terminating, interrupt, Aborting, cut},
	{Terminating, quit, Aborting, cut},
	{Terminating, terminate, Aborting, cut},
	{Terminating, judge, Terminating, allow},
	{Terminating, saveSoFar, Terminating, allow},
	{Terminating, loadOver, Finishing2, hurry},

	{Aborting, interrupt, Aborting, closeScreen | leave},
	{Aborting, screenLeft, Aborting, leave},
	{Aborting, terminate, Aborting, away},
	{Aborting, hangUp, Aborting, away},
	{Aborting, detach, Aborting, away},
	{Aborting, judge, Aborting, allow},
	{Aborting, saveSoFar, Aborting, allow},
	{Aborting, loadOver, Finishing3, hurry},

	{Finishing, drain, Finishing2, hurry},
	{Finishing, interrupt, Finishing2, hurry},
	{Finishing, abort, Finishing3, hurry},
	{Finishing, quit, Finishing3, hurry},
	{Finishing, terminate, Finishing, away | hurry},
	{Finishing, hangUp, Finishing, away | hurry},
	{Finishing, detach, Finishing, away},
	{Finishing, saved, Saved, 0},

	{Finishing2, drain, Finishing2, hurry}, // of a user whose load the server ended, or another terminal
	{Finishing2, interrupt, Finishing3, hurry},
	{Finishing2, abort, Finishing3, hurry},
	{Finishing2, quit, Finishing3, hurry},
	{Finishing2, terminate, Finishing2, away | hurry},
	{Finishing2, hangUp, Finishing2, away | hurry},
	{Finishing2, detach, Finishing2, away},
	{Finishing2, saved, Saved, 0},

	{Finishing3, interrupt, Finishing3, closeScreen | leave},
	{Finishing3, screenLeft, Finishing3, leave},
	{Finishing3, terminate, Finishing3, away},
	{Finishing3, hangUp, Finishing3, away},
	{Finishing3, detach, Finishing3, away},
	{Finishing3, saved, Saved, 0},

	{Saved, interrupt, Saved, away},
	{Saved, quit, Saved, away},
	{Saved, terminate, Saved, away},
	{Saved, hangUp, Saved, away},
	{Saved, detach, Saved, away},
}

// next is the step that a command takes in a phase; not ok where it does nothing.
func (p Phase) next(on command) (to Phase, do effects, ok bool) {
	for _, s := range steps {
		if s.in == p && s.on == on {
			return s.to, s.do, true
		}
	}
	return p, 0, false
}

// refusal says why a command is not carried out in a phase.
func (p Phase) refusal(on command) string {
	switch {
	case p < Finishing:
		return "the run is ending; no new requests are sent"
	case on == saveSoFar:
		return "the run is over; its result is saved"
	}
	return "the run is over"
}
