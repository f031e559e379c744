package metrics

import "fmt"

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

// conclude fills in the conclusion, which the gates must precede.
func (r *Report) conclude() {
	r.Conclusion, r.Trouble = Fine, r.trouble()
	if r.Interrupted != nil {
		r.Conclusion = ConclusionOf(r.Interrupted.Reason)
	}
	if r.Trouble != "" {
		r.Conclusion = max(r.Conclusion, RunFailed)
	}
	for _, g := range r.Gates {
		if g.Missed {
			r.Conclusion = max(r.Conclusion, GateMissed)
		}
	}
}

// trouble says why the requests make the run a failure, "" if they do not.
func (r *Report) trouble() string {
	switch all := r.Completed + r.Failed; {
	case r.Completed == 0 && (r.Failed > 0 || !r.stoppedByUser()): // a user may stop a run before its first answer
		return "no request succeeded"
	case r.ServerGone():
		return fmt.Sprintf("the server did not answer at the end: the last %d requests failed to connect or were reset", r.Unreached)
	case 2*r.Failed > all:
		return fmt.Sprintf("%d of %d requests failed", r.Failed, all)
	}
	return ""
}

func (r *Report) stoppedByUser() bool {
	return r.Interrupted != nil && r.Interrupted.Reason == StoppedByUser
}

// ServerGone reports whether the server did not answer any more when the run ended.
func (r *Report) ServerGone() bool { return r.Unreached >= fewestGone }

// unreached reports whether a request failed as it does when there is no server any more.
func (r *Request) unreached() bool { return r.Failure == FailedConnect || r.Failure == FailedReset }

// answered reports whether the outcome of a request shows that the server was there when it ended. A stall, a time-out and a
// fault of the client show nothing.
func (r *Request) answered() bool {
	switch r.Failure {
	case FailedStatus, FailedTruncated, FailedInStream, FailedMalformed, FailedEmpty:
		return true
	}
	return r.OK()
}
