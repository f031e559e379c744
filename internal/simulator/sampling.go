package simulator

import "math/rand/v2"

// sampling is what requests for completions and for chats have in common. Everything about the distribution of tokens
// (temperature, penalties, stop strings and the like) is accepted and ignored, since the text means nothing.
type sampling struct {
	Model          string         `json:"model"`
	Stream         bool           `json:"stream"`
	StreamOptions  *streamOptions `json:"stream_options"`
	N              *int           `json:"n"`
	UseBeamSearch  bool           `json:"use_beam_search"`
	MinTokens      int            `json:"min_tokens"`
	IgnoreEOS      bool           `json:"ignore_eos"`
	Seed           int64          `json:"seed"` // asks for another answer to the same prompt
	ReturnTokenIDs bool           `json:"return_token_ids"`
	CacheSalt      *string        `json:"cache_salt"` // requests with another one share no cache with this

	pooled bool // the prompt is read and nothing is generated
}

type streamOptions struct {
	IncludeUsage         bool `json:"include_usage"`
	ContinuousUsageStats bool `json:"continuous_usage_stats"`
}

// check refuses what is not simulated, and what makes no sense.
func (p sampling) check() *apiError {
	switch {
	case p.N != nil && *p.N != 1:
		return badRequest("n", "only n=1 is simulated, got %d.", *p.N)
	case p.UseBeamSearch:
		return badRequest("use_beam_search", "beam search is not simulated")
	case p.StreamOptions != nil && !p.Stream:
		return badRequest("stream_options", "Stream options can only be defined when `stream=True`.")
	case p.CacheSalt != nil && *p.CacheSalt == "":
		return badRequest("cache_salt", "Parameter 'cache_salt' must be a non-empty string if provided.")
	}
	return nil
}

// room returns how many tokens may follow a prompt of that length: what the request allows, or what is left of the context.
func (s *Server) room(prompt int, maxTokens *int) (int, *apiError) {
	left := s.profile.MaxModelLen - prompt
	switch {
	case left < 1:
		return 0, badRequest("input_tokens", "This model's maximum context length is %d tokens. However, your request has %d "+
			"input tokens. Please reduce the length of the input messages.", s.profile.MaxModelLen, prompt)
	case maxTokens == nil:
		return left, nil
	case *maxTokens < 1:
		return 0, badRequest("max_tokens", "max_tokens must be at least 1, got %d.", *maxTokens)
	case *maxTokens > left:
		return 0, badRequest("max_tokens", "'max_tokens' or 'max_completion_tokens' is too large: %d. This model's maximum "+
			"context length is %d tokens and your request has %d input tokens (%d > %d - %d).",
			*maxTokens, s.profile.MaxModelLen, prompt, *maxTokens, s.profile.MaxModelLen, prompt)
	}
	return *maxTokens, nil
}

// length decides how long an answer is and why it ends there. An answer that may end by itself does so after each token
// with the same probability, which gives the many short and few long ones of real traffic.
func (p sampling) length(room, mean int, draws *rand.Rand) (tokens int, reason string) {
	if p.IgnoreEOS {
		return room, "length"
	}
	natural := max(1+int(draws.ExpFloat64()*(float64(mean)-0.5)), p.MinTokens)
	if natural > room {
		return room, "length"
	}
	return natural, "stop"
}

// salt is "" where none was given.
func (p sampling) salt() string {
	if p.CacheSalt == nil {
		return ""
	}
	return *p.CacheSalt
}

// fingerprint mixes the prompt and the request's own seed into the key that its draws start from (FNV-1a over the ids).
func fingerprint(prompt []int, seed int64) uint64 {
	h := mix(fnvOffset, uint64(seed))
	for _, id := range prompt {
		h = mix(h, uint64(id))
	}
	return h
}

// streamOptions returns the options given, or none.
func (p sampling) streamOptions() *streamOptions {
	if p.StreamOptions == nil {
		return &streamOptions{}
	}
	return p.StreamOptions
}
