package simulator

import "net/http"

type completionRequest struct {
	sampling
	Prompt    *prompt `json:"prompt"`
	MaxTokens *int    `json:"max_tokens"` // default 16; null means as many as fit
	Logprobs  *int    `json:"logprobs"`
	Echo      bool    `json:"echo"`
	Suffix    *string `json:"suffix"`
}

type completionAnswer struct {
	ID                string             `json:"id"`
	Object            string             `json:"object"`
	Created           int64              `json:"created"`
	Model             string             `json:"model"`
	Choices           []completionChoice `json:"choices"`
	ServiceTier       *string            `json:"service_tier"`
	SystemFingerprint *string            `json:"system_fingerprint"`
	Usage             *usage             `json:"usage"`
	KVTransferParams  *struct{}          `json:"kv_transfer_params"`
	Metrics           *requestMetrics    `json:"metrics,omitempty"`
}

// completionEvent is one event of a stream. Its usage is null but in the last one.
type completionEvent struct {
	ID      string             `json:"id"`
	Object  string             `json:"object"`
	Created int64              `json:"created"`
	Model   string             `json:"model"`
	Choices []completionChoice `json:"choices"`
	Usage   *usage             `json:"usage"`
	Metrics *requestMetrics    `json:"metrics,omitempty"` // beside usage
}

type completionChoice struct {
	Index        int                 `json:"index"`
	Text         string              `json:"text"`
	Logprobs     *completionLogprobs `json:"logprobs"`
	FinishReason *string             `json:"finish_reason"`
	StopReason   *string             `json:"stop_reason"`
	TokenIDs     []int               `json:"token_ids"`
}

func (s *Server) completions(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	sixteen := 16
	request := completionRequest{MaxTokens: &sixteen}
	if err := readJSON(w, r, &request); err != nil {
		return err
	}
	ids, err := s.checkCompletion(&request)
	if err != nil {
		return err
	}
	g, err := s.generate(r, a, "cmpl", ids, request.MaxTokens, request.sampling)
	if err != nil {
		return err
	}
	if request.Stream {
		g.streamCompletion(w, r, request)
		return nil
	}
	tokens, err := g.whole(r.Context())
	if err != nil {
		return err
	}
	u := g.finalUsage()
	writeJSON(w, http.StatusOK, completionAnswer{
		ID: g.id, Object: "text_completion", Created: g.created, Model: g.model, Usage: &u, Metrics: g.requestMetrics(),
		Choices: []completionChoice{g.completionChoice(tokens, request, 0)},
	})
	return nil
}

// checkCompletion returns the prompt's token ids.
func (s *Server) checkCompletion(request *completionRequest) ([]int, *apiError) {
	if err := s.knows(request.Model); err != nil {
		return nil, err
	}
	switch {
	case request.Prompt == nil:
		return nil, badRequest("prompt", "prompt is missing")
	case request.Echo:
		return nil, badRequest("echo", "echo is not simulated")
	case request.Suffix != nil && *request.Suffix != "":
		return nil, badRequest("suffix", "suffix is not currently supported")
	case request.Logprobs != nil && *request.Logprobs < 0:
		return nil, badRequest("logprobs", "`logprobs` must be a positive value.")
	case request.Logprobs != nil && *request.Logprobs > maxLogprobs:
		return nil, badRequest("logprobs", "Requested sample logprobs of %d, which is greater than max allowed: %d",
			*request.Logprobs, maxLogprobs)
	}
	return request.Prompt.tokens()
}

func (g *generation) streamCompletion(w http.ResponseWriter, r *http.Request, request completionRequest) {
	options := request.streamOptions()
	offset := 0
	event := func(choices []completionChoice, u *usage) completionEvent {
		return completionEvent{
			ID: g.id, Object: "text_completion", Created: g.created, Model: g.model, Choices: choices, Usage: u,
		}
	}
	g.stream(r.Context(), w, options,
		func(out *events, tokens []token) error {
			choice := g.completionChoice(tokens, request, offset)
			offset += len(choice.Text)
			return out.send(event([]completionChoice{choice}, g.runningUsage(options, tokens)))
		},
		func(u usage) any {
			last := event([]completionChoice{}, &u)
			last.Metrics = g.requestMetrics()
			return last
		})
}

// completionChoice describes tokens that follow offset bytes of text; the last of them may be the last of all.
func (g *generation) completionChoice(tokens []token, request completionRequest, offset int) completionChoice {
	choice := completionChoice{Text: textOf(tokens), FinishReason: tokens[len(tokens)-1].finish}
	if request.Logprobs != nil {
		choice.Logprobs = g.completionLogprobs(tokens, *request.Logprobs, offset)
	}
	if request.ReturnTokenIDs {
		choice.TokenIDs = idsOf(tokens)
	}
	return choice
}
