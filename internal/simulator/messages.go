package simulator

import "net/http"

// messagesRequest has the fields of Anthropic's Messages API. As in vLLM, sampling fields of its own, such as
// ignore_eos, are not among them.
type messagesRequest struct {
	modelName
	MaxTokens *int         `json:"max_tokens"`
	Stream    bool         `json:"stream"`
	System    blockContent `json:"system"`
	Messages  []struct {
		Role    string       `json:"role"`
		Content blockContent `json:"content"`
	} `json:"messages"`
	Thinking struct {
		Type   string `json:"type"` // "enabled": the first third of the answer is thinking
		Budget int    `json:"budget_tokens"`
	} `json:"thinking"`
	CacheSalt *string `json:"cache_salt"`
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request, a *arrival) *apiError {
	var request messagesRequest
	if err := s.read(w, r, &request); err != nil {
		return err
	}
	switch {
	case request.Model == "":
		return badRequest("model", "Model is required")
	case request.MaxTokens == nil:
		return badRequest("max_tokens", "max_tokens is missing")
	case request.Thinking.Type == "enabled" &&
		(request.Thinking.Budget < 1024 || request.Thinking.Budget >= *request.MaxTokens):
		return badRequest("thinking", "thinking.budget_tokens must be at least 1024 and less than max_tokens")
	}
	var messages []message
	if request.System != "" {
		messages = append(messages, message{"system", content(request.System)})
	}
	for _, m := range request.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return badRequest("messages", "the role of a message must be user or assistant, got %q", m.Role)
		}
		messages = append(messages, message{m.Role, content(m.Content)})
	}
	if len(request.Messages) == 0 {
		return badRequest("messages", "messages must not be empty")
	}
	ids, err := chatTokens(messages, true)
	if err != nil {
		return err
	}
	p := sampling{modelName: request.modelName, Stream: request.Stream, CacheSalt: request.CacheSalt,
		thinks: request.Thinking.Type == "enabled"}
	return s.respond(w, r, a, ids, request.MaxTokens, p, new(messageEvents))
}

// messageEvents is the dialect of Anthropic's Messages API: named events of one message, whose blocks begin, grow and
// end. As in vLLM, the message begins with the first token. As at Anthropic, a ping follows the begin of the first
// block.
type messageEvents struct {
	begun  bool
	block  string // type of the one that grows, "" for none
	blocks int    // that are complete
}

// messageUsage counts the tokens of a message. Tokens from the prefix cache are not in InputTokens.
type messageUsage struct {
	InputTokens   int  `json:"input_tokens"`
	OutputTokens  int  `json:"output_tokens"`
	CacheCreation *int `json:"cache_creation_input_tokens,omitempty"`
	CacheRead     *int `json:"cache_read_input_tokens,omitempty"`
}

// messageBody is a message: whole, or without content in the first event.
type messageBody struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	Role         string        `json:"role"`
	Content      []any         `json:"content"`
	Model        string        `json:"model"`
	StopReason   *string       `json:"stop_reason"`
	StopSequence *string       `json:"stop_sequence"`
	Usage        *messageUsage `json:"usage"`
}

type (
	messageStart struct {
		Type    string      `json:"type"`
		Message messageBody `json:"message"`
	}
	blockStart struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Block any    `json:"content_block"`
	}
	blockDelta struct {
		Type  string            `json:"type"`
		Index int               `json:"index"`
		Delta map[string]string `json:"delta"`
	}
	blockStop struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
	}
	messageDelta struct {
		Type  string `json:"type"`
		Delta struct {
			StopReason   string  `json:"stop_reason"`
			StopSequence *string `json:"stop_sequence"`
		} `json:"delta"`
		Usage *messageUsage `json:"usage,omitempty"`
	}
	// plainEvent has no fields of its own.
	plainEvent struct {
		Type string `json:"type"`
	}
)

func (*messageEvents) kind() string { return "msg_" }

func (*messageEvents) open(*generation, *events) error { return nil }

