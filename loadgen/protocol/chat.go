package protocol

import (
	"fmt"

	"github.com/valyala/fastjson"

	"benchtop/datasets"
	"benchtop/internal/pyjson"
)

// Chat is the chat protocol.
//
// A chunk is, as in vLLM 0.33, an event whose choice has a delta with output: content, reasoning, tool_calls or
// function_call that is not empty, or empty content without a role. So neither the event that names the role nor that
// of the finish reason is a chunk. Unlike in vLLM, reasoning_content is read like reasoning, and a refusal like
// content.
type Chat struct{}

// Traits are those of chat.
func (Chat) Traits() Traits {
	return Traits{Name: "openai-chat", Path: "/v1/chat/completions", Suffixes: []string{"chat/completions"},
		ContentType: "application/json",
		Streams:     true,
		Chunk: "an event with a choice that has output, as in vLLM 0.33, but reasoning_content counts as " +
			"reasoning does, and a refusal as content does", Ending: ending,
		Member: "choices", LengthField: maxCompletionTokens, FullLength: true, Finishes: true,
		Forms: datasets.AsText | datasets.AsMessages | datasets.AsMedia, Templates: true,
		Tokens:       []Field{{"seed", "0"}, {"return_token_ids", "true"}, {"logprobs", "true"}},
		RunningUsage: runningUsage}
}

// Body appends a chat request.
func (c Chat) Body(dst []byte, a Ask) ([]byte, error) {
	fields := append([]bodyField{a.model(), {name: "messages", turn: appendMessages}, a.limit(maxCompletionTokens)},
		streamed()...)
	return a.object(dst, c.Traits(), fields)
}

// Event reads an event of a stream.
func (c Chat) Event(r *Reader, data []byte) (Message, error) {
	if string(data) == done {
		return Message{End: true}, nil
	}
	return c.read(r, data, "delta")
}

// Whole reads an answer that is not a stream. Any choice in it is a chunk.
func (c Chat) Whole(r *Reader, body []byte) (Message, error) {
	return c.read(r, body, "message")
}

// read reads an object whose choice has its text in the member part.
func (Chat) read(r *Reader, data []byte, part string) (m Message, err error) {
	choice, err := r.choice(&m, data)
	if choice == nil {
		return m, err
	}
	said := choice.Get(part)
	if said == nil && choice.Get("text") != nil {
		return m, fmt.Errorf("a choice of the completions protocol, without %s: %s", part, Excerpt(data))
	}
	err = m.readDelta(said)
	for i, call := range said.GetArray("tool_calls") {
		if at := call.Get("index"); at != nil {
			i = at.GetInt()
		}
		if i >= r.calls && i < mostCalls { // the parts of one call have one index
			m.Calls += i + 1 - r.calls
			r.calls = i + 1
		}
	}
	m.Counts = m.Counts || part == "message"
	if err != nil {
		return m, excerpted(err, data)
	}
	m.count(choice.GetArray("logprobs", "content"))
	r.keep(choice)
	return m, nil
}

// mostCalls bounds the index of a tool call.
const mostCalls = 1 << 16

func appendMessages(dst []byte, t *datasets.Turn) []byte {
	if len(t.Messages) > 0 {
		return pyjson.Append(dst, t.Messages)
	}
	dst = append(dst, `[{"role": "user", "content": [`...)
	dst = appendText(dst, t.Text)
	if len(t.Media) > 0 {
		dst = append(dst, ", "...)
		dst = pyjson.Append(dst, t.Media)
	}
	return append(dst, "]}]"...)
}

// appendText appends a content part of text.
func appendText(dst []byte, text string) []byte {
	dst = append(dst, `{"type": "text", "text": `...)
	return append(pyjson.AppendString(dst, text), '}')
}

// readDelta reads the delta of a chat choice, or the message of an answer that is not a stream. A choice without one is
// empty.
func (m *Message) readDelta(delta *fastjson.Value) error {
	if delta == nil || delta.Type() != fastjson.TypeObject {
		return nil
	}
	var err error
	content := delta.Get("content")
	if m.Answer, err = textOf(content); err != nil {
		return err
	}
	known := truthy(delta.Get("reasoning"))
	if m.Reasoning = delta.GetStringBytes("reasoning"); len(m.Reasoning) == 0 {
		m.Reasoning = delta.GetStringBytes("reasoning_content")
	}
	called := truthy(delta.Get("tool_calls")) || truthy(delta.Get("function_call"))
	m.More = len(m.Reasoning) > 0 || called
	m.Output = len(m.Answer) > 0 || m.More
	empty := content != nil && content.Type() == fastjson.TypeString && len(m.Answer) == 0
	counted := len(m.Answer) > 0 || known || called || empty && delta.Get("role") == nil
	if refusal := delta.GetStringBytes("refusal"); len(refusal) > 0 {
		m.Refusal, m.Output = true, true
		if m.More = m.More || len(m.Answer) > 0; len(m.Answer) == 0 {
			m.Answer = refusal
		}
	}
	m.Counts = counted || len(m.Reasoning) > 0 || m.Refusal
	m.Ours = !counted && m.Counts
	return nil
}
