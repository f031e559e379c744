package simulator

import "net/http"

type chatRequest struct {
	sampling
	Messages            []message `json:"messages"`
	MaxTokens           *int      `json:"max_tokens"`
	MaxCompletionTokens *int      `json:"max_completion_tokens"` // before max_tokens; neither means as many as fit
	Logprobs            bool      `json:"logprobs"`
	TopLogprobs         int       `json:"top_logprobs"`
	ChatTemplateKwargs  struct {
		EnableThinking bool `json:"enable_thinking"` // the first third of the answer is reasoning
	} `json:"chat_template_kwargs"`
}

// chatChoice has a message in a whole answer, a delta in an event.
type chatChoice struct {
	Index        int           `json:"index"`
	Message      *chatMessage  `json:"message,omitempty"`
	Delta        *chatMessage  `json:"delta,omitempty"`
	Logprobs     *chatLogprobs `json:"logprobs"`
	FinishReason *string       `json:"finish_reason"`
	StopReason   any           `json:"stop_reason,omitempty"`
	TokenIDs     any           `json:"token_ids,omitempty"`
}

type chatMessage struct {
	Role      string `json:"role,omitempty"`
	Content   any    `json:"content,omitempty"`
	Refusal   any    `json:"refusal,omitempty"`
	ToolCalls any    `json:"tool_calls,omitempty"`
	Reasoning any    `json:"reasoning,omitempty"`
}

func (s *Server) chatCompletions(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	var request chatRequest
	if err := s.read(w, r, &request); err != nil {
		return err
	}
	ids, err := request.check()
	if err != nil {
		return err
	}
	maxTokens := request.MaxTokens
	if request.MaxCompletionTokens != nil {
		maxTokens = request.MaxCompletionTokens
	}
	request.Messages = nil // they may be long, and the answer may take its time
	request.thinks = request.ChatTemplateKwargs.EnableThinking
	return s.respond(w, r, a, ids, maxTokens, request.sampling, &chunks{
		prefix: "chatcmpl-", object: "chat.completion", chunk: "chat.completion.chunk",
		options: request.streamOptions(), promptLogprobs: absent,
		promptTokens: request.ReturnTokenIDs, details: absent,
		role: chatChoice{Delta: &chatMessage{Role: "assistant", Content: ""}},
		all:  func(g *generation, tokens []token) any { return g.chatChoice(tokens, request, true) },
		some: func(g *generation, tokens []token) any { return g.chatChoice(tokens, request, false) },
	})
}

// check returns the token ids of the messages.
func (request chatRequest) check() ([]int, *apiError) {
	switch {
	case request.TopLogprobs < 0 || request.TopLogprobs > maxLogprobs:
		return nil, badRequest("top_logprobs", "top_logprobs must be between 0 and %d, got %d", maxLogprobs,
			request.TopLogprobs)
	case request.TopLogprobs > 0 && !request.Logprobs:
		return nil, badRequest("top_logprobs", "when using `top_logprobs`, `logprobs` must be set to true.")
	}
	return chatTokens(request.Messages, true)
}

// chatChoice describes the tokens of an answer, or of one step.
func (g *generation) chatChoice(tokens []token, request chatRequest, whole bool) chatChoice {
	var text chatMessage
	choice := chatChoice{FinishReason: tokens[len(tokens)-1].finish}
	if whole {
		text = chatMessage{Role: "assistant", Content: "", Refusal: absent, ToolCalls: []struct{}{}, Reasoning: absent}
		choice.Message = &text
	} else {
		choice.Delta = &text
	}
	if choice.TokenIDs = absent; choice.FinishReason != nil {
		choice.StopReason = absent
	}
	thought, said := g.split(tokens)
	if len(thought) > 0 {
		text.Reasoning = textOf(thought)
	}
	if len(said) > 0 {
		text.Content = textOf(said)
	}
	if request.Logprobs {
		choice.Logprobs = g.chatLogprobs(tokens, request.TopLogprobs)
	}
	if request.ReturnTokenIDs {
		choice.TokenIDs = idsOf(tokens)
	}
	return choice
}
