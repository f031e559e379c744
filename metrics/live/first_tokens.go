package live

import (
	"time"

	"benchtop/metrics"
)

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
