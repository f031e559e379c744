package simulator

import "net/http"

type chatRequest struct {
	sampling
	Messages            []message `json:"messages"`
	MaxTokens           *int      `json:"max_tokens"`
	MaxCompletionTokens *int      `json:"max_completion_tokens"` // wins over max_tokens; neither means as many as fit
	Logprobs            bool      `json:"logprobs"`
	TopLogprobs         int       `json:"top_logprobs"`
	ChatTemplateKwargs  struct {
		EnableThinking bool `json:"enable_thinking"` // the first third of the answer is reasoning
	} `json:"chat_template_kwargs"`
}

type chatChoice struct {
	Index        int           `json:"index"`
	Message      chatMessage   `json:"message"`
	Logprobs     *chatLogprobs `json:"logprobs"`
	FinishReason *string       `json:"finish_reason"`
	StopReason   *string       `json:"stop_reason"`
	TokenIDs     []int         `json:"token_ids"`
}

type chatMessage struct {
	Role             string     `json:"role"`
	Content          string     `json:"content"`
	Refusal          *string    `json:"refusal"`
	ToolCalls        []struct{} `json:"tool_calls"`
	ReasoningContent *string    `json:"reasoning_content"`
}

type chatEventChoice struct {
	Index        int           `json:"index"`
	Delta        chatDelta     `json:"delta"`
	Logprobs     *chatLogprobs `json:"logprobs"`
	FinishReason *string       `json:"finish_reason"`
	TokenIDs     []int         `json:"token_ids,omitempty"`
}

type chatDelta struct {
	Role             string  `json:"role,omitempty"`
	Content          *string `json:"content,omitempty"`
	ReasoningContent *string `json:"reasoning_content,omitempty"`
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
	return s.respond(w, r, a, ids, maxTokens, request.sampling, format{
		kind: "chatcmpl", object: "chat.completion", chunk: "chat.completion.chunk", promptLogprobs: absent,
		role:  chatEventChoice{Delta: chatDelta{Role: "assistant", Content: new(string)}},
		whole: func(g *generation, tokens []token) any { return g.chatChoice(tokens, request) },
		event: func(g *generation, tokens []token) any { return g.chatEventChoice(tokens, request) },
	})
}

// check returns the token ids of the messages.
func (request chatRequest) check() ([]int, *apiError) {
	switch {
	case request.TopLogprobs < 0 || request.TopLogprobs > maxLogprobs:
		return nil, badRequest("top_logprobs", "top_logprobs must be between 0 and %d, got %d", maxLogprobs, request.TopLogprobs)
	case request.TopLogprobs > 0 && !request.Logprobs:
		return nil, badRequest("top_logprobs", "when using `top_logprobs`, `logprobs` must be set to true.")
	}
	return chatTokens(request.Messages, true)
}

// reasoning returns how many tokens of an answer of that length are reasoning.
func (request chatRequest) reasoning(length int) int {
	if request.ChatTemplateKwargs.EnableThinking {
		return length / 3
	}
	return 0
}

func (g *generation) chatChoice(tokens []token, request chatRequest) chatChoice {
	thought := request.reasoning(len(tokens))
	choice := chatChoice{
		Message:      chatMessage{Role: "assistant", Content: textOf(tokens[thought:]), ToolCalls: []struct{}{}},
		FinishReason: tokens[len(tokens)-1].finish,
	}
	if thought > 0 {
		text := textOf(tokens[:thought])
		choice.Message.ReasoningContent = &text
	}
	if request.Logprobs {
		choice.Logprobs = g.chatLogprobs(tokens, request.TopLogprobs)
	}
	if request.ReturnTokenIDs {
		choice.TokenIDs = idsOf(tokens)
	}
	return choice
}

// chatEventChoice describes the tokens of one step. A step that ends the reasoning may bring both kinds of text.
func (g *generation) chatEventChoice(tokens []token, request chatRequest) chatEventChoice {
	thought := min(max(request.reasoning(g.seq.limit)-tokens[0].index, 0), len(tokens))
	choice := chatEventChoice{FinishReason: tokens[len(tokens)-1].finish}
	if thought > 0 {
		text := textOf(tokens[:thought])
		choice.Delta.ReasoningContent = &text
	}
	if thought < len(tokens) {
		text := textOf(tokens[thought:])
		choice.Delta.Content = &text
	}
	if request.Logprobs {
		choice.Logprobs = g.chatLogprobs(tokens, request.TopLogprobs)
	}
	if request.ReturnTokenIDs {
		choice.TokenIDs = idsOf(tokens)
	}
	return choice
}
