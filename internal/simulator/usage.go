package simulator

import "time"

// usage counts tokens. Its details are left out if nil, and null if absent.
type usage struct {
	PromptTokens      int `json:"prompt_tokens"`
	TotalTokens       int `json:"total_tokens"`
	CompletionTokens  int `json:"completion_tokens"`
	PromptDetails     any `json:"prompt_tokens_details,omitempty"`
	CompletionDetails any `json:"completion_tokens_details,omitempty"`
}

// requestMetrics are the server's own times of a request, in milliseconds. The time to first token counts from the
// admission, so that it is the prefill, and the generation from the first token.
type requestMetrics struct {
	TimeToFirstToken float64  `json:"time_to_first_token_ms"`
	GenerationTime   float64  `json:"generation_time_ms"`
	QueueTime        float64  `json:"queue_time_ms"`
	MeanITL          *float64 `json:"mean_itl_ms"`       // null for an answer of one token
	TokensPerSecond  float64  `json:"tokens_per_second"` // since it was scheduled
	Speculation      any      `json:"speculative_decoding,omitempty"`
}

// usage counts the first n tokens of the answer.
func (g *generation) usage(n int) usage {
	return usage{PromptTokens: g.seq.prompt, TotalTokens: g.seq.prompt + n, CompletionTokens: n}
}

// cached is the number of tokens of the prompt that came from the prefix cache; 0 before the first token.
func (g *generation) cached() int {
	if g.arrival.OutputTokens == 0 {
		return 0
	}
	return g.seq.cached
}

// complete reports whether all tokens have come, so that the times of the sequence are settled.
func (g *generation) complete() bool { return g.arrival.OutputTokens == g.seq.limit }

// requestMetrics is nil before the last token, and if the profile has none.
func (g *generation) requestMetrics() *requestMetrics {
	if !g.profile.RequestMetrics || !g.complete() {
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
		m.MeanITL = new(m.GenerationTime / float64(s.limit-1))
	}
	return m
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
