package simulator

import "time"

type usage struct {
	PromptTokens        int                  `json:"prompt_tokens"`
	TotalTokens         int                  `json:"total_tokens"`
	CompletionTokens    int                  `json:"completion_tokens"`
	PromptTokensDetails *promptTokensDetails `json:"prompt_tokens_details"` // null where nothing came from the cache
}

type promptTokensDetails struct {
	CachedTokens int `json:"cached_tokens"`
}

// requestMetrics is what the server says of its own time for one request, in milliseconds. Its time to first token begins
// when the request was scheduled, so that it is the prefill, and generation begins with the first token.
type requestMetrics struct {
	TimeToFirstToken float64  `json:"time_to_first_token_ms"`
	GenerationTime   float64  `json:"generation_time_ms"`
	QueueTime        float64  `json:"queue_time_ms"`
	MeanITL          *float64 `json:"mean_itl_ms"`       // null for an answer of one token
	TokensPerSecond  float64  `json:"tokens_per_second"` // since it was scheduled
}

// usage counts the first n tokens of the answer.
func (g *generation) usage(n int) usage {
	return usage{PromptTokens: g.seq.prompt, TotalTokens: g.seq.prompt + n, CompletionTokens: n}
}

// runningUsage is the usage of a stream's token events: nil unless asked for with every event.
func (g *generation) runningUsage(options *streamOptions, tokens []token) *usage {
	if !options.IncludeUsage || !options.ContinuousUsageStats {
		return nil
	}
	u := g.usage(tokens[len(tokens)-1].index + 1)
	return &u
}

// finalUsage is that of the whole answer. Call it when all tokens have come.
func (g *generation) finalUsage() usage {
	u := g.usage(g.seq.limit)
	if g.seq.cached > 0 {
		u.PromptTokensDetails = &promptTokensDetails{CachedTokens: g.seq.cached}
	}
	return u
}

// requestMetrics is nil where the profile does not tell. Call it when all tokens have come.
func (g *generation) requestMetrics() *requestMetrics {
	if !g.tells {
		return nil
	}
	s := g.seq
	m := &requestMetrics{
		TimeToFirstToken: milliseconds(s.firstToken.Sub(s.admitted)),
		GenerationTime:   milliseconds(s.lastToken.Sub(s.firstToken)),
		QueueTime:        milliseconds(s.admitted.Sub(s.arrived)),
		TokensPerSecond:  float64(s.limit) / s.lastToken.Sub(s.admitted).Seconds(),
	}
	if s.limit > 1 {
		mean := m.GenerationTime / float64(s.limit-1)
		m.MeanITL = &mean
	}
	return m
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
