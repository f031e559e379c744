package live

import (
	"time"

	"benchtop/metrics"
)

// mostEndpoints bounds the endpoints; the last one counts all others.
const (
	mostEndpoints = 64
	otherModels   = "others"
)

// endpoints count requests by endpoint. Requests of the warm-up count only as in flight.
type endpoints struct {
	list  []*metrics.Endpoint
	named map[string]*metrics.Endpoint
}

// of is the endpoint of requests for a model.
func (e *endpoints) of(model string) *metrics.Endpoint {
	if p := e.named[model]; p != nil {
		return p
	}
	if len(e.list) >= mostEndpoints-1 && model != otherModels {
		return e.of(otherModels)
	}
	if e.named == nil {
		e.named = map[string]*metrics.Endpoint{}
	}
	p := &metrics.Endpoint{Model: model}
	e.list, e.named[model] = append(e.list, p), p
	return p
}

func (e *endpoints) sent(q *metrics.Request, warming bool) {
	p := e.of(q.Model)
	p.InFlight++
	if !warming {
		p.Sent++
	}
}

// first counts the first chunk.
func (e *endpoints) first(q *metrics.Request, warming bool) {
	if p := e.of(q.Model); !warming {
		p.FirstWait.Add(q.TTFT())
	}
}

func (e *endpoints) done(q *metrics.Request, warming bool) {
	p := e.of(q.Model)
	if q.Sent != metrics.Never {
		p.InFlight--
	}
	if warming {
		return
	}
	switch q.Failure {
	case "":
		p.Done++
		p.OutputTokens += q.OutputTokens
		return
	case metrics.Cancelled:
	default:
		p.Failed++
	}
	if len(q.Chunks) > 0 {
		p.FirstWait.Remove(q.TTFT())
	}
}

// share returns the endpoints for a reader, in the order of their first requests.
func (e *endpoints) share() []metrics.Endpoint {
	out := make([]metrics.Endpoint, len(e.list))
	for i, p := range e.list {
		out[i] = *p
		out[i].FirstWait = p.FirstWait.Share()
	}
	return out
}

// firstTokens detects a server that sends a chunk before its first token.
type firstTokens struct {
	chunk, token metrics.Histogram
	reported     bool
}

// firstTokensEvery is the number of requests between two checks.
const firstTokensEvery = 20

// later adds a success. It reports once that the first token comes later than the first chunk, by the rule of the report.
func (f *firstTokens) later(q *metrics.Request) bool {
	if f.reported || q.FirstToken == metrics.Never {
		return false
	}
	f.chunk.Add(q.TTFT())
	f.token.Add(q.FirstTokenLatency())
	if f.chunk.Count()%firstTokensEvery != 0 {
		return false
	}
	f.reported = metrics.TokenAfterChunk(float64(f.token.Quantile(0.5)), float64(f.chunk.Quantile(0.5)))
	return f.reported
}

func tokenAfterChunkEvent(at time.Duration) metrics.LogEntry {
	return metrics.LogEntry{At: at, Level: metrics.Warn, Text: "the first chunk comes before the first token: TTFT is to the chunk, as vLLM counts"}
}
