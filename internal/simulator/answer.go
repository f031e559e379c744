package simulator

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// answer is the answer to a request for tokens, or one event of it. Members of type any are left out if nil, and null if absent.
type answer struct {
	ID                string          `json:"id"`
	Object            string          `json:"object"`
	Created           int64           `json:"created"`
	Model             string          `json:"model"`
	Choices           any             `json:"choices,omitempty"`
	Data              any             `json:"data,omitempty"`
	ServiceTier       any             `json:"service_tier,omitempty"`
	SystemFingerprint any             `json:"system_fingerprint,omitempty"`
	Usage             any             `json:"usage,omitempty"`
	PromptLogprobs    any             `json:"prompt_logprobs,omitempty"`
	KVTransferParams  any             `json:"kv_transfer_params,omitempty"`
	Metrics           *requestMetrics `json:"metrics,omitempty"` // beside the final usage
}

var absent = (*struct{})(nil)

// format is the form in which an endpoint writes an answer.
type format struct {
	kind, object, chunk string // of ids, answers and events
	// whole describes the tokens of an answer, event those of one step, as a choice.
	whole, event func(g *generation, tokens []token) any
	// role is the choice of an event that comes with the first token, nil for none.
	role any
	// noUsage is the usage of events without one, promptLogprobs that member of whole answers.
	noUsage, promptLogprobs any
}

// respond generates an answer and writes it, as a stream if the request asks for one.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, a *arrival, prompt []int, maxTokens *int, p sampling, f format) *apiError {
	g, err := s.generate(r, a, f.kind, prompt, maxTokens, p)
	if err != nil {
		return err
	}
	if p.Stream {
		g.stream(r.Context(), w, *cmp.Or(p.StreamOptions, new(streamOptions)), f)
		return nil
	}
	tokens, err := g.whole(r.Context())
	if err != nil {
		return err
	}
	whole := g.answer(f.object, g.finalUsage(), f.whole(g, tokens))
	whole.ServiceTier, whole.SystemFingerprint, whole.KVTransferParams, whole.PromptLogprobs = absent, absent, absent, f.promptLogprobs
	whole.Metrics = g.requestMetrics()
	writeJSON(w, http.StatusOK, whole)
	return nil
}

func (g *generation) answer(object string, usage any, choices ...any) answer {
	return answer{ID: g.id, Object: object, Created: g.created, Model: g.profile.Model, Choices: append([]any{}, choices...), Usage: usage}
}

type usage struct {
	PromptTokens        int `json:"prompt_tokens"`
	TotalTokens         int `json:"total_tokens"`
	CompletionTokens    int `json:"completion_tokens"`
	PromptTokensDetails any `json:"prompt_tokens_details,omitempty"` // absent where nothing came from the cache
}

// requestMetrics are the server's own times of a request, in milliseconds. The time to first token counts from the admission, so that
// it is the prefill, and the generation from the first token.
type requestMetrics struct {
	TimeToFirstToken float64  `json:"time_to_first_token_ms"`
	GenerationTime   float64  `json:"generation_time_ms"`
	QueueTime        float64  `json:"queue_time_ms"`
	MeanITL          *float64 `json:"mean_itl_ms"`       // null for an answer of one token
	TokensPerSecond  float64  `json:"tokens_per_second"` // since it was scheduled
}

// usage counts the first n tokens of the answer.
func (g *generation) usage(n int) usage {
	return usage{PromptTokens: g.seq.prompt, TotalTokens: g.seq.prompt + n, CompletionTokens: n, PromptTokensDetails: absent}
}

// finalUsage is that of the whole answer. It is valid after the last token.
func (g *generation) finalUsage() usage {
	u := g.usage(g.seq.limit)
	if g.seq.cached > 0 {
		u.PromptTokensDetails = map[string]int{"cached_tokens": g.seq.cached}
	}
	return u
}

// requestMetrics is nil if the profile has none. It is valid after the last token.
func (g *generation) requestMetrics() *requestMetrics {
	if !g.profile.RequestMetrics {
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

// maxLogprobs is the largest number of alternatives per token that may be asked for.
const maxLogprobs = 20

// candidate is a token for one position, with an invented log probability.
type candidate struct {
	text    string
	logprob float64
}

// candidates returns the chosen token and up to n-1 others, most probable first.
func (g *generation) candidates(t token, n int) []candidate {
	logprob := -g.logprobDraws.ExpFloat64() / 4
	odds := []candidate{{t.text, logprob}}
	others := prose{draws: g.logprobDraws}
	for len(odds) < n {
		logprob -= 1 + g.logprobDraws.Float64()
		text := piece(others.next())
		if !slices.ContainsFunc(odds, func(o candidate) bool { return o.text == text }) {
			odds = append(odds, candidate{text, logprob})
		}
	}
	return odds
}

// completionLogprobs is the logprobs object of /v1/completions, one element per token.
type completionLogprobs struct {
	TextOffset    []int                `json:"text_offset"`
	TokenLogprobs []float64            `json:"token_logprobs"`
	Tokens        []string             `json:"tokens"`
	TopLogprobs   []map[string]float64 `json:"top_logprobs"`
}

// completionLogprobs describes tokens that follow offset bytes of text.
func (g *generation) completionLogprobs(tokens []token, n, offset int) *completionLogprobs {
	var l completionLogprobs
	for _, t := range tokens {
		odds := g.candidates(t, n)
		top := make(map[string]float64, len(odds))
		for _, o := range odds {
			top[o.text] = o.logprob
		}
		l.TextOffset = append(l.TextOffset, offset)
		l.TokenLogprobs = append(l.TokenLogprobs, odds[0].logprob)
		l.Tokens = append(l.Tokens, t.text)
		l.TopLogprobs = append(l.TopLogprobs, top)
		offset += len(t.text)
	}
	return &l
}

// chatLogprobs is the logprobs object of /v1/chat/completions.
type chatLogprobs struct {
	Content []chatLogprob `json:"content"`
}

type chatLogprob struct {
	chatCandidate
	TopLogprobs []chatCandidate `json:"top_logprobs"`
}

type chatCandidate struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

func (g *generation) chatLogprobs(tokens []token, n int) *chatLogprobs {
	var l chatLogprobs
	for _, t := range tokens {
		top := []chatCandidate{}
		for _, o := range g.candidates(t, n) {
			candidate := chatCandidate{Token: o.text, Logprob: o.logprob}
			for _, b := range []byte(o.text) {
				candidate.Bytes = append(candidate.Bytes, int(b))
			}
			top = append(top, candidate)
		}
		l.Content = append(l.Content, chatLogprob{chatCandidate: top[0], TopLogprobs: top[:min(n, len(top))]})
	}
	return &l
}