// start writes the begin of the message, once.
func (d *messageEvents) start(g *generation, out *events) error {
	if d.begun {
		return nil
	}
	d.begun = true
	return out.send("message_start", messageStart{"message_start", messageBody{
		ID: g.id, Type: "message", Role: "assistant", Content: []any{}, Model: g.model,
		Usage: &messageUsage{InputTokens: g.seq.prompt},
	}})
}

func (d *messageEvents) step(g *generation, out *events, tokens []token) error {
	if err := d.start(g, out); err != nil {
		return err
	}
	thought, said := g.split(tokens)
	if err := d.grow(out, "thinking", thought); err != nil {
		return err
	}
	return d.grow(out, "text", said)
}

// grow adds tokens to the block of that type; it ends one of the other type.
func (d *messageEvents) grow(out *events, block string, tokens []token) error {
	if len(tokens) == 0 {
		return nil
	}
	if d.block != block {
		if err := d.endBlock(out); err != nil {
			return err
		}
		d.block = block
		if err := out.send("content_block_start",
			blockStart{"content_block_start", d.blocks, map[string]string{"type": block, block: ""}}); err != nil {
			return err
		}
		if d.blocks == 0 {
			if err := out.send("ping", plainEvent{"ping"}); err != nil {
				return err
			}
		}
	}
	return d.delta(out, block, textOf(tokens))
}

func (d *messageEvents) delta(out *events, field, text string) error {
	return out.send("content_block_delta",
		blockDelta{"content_block_delta", d.blocks, map[string]string{"type": field + "_delta", field: text}})
}

func (d *messageEvents) endBlock(out *events) error {
	if d.block == "" {
		return nil
	}
	if d.block == "thinking" {
		if err := d.delta(out, "signature", thinkingSignature); err != nil {
			return err
		}
	}
	stop := blockStop{"content_block_stop", d.blocks}
	d.block, d.blocks = "", d.blocks+1
	return out.send("content_block_stop", stop)
}

// thinkingSignature ends a block of thinking. It signs nothing.
const thinkingSignature = "c2ltdWxhdGVk"

func (d *messageEvents) close(g *generation, out *events) error {
	if err := d.start(g, out); err != nil {
		return err
	}
	if err := d.endBlock(out); err != nil {
		return err
	}
	end := messageDelta{Type: "message_delta", Usage: d.usage(g)}
	end.Delta.StopReason = stopReason(g)
	if g.suffers(FaultNoUsage) {
		end.Usage = nil
	}
	if err := out.send("message_delta", end); err != nil || g.suffers(FaultNoDone) {
		return err
	}
	return out.send("message_stop", plainEvent{"message_stop"})
}

func (*messageEvents) fail(_ *generation, out *events, problem *apiError) error {
	return out.send("error", problem.messagesBody())
}

func (d *messageEvents) whole(g *generation, tokens []token) any {
	whole := messageBody{ID: g.id, Type: "message", Role: "assistant", Model: g.model, StopReason: new(stopReason(g)),
		Usage: d.usage(g)}
	thought, said := g.split(tokens)
	if len(thought) > 0 {
		whole.Content = append(whole.Content,
			map[string]string{"type": "thinking", "thinking": textOf(thought), "signature": thinkingSignature})
	}
	if len(said) > 0 {
		whole.Content = append(whole.Content, map[string]string{"type": "text", "text": textOf(said)})
	}
	return whole
}

func stopReason(g *generation) string {
	if g.seq.reason == "length" {
		return "max_tokens"
	}
	return "end_turn"
}

func (*messageEvents) usage(g *generation) *messageUsage {
	u := &messageUsage{InputTokens: g.seq.prompt, OutputTokens: g.arrival.OutputTokens}
	if g.profile.PrefixCache {
		cached := g.cached()
		u.InputTokens, u.CacheRead, u.CacheCreation = u.InputTokens-cached, &cached, new(int)
	}
	return u
}

// messagesBody is the error in the form of the Messages API.
func (e *apiError) messagesBody() any {
	detail := e.detail()
	return map[string]any{"type": "error", "error": map[string]string{"type": detail.Type, "message": detail.Message}}
}
