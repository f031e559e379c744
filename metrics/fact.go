package metrics

import "time"

// fact is what the levels need to know of a request that ended.
type fact struct {
	// cause is the moment that decides to which load it belongs.
	cause         time.Duration
	ok, cancelled bool

	// The rest is of successes only.
	done, first      time.Duration
	ttft, e2el, held time.Duration // held is never Never
	output           int
}

func (l *levels) fact(q *Request) fact {
	f := fact{cause: l.plan.cause(q), ok: q.OK(), cancelled: q.Failure == Cancelled}
	if f.ok {
		f.done, f.first = q.Done, q.FirstChunk
		f.ttft, f.e2el, f.held, f.output = q.TTFT(), q.E2EL(), max(0, q.Held()), q.OutputTokens
	}
	return f
}

// cause is the moment that decides to which load a request belongs: a user of a closed loop comes when a slot is free. That
// is when the request was due, but where all of them are due at once, it is when it was admitted.
func (p *Plan) cause(q *Request) time.Duration {
	switch {
	case p.paced():
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
	if cause := p.cause(q); q.Sent != Never && cause != Never && q.Sent-cause < promptly {
		return cause
	}
	return q.Sent
}

// felt is the outcome of a success with its wait for a slot of the client in it.
func (f *fact) felt() outcome {
	o := f.outcome()
	o.ttft, o.latency = (f.ttft + f.held).Seconds(), (f.e2el + f.held).Seconds()
	return o
}

// outcome of a success.
func (f *fact) outcome() outcome {
	return outcome{ttft: f.ttft.Seconds(), latency: f.e2el.Seconds(), output: f.output}
}
