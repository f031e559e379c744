package report

import (
	"fmt"

	"benchtop/metrics"
)

// conclude fills in the conclusion. The gates must be known before.
func conclude(r *metrics.Report) {
	r.Conclusion, r.Trouble = metrics.Fine, trouble(r)
	if r.Interrupted != nil {
		r.Conclusion = metrics.ConclusionOf(r.Interrupted.Reason)
	}
	if r.Trouble != "" {
		r.Conclusion = max(r.Conclusion, metrics.RunFailed)
	}
	for _, g := range r.Gates {
		if g.Missed {
			r.Conclusion = max(r.Conclusion, metrics.GateMissed)
		}
	}
}

// trouble is the reason for which the requests make the run a failure, "" for none.
func trouble(r *metrics.Report) string {
	stopped := r.Interrupted != nil && r.Interrupted.Reason == metrics.StoppedByUser
	switch all := r.Completed + r.Failed; {
	case r.Completed == 0 && (r.Failed > 0 || !stopped): // a user may stop a run before its first answer
		return "no request succeeded"
	case r.ServerGone():
		return fmt.Sprintf("the server did not answer at the end: the last %d requests failed to connect or were reset", r.Unreached)
	case 2*r.Failed > all:
		return fmt.Sprintf("%d of %d requests failed", r.Failed, all)
	}
	return ""
}

// unreached reports whether a request failed as without a server.
func unreached(r *metrics.Request) bool {
	return r.Failure == metrics.FailedConnect || r.Failure == metrics.FailedReset
}

// answered reports whether the outcome of a request proves that the server was reachable. A stall, a time-out and a fault of the client
// prove nothing.
func answered(r *metrics.Request) bool {
	switch r.Failure {
	case metrics.FailedStatus, metrics.FailedTruncated, metrics.FailedInStream, metrics.FailedMalformed, metrics.FailedEmpty:
		return true
	}
	return r.OK()
}
