package simulator

import "net/http"

type completionRequest struct {
	sampling
	Prompt    *prompts `json:"prompt"`
	MaxTokens *int     `json:"max_tokens"` // default 16; null means as many as fit
	Logprobs  *int     `json:"logprobs"`
	Echo      bool     `json:"echo"`
	Suffix    *string  `json:"suffix"`
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
	request := completionRequest{MaxTokens: new(16)}
	if err := s.readCompletion(w, r, &request); err != nil {
		return err
	}
	n, err := request.check()
	if err != nil {
		return err
	}
	if n*len(*request.Prompt) > 1 {
		return s.respondList(w, r, a, request, n)
	}
	ids := (*request.Prompt)[0]
	request.N, request.UseBeamSearch, request.Prompt = nil, false, nil
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

// readCompletion is read for a request whose prompt may be long.
func (s *Server) readCompletion(w http.ResponseWriter, r *http.Request, request *completionRequest) *apiError {
	body, problem := readBody(w, r)
	if problem != nil {
		return problem
	}
	r.Body = http.NoBody
	rest, ids := cutPrompt(body)
	if ids == nil {
		return s.unmarshal(body, request)
	}
	problem = s.unmarshal(rest, request)
	request.Prompt = (*prompts)(&ids)
	return problem
}

// check returns the number of answers to each prompt.
func (request completionRequest) check() (n int, problem *apiError) {
	if n = 1; request.N != nil {
		n = *request.N
	}
	switch {
	case request.Prompt == nil:
		return 0, badRequest("prompt", "prompt is missing")
	case n < 1:
		return 0, badRequest("n", "n must be at least 1, got %d.", n)
	case n > mostChoices/len(*request.Prompt):
		return 0, badRequest("n", "at most %d answers to a request are simulated.", mostChoices)
	case request.UseBeamSearch && request.Stream:
		return 0, badRequest("stream", "Streaming is not supported with beam search")
	case request.Echo:
		return 0, badRequest("echo", "echo is not simulated")
	case request.Suffix != nil && *request.Suffix != "":
		return 0, badRequest("suffix", "suffix is not currently supported")
	case request.Logprobs != nil && *request.Logprobs < 0:
		return 0, badRequest("logprobs", "`logprobs` must be a positive value.")
	case request.Logprobs != nil && *request.Logprobs > maxLogprobs:
		return 0, badRequest("logprobs", "Requested sample logprobs of %d, which is greater than max allowed: %d",
			*request.Logprobs, maxLogprobs)
	}
	for _, ids := range *request.Prompt {
		if problem = ids.check("prompt"); problem != nil {
			return 0, problem
		}
	}
	return n, nil
}

// completionChoice describes tokens that follow offset bytes of text; the last of them may be the last of all.
func (g *generation) completionChoice(tokens []token, request completionRequest, offset int) completionChoice {
	choice := completionChoice{Index: g.choice, Text: textOf(tokens), FinishReason: tokens[len(tokens)-1].finish}
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
