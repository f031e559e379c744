package metrics

import "time"

// fact is what the levels need to know of a request that ended.
type fact struct {
	// Cause is the moment that decides to which load it belongs.
	cause         time.Duration
	ok, cancelled bool

	noSocket bool // the client's own system refused it

	// The rest is of successes only. wait and whole are what its user felt: from cause to the first and the last chunk. late is how late
	// the client itself was.
	done, first             time.Duration
	ttft, wait, whole, late time.Duration
	rest                    otherObjectives
	output                  int
}

func (p *Plan) fact(q *Request) fact {
	f := fact{cause: p.Cause(q), ok: q.OK(), cancelled: q.Failure == Cancelled, noSocket: q.Failure == FailedNoSocket}
	if f.ok {
		f.done, f.first, f.ttft, f.output = q.Done, q.FirstChunk, q.TTFT(), q.OutputTokens
		f.wait, f.whole = max(f.ttft, q.FirstChunk-f.cause), max(q.E2EL(), q.LastChunk-f.cause)
		f.late = max(0, q.OwnLateness())
		f.rest = q.otherObjectives()
	}
	return f
}

// Cause is the moment that decides to which load a request belongs: a user of a closed loop comes when a slot is free. That
// is when the request was due, but where all of them are due at once, it is when it was admitted.
func (p *Plan) Cause(q *Request) time.Duration {
	switch {
	case p.Paced():
		return q.Scheduled
	case p.ClosedLoop() && q.Admitted != Never:
		return q.Admitted
	}
	return q.Due
}

// promptly is how soon a request must go out to count as sent when it came.
const promptly = 100 * time.Millisecond

// wentOut is the moment at which a request was sent, Never if it was not. One that nothing held back was sent when it came: the
// last of a load, too, belongs to that load, which ends as it comes.
func (p *Plan) wentOut(q *Request) time.Duration {
	if cause := p.Cause(q); q.Sent != Never && cause != Never && q.Sent-cause < promptly {
		return cause
	}
	return q.Sent
}

// felt is the outcome of a success as its user felt it.
func (f *fact) felt() outcome {
	return outcomeOf(f.wait, f.whole, f.output, f.rest)
}

// Felt reports whether a success met every objective as its user felt it, from the moment at which the load asked for it.
func (p *Plan) Felt(slo SLO, q *Request) bool {
	f := p.fact(q)
	o := f.felt()
	return slo.judge(&o).good()
}
