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

type chatAnswer struct {
	ID                string          `json:"id"`
	Object            string          `json:"object"`
	Created           int64           `json:"created"`
	Model             string          `json:"model"`
	Choices           []chatChoice    `json:"choices"`
	ServiceTier       *string         `json:"service_tier"`
	SystemFingerprint *string         `json:"system_fingerprint"`
	Usage             usage           `json:"usage"`
	PromptLogprobs    *struct{}       `json:"prompt_logprobs"`
	KVTransferParams  *struct{}       `json:"kv_transfer_params"`
	Metrics           *requestMetrics `json:"metrics,omitempty"`
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

// chatEvent is one event of a stream. Unlike a completion's it has no usage field unless there is one to tell.
type chatEvent struct {
	ID      string            `json:"id"`
	Object  string            `json:"object"`
	Created int64             `json:"created"`
	Model   string            `json:"model"`
	Choices []chatEventChoice `json:"choices"`
	Usage   *usage            `json:"usage,omitempty"`
	Metrics *requestMetrics   `json:"metrics,omitempty"` // beside usage
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
	if err := readJSON(w, r, &request); err != nil {
		return err
	}
	ids, err := s.checkChat(&request)
	if err != nil {
		return err
	}
	maxTokens := request.MaxTokens
	if request.MaxCompletionTokens != nil {
		maxTokens = request.MaxCompletionTokens
	}
	g, err := s.generate(r, a, "chatcmpl", ids, maxTokens, request.sampling)
	if err != nil {
		return err
	}
	if request.Stream {
		g.streamChat(w, r, request)
		return nil
	}
	tokens, err := g.whole(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, chatAnswer{
		ID: g.id, Object: "chat.completion", Created: g.created, Model: g.model,
		Choices: []chatChoice{g.chatChoice(tokens, request)}, Usage: g.finalUsage(), Metrics: g.requestMetrics(),
	})
	return nil
}

// checkChat returns the token ids of the messages.
func (s *Server) checkChat(request *chatRequest) ([]int, *apiError) {
	if err := s.knows(request.Model); err != nil {
		return nil, err
	}
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

// streamChat sends the role in an event of its own when the first token has come, as vLLM does.
func (g *generation) streamChat(w http.ResponseWriter, r *http.Request, request chatRequest) {
	options := request.streamOptions()
	event := func(choices []chatEventChoice, u *usage) chatEvent {
		return chatEvent{
			ID: g.id, Object: "chat.completion.chunk", Created: g.created, Model: g.model, Choices: choices, Usage: u,
		}
	}
	g.stream(r.Context(), w, options,
		func(out *events, tokens []token) error {
			if tokens[0].index == 0 {
				var none string
				role := chatEventChoice{Delta: chatDelta{Role: "assistant", Content: &none}}
				var u *usage
				if options.IncludeUsage && options.ContinuousUsageStats {
					zero := g.usage(0)
					u = &zero
				}
				if err := out.send(event([]chatEventChoice{role}, u)); err != nil {
					return err
				}
			}
			return out.send(event([]chatEventChoice{g.chatEventChoice(tokens, request)}, g.runningUsage(options, tokens)))
		},
		func(u usage) any {
			last := event([]chatEventChoice{}, &u)
			last.Metrics = g.requestMetrics()
			return last
		})
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
