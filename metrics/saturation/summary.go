package saturation

import (
	"time"

	"benchtop/metrics"
)

// Summary is a request that ended, as the levels count it.
type Summary struct {
	// LoadTime decides to which level the request belongs; see Plan.LoadTime.
	LoadTime      time.Duration
	OK, Cancelled bool

	NoSocket bool // the client's own system refused it

	// The following are set for successes only. Wait and Whole are the times from LoadTime to the first and the last chunk, Late is the
	// client's own lateness.
	Done, First             time.Duration
	TTFT, Wait, Whole, Late time.Duration
	Rest                    metrics.OtherObjectives
	Output                  int
}

// Summarize sums up a request that ended.
func Summarize(p *metrics.Plan, q *metrics.Request) Summary {
	f := Summary{LoadTime: p.LoadTime(q), OK: q.OK(), Cancelled: q.Failure == metrics.Cancelled, NoSocket: q.Failure == metrics.FailedNoSocket}
	if f.OK {
		f.Done, f.First, f.TTFT, f.Output = q.Done, q.FirstChunk, q.TTFT(), q.OutputTokens
		f.Wait, f.Whole = max(f.TTFT, q.FirstChunk-f.LoadTime), max(q.E2EL(), q.LastChunk-f.LoadTime)
		f.Late = max(0, q.OwnLateness())
		f.Rest = q.OtherObjectives()
	}
	return f
}

// outcome of a success, with its latencies counted from LoadTime.
func (f *Summary) outcome() metrics.Outcome {
	return metrics.OutcomeOf(f.Wait, f.Whole, f.Output, f.Rest)
}

// Good reports whether a success met every objective, with its latencies counted from its load time.
func Good(p *metrics.Plan, slo metrics.SLO, q *metrics.Request) bool {
	f := Summarize(p, q)
	o := f.outcome()
	return slo.Judge(&o).Good()
}
