package protocol

import (
	"github.com/valyala/fastjson"

	"benchtop/datasets"
	"benchtop/internal/pyjson"
)

// Responses is OpenAI's Responses protocol. Its events are told apart by the type in their JSON. As with vLLM, a chunk is a delta of
// the output's text or of the reasoning's, whatever it holds, and an error beside either, or beside the end, is not read.
type Responses struct{}

// maxOutputTokens bounds the length of an answer.
const maxOutputTokens = "max_output_tokens"

// Traits are those of Responses.
func (Responses) Traits() Traits {
	return Traits{Name: "openai-responses", Path: "/v1/responses", Suffixes: []string{"responses"}, ContentType: "application/json",
		Streams: true, Chunk: "an event response.output_text.delta or response.reasoning_text.delta",
		Ending: "response.completed or response.incomplete", Member: "output", LengthField: maxOutputTokens, FullLength: true,
		Forms: datasets.AsText, Templates: true}
}

// Body appends a request.
func (p Responses) Body(dst []byte, a Ask) ([]byte, error) {
	return a.object(dst, p.Traits(), []bodyField{a.model(), {name: "input", turn: appendMessagesOrText}, a.limit(maxOutputTokens),
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
	case "response.output_text.delta", "response.reasoning_text.delta":
		m.Counts = true
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
	case "response.completed", "response.incomplete":
		r.Clocks.read(v)                 // llama.cpp's
		r.Clocks.read(v.Get("response")) // vLLM's
		m.readResponse(v.Get("response"))
	default:
		m.readError(v, kind == "error" || kind == "response.failed")
	}
	return m, nil
}

// readResponse reads the end of a response: its finish reason in the words of completions, and its usage.
func (m *Message) readResponse(v *fastjson.Value) {
	m.Finish = []byte("stop")
	if reason := v.GetStringBytes("incomplete_details", "reason"); len(reason) > 0 {
		m.Finish = reason
	}
	if string(m.Finish) == maxOutputTokens {
		m.Finish = []byte("length")
	}
	m.Usage = readUsage(v.Get("usage"), responsesUsage)
}

// readError reads the error of an event. Of an event that is an error by its type and has none within, it is the whole event.
func (m *Message) readError(v *fastjson.Value, isError bool) {
	e := v.Get("error")
	if !truthy(e) {
		e = v.Get("response", "error")
	}
	switch {
	case truthy(e):
		m.Failure = errorMessage(e)
	case isError:
		m.Failure = errorMessage(v)
	}
}

// Whole reads an answer that is not a stream.
func (Responses) Whole(r *Reader, body []byte) (m Message, err error) {
	v, err := r.parse(&m, body)
	if v == nil {
		return m, err
	}
	if m.readError(v, false); m.Failure != "" {
		return m, nil
	}
	m.readResponse(v)
	for _, item := range v.GetArray("output") {
		for _, part := range item.GetArray("content") {
			text := part.GetStringBytes("text")
			if string(item.GetStringBytes("type")) == "reasoning" {
				m.Reasoning = append(m.Reasoning, text...)
			} else {
				m.Answer = append(m.Answer, text...)
			}
		}
		m.Counts = true
		m.More = m.More || string(item.GetStringBytes("type")) != "message"
	}
	m.Output = len(m.Answer) > 0 || m.More
	return m, nil
}
