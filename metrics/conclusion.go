package metrics

// Conclusion is what came out of a run. The constants stand in order of rank: of several that hold, the greatest counts.
type Conclusion int

const (
	// Fine: the run did what it was to do, or drained because its user stopped it.
	Fine Conclusion = iota
	// GateMissed: a gate of the plan is missed.
	GateMissed
	// RunFailed: no request succeeded, more than half failed, the server did not answer at the end, or the result is not where it
	// was to be.
	RunFailed
	// HungUp: the run was ended because its terminal was lost.
	HungUp
	// Terminated: SIGTERM ended the run.
	Terminated
	// Aborted: the user cut the requests in flight.
	Aborted
)

// Reasons for which a run ends before its plan, as they stand in its journal.
const (
	StoppedByUser  = "stopped by the user"
	AbortedByUser  = "aborted by the user"
	EndedBySIGTERM = "SIGTERM"
	TerminalLost   = "the terminal was lost"
)

// ConclusionOf is what the reason of an early end says about the run by itself.
func ConclusionOf(reason string) Conclusion {
	switch reason {
	case AbortedByUser:
		return Aborted
	case EndedBySIGTERM:
		return Terminated
	case TerminalLost:
		return HungUp
	}
	return Fine
}

// fewestGone is the number of requests at the end of a run that must have met no server before it counts as one that does not answer.
const fewestGone = 3

// ServerGone reports whether the server did not answer any more when the run ended.
func (r *Report) ServerGone() bool { return r.Unreached >= fewestGone }
