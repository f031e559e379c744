package live

import (
	"time"

	"benchtop/metrics"
)

// mostEndpoints bounds what requests are told apart by; the last one takes all others.
const (
	mostEndpoints = 64
	otherModels   = "others"
)

// endpoints count what requests were sent to. Those of the warm-up are among those in flight, and in nothing else.
type endpoints struct {
	list   []metrics.Endpoint
	number map[string]uint8 // plus one
}

// of is the endpoint of a request.
func (e *endpoints) of(q *metrics.Request) *metrics.Endpoint {
	k := trackOf(q)
	if k == nil {
		return &e.list[e.find(q.Model)-1]
	}
	if k.endpoint == 0 {
		k.endpoint = e.find(q.Model)
	}
	return &e.list[k.endpoint-1]
}

func (e *endpoints) find(model string) uint8 {
	if n := e.number[model]; n > 0 {
		return n
	}
	if len(e.list) == mostEndpoints {
		return mostEndpoints
	}
	if len(e.list) == mostEndpoints-1 {
		model = otherModels
	}
	if e.number == nil {
		e.number = map[string]uint8{}
	}
	e.list = append(e.list, metrics.Endpoint{Model: model})
	n := uint8(len(e.list))
	e.number[model] = n
	return n
}

func (e *endpoints) sent(q *metrics.Request, warming bool) {
	p := e.of(q)
	p.InFlight++
	if !warming {
		p.Sent++
	}
}

// first hears of the first chunk.
func (e *endpoints) first(q *metrics.Request, warming bool) {
	if p := e.of(q); !warming {
		p.FirstWait.Add(q.TTFT())
	}
}

func (e *endpoints) done(q *metrics.Request, warming bool) {
	p := e.of(q)
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

// share returns the endpoints for a reader, in the order in which they were first asked.
func (e *endpoints) share() []metrics.Endpoint {
	out := make([]metrics.Endpoint, len(e.list))
	for i := range e.list {
		out[i] = e.list[i]
		out[i].FirstWait = e.list[i].FirstWait.Share()
	}
	return out
}

// firstTokens notices while a run is on that its server sends a chunk before it has a token.
type firstTokens struct {
	chunk, token metrics.Histogram
	said         bool
}

// firstTokensEvery is the number of requests after which it looks again.
const firstTokensEvery = 20

// later adds a successful request and reports, once, that the first token comes later than the first chunk, by the rule of the report.
func (f *firstTokens) later(q *metrics.Request) bool {
	if f.said || q.FirstToken == metrics.Never {
		return false
	}
	f.chunk.Add(q.TTFT())
	f.token.Add(q.FirstTokenLatency())
	if f.chunk.Count()%firstTokensEvery != 0 {
		return false
	}
	f.said = metrics.TokenAfterChunk(float64(f.token.Quantile(0.5)), float64(f.chunk.Quantile(0.5)))
	return f.said
}

func tokenAfterChunkEvent(at time.Duration) metrics.LogEntry {
	return metrics.LogEntry{At: at, Level: metrics.Warn, Text: "the first chunk comes before the first token: TTFT is to the chunk, as vLLM counts"}
}
