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

// cause is the moment that decides to which load a request belongs: a user of a closed loop comes when a slot is free.
func (p *Plan) cause(q *Request) time.Duration {
	if !p.paced() {
		return q.Due
	}
	return q.Scheduled
}

// outcome of a success.
func (f *fact) outcome() outcome {
	return outcome{ttft: f.ttft.Seconds(), latency: f.e2el.Seconds(), output: f.output}
}
