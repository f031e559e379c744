package protocol

import (
	"bytes"
	"github.com/valyala/fastjson"

	"benchtop/datasets"
	"benchtop/internal/pyjson"
)

// Responses is OpenAI's Responses protocol. Its events are told apart by the type in their JSON. As with vLLM, a chunk
// is a delta of the output's text or of the reasoning's, whatever it holds. Unlike in vLLM, one of a refusal is a
// chunk, too.
type Responses struct{}

// maxOutputTokens bounds the length of an answer.
const maxOutputTokens = "max_output_tokens"

// Traits are those of Responses.
func (Responses) Traits() Traits {
	return Traits{Name: "openai-responses", Path: "/v1/responses", Suffixes: []string{"responses"},
		ContentType: "application/json",
		Streams:     true,
		Chunk: "an event response.output_text.delta, response.reasoning_text.delta, " +
			"response.function_call_arguments.delta or response.refusal.delta",
		Ending: "response.completed or response.incomplete", Member: "output", LengthField: maxOutputTokens,
		FullLength: true,
		Forms:      datasets.AsText, Templates: true}
}

// Body appends a request.
func (p Responses) Body(dst []byte, a Ask) ([]byte, error) {
	return a.object(dst, p.Traits(),
		[]bodyField{a.model(), {name: "input", turn: appendMessagesOrText}, a.limit(maxOutputTokens),
			{name: "stream", json: "true"}, {name: "store", json: "false"}})
}

func appendMessagesOrText(dst []byte, t *datasets.Turn) []byte {
	if len(t.Messages) > 0 {
		return pyjson.Append(dst, t.Messages)
	}
	return appendPrompt(dst, t)
}

// Event reads an event of a stream.
func (Responses) Event(r *Reader, data []byte) (m Message, err error) {
	if string(data) == done {
		return Message{}, nil // only a terminal event ends a response
	}
	v, err := r.parse(&m, data)
	if v == nil {
		return m, err
	}
	switch kind := string(v.GetStringBytes("type")); kind {
	case "response.output_text.delta", "response.reasoning_text.delta", "response.refusal.delta":
		m.Counts = true
		m.Refusal = kind == "response.refusal.delta"
		m.Ours = m.Refusal
		text := v.Get("delta")
		if kind == "response.reasoning_text.delta" {
			if m.Reasoning = text.GetStringBytes(); len(m.Reasoning) > 0 {
				m.Output, m.More = true, true
			}
			return m, nil
		}
		if m.Answer, err = textOf(text); err != nil {
			return m, excerpted(err, data)
		}
		m.Output = len(m.Answer) > 0
		if logprobs := v.GetArray("logprobs"); len(logprobs) > 0 { // an empty list stands in every event
			m.count(logprobs)
		}
	case "response.function_call_arguments.delta":
		m.Counts, m.Ours, m.Output, m.More = true, true, true, true
		if r.calls == 0 { // the item was not told of
			m.Calls, r.calls = 1, 1
		}
	case "response.output_item.added":
		m.Calls = calls(v.Get("item"))
		r.calls += m.Calls
	case "response.completed", "response.incomplete":
		r.Clocks.read(v)                 // llama.cpp's
		r.Clocks.read(v.Get("response")) // vLLM's
		m.readResponse(v.Get("response"))
	case "response.failed":
		m.Failure = errorMessage(v)
	case "response.refusal.done":
		m.Refusal = true
	case "response.cancelled":
		m.end([]byte("cancelled"), v.GetStringBytes("response", "incomplete_details", "reason"))
	default:
		m.Failure = foreign(v)
	}
	return m, nil
}

// calls is 1 for an item that is a tool call, of a function or of the server's own.
func calls(item *fastjson.Value) int {
	if bytes.HasSuffix(item.GetStringBytes("type"), []byte("_call")) {
		return 1
	}
	return 0
}

// readResponse reads the end of a response: its finish reason in the words of completions, and its usage.
func (m *Message) readResponse(v *fastjson.Value) {
	reason, given := []byte("stop"), v.GetStringBytes("incomplete_details", "reason")
	if len(given) > 0 {
		reason = given
	}
	switch status := v.GetStringBytes("status"); {
	case string(reason) == maxOutputTokens:
		reason = []byte("length")
	case gaveUp(status):
		reason = status
	}
	m.end(reason, given)
	m.Usage = readUsage(v.Get("usage"), responsesUsage)
}

// Whole reads an answer that is not a stream.
func (Responses) Whole(r *Reader, body []byte) (m Message, err error) {
	v, err := r.parse(&m, body)
	if v == nil {
		return m, err
	}
	m.readResponse(v)
	for _, item := range v.GetArray("output") {
		for _, part := range item.GetArray("content") {
			text := part.GetStringBytes("text")
			if refusal := part.GetStringBytes("refusal"); len(refusal) > 0 {
				text, m.Refusal = refusal, true
			}
			if string(item.GetStringBytes("type")) == "reasoning" {
				m.Reasoning = append(m.Reasoning, text...)
			} else {
				m.Answer = append(m.Answer, text...)
			}
		}
		m.Counts = true
		m.Calls += calls(item)
		m.More = m.More || string(item.GetStringBytes("type")) != "message"
	}
	m.Output = len(m.Answer) > 0 || m.More
	return m, nil
}
