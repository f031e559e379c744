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

type completionChoice struct {
	Index        int                 `json:"index"`
	Text         string              `json:"text"`
	Logprobs     *completionLogprobs `json:"logprobs"`
	FinishReason *string             `json:"finish_reason"`
	StopReason   *string             `json:"stop_reason"`
	PromptIDs    []int               `json:"prompt_token_ids"` // with the first tokens
	TokenIDs     []int               `json:"token_ids"`
}

func (s *Server) completions(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	sixteen := 16
	request := completionRequest{MaxTokens: &sixteen}
	if err := s.read(w, r, &request); err != nil {
		return err
	}
	ids, err := request.check()
	if err != nil {
		return err
	}
	offset := 0
	return s.respond(w, r, a, ids, request.MaxTokens, request.sampling, &chunks{
		prefix: "cmpl-", object: "text_completion", chunk: "text_completion", options: request.streamOptions(),
		all: func(g *generation, tokens []token) any { return g.completionChoice(tokens, request, 0) },
		some: func(g *generation, tokens []token) any {
			choice := g.completionChoice(tokens, request, offset)
			offset += len(choice.Text)
			return choice
		},
	})
}

// check returns the prompt's token ids.
func (request completionRequest) check() ([]int, *apiError) {
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
	return *request.Prompt, request.Prompt.check("prompt")
}

// completionChoice describes tokens that follow offset bytes of text; the last of them may be the last of all.
func (g *generation) completionChoice(tokens []token, request completionRequest, offset int) completionChoice {
	choice := completionChoice{Text: textOf(tokens), FinishReason: tokens[len(tokens)-1].finish}
	if request.Logprobs != nil {
		choice.Logprobs = g.completionLogprobs(tokens, *request.Logprobs, offset)
	}
	if request.ReturnTokenIDs {
		choice.TokenIDs = idsOf(tokens)
		if tokens[0].index == 0 {
			choice.PromptIDs = g.prompt
		}
	}
	return choice
}
