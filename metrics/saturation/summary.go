package saturation

import (
	"time"

	"benchtop/metrics"
)

// Summary is what the levels need to know of a request that ended.
type Summary struct {
	// LoadTime is the moment that decides to which load it belongs.
	LoadTime      time.Duration
	OK, Cancelled bool

	NoSocket bool // the client's own system refused it

	// The rest is of successes only. wait and whole are what its user felt: from cause to the first and the last chunk. late is how late
	// the client itself was.
	Done, First             time.Duration
	TTFT, Wait, Whole, Late time.Duration
	Rest                    metrics.OtherObjectives
	Output                  int
}

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

// felt is the outcome of a success as its user felt it.
func (f *Summary) outcome() metrics.Outcome {
	return metrics.OutcomeOf(f.Wait, f.Whole, f.Output, f.Rest)
}

// Good reports whether a success met every objective as its user felt it, from the moment at which the load asked for it.
func Good(p *metrics.Plan, slo metrics.SLO, q *metrics.Request) bool {
	f := Summarize(p, q)
	o := f.outcome()
	return slo.Judge(&o).Good()
}
