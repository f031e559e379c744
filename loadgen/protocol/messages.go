package protocol

import (
	"bytes"
	"strings"

	"github.com/valyala/fastjson"

	"benchtop/datasets"
	"benchtop/internal/pyjson"
)

// Messages is Anthropic's Messages protocol. A chunk is a content_block_delta that has text, thinking or the JSON of a
// tool call.
type Messages struct{}

// Traits are those of Messages.
func (Messages) Traits() Traits {
	return Traits{Name: "anthropic-messages", Path: "/v1/messages", Suffixes: []string{"messages"},
		ContentType: "application/json",
		Header:      [][2]string{{"Anthropic-Version", "2023-06-01"}}, KeyFrom: "ANTHROPIC_API_KEY",
		KeyHeader: "X-Api-Key",
		Streams:   true, Chunk: "a content_block_delta with text, thinking or the JSON of a tool call",
		Ending: "message_stop", Member: "content", LengthField: maxTokens,
		Forms: datasets.AsText | datasets.AsMedia, Templates: true}
}

// Body appends a request.
func (p Messages) Body(dst []byte, a Ask) ([]byte, error) {
	fields := []bodyField{a.model(), a.limit(maxTokens), {name: "messages", turn: appendUserMessage},
		{name: "stream", json: "true"}}
	turn := *a.Turn
	if len(turn.Messages)+len(turn.Media) > 0 {
		messages, system, err := anthropicMessages(&turn)
		if err != nil {
			return dst, err
		}
		fields[2] = bodyField{name: "messages", json: messages}
		if system != "" {
			fields = append(fields, bodyField{name: "system", json: system})
		}
	}
	return a.object(dst, p.Traits(), fields)
}

// appendUserMessage appends a message of text.
func appendUserMessage(dst []byte, t *datasets.Turn) []byte {
	dst = append(dst, `[{"role": "user", "content": `...)
	return append(pyjson.AppendString(dst, t.Text), "}]"...)
}

// anthropicMessages are the messages of a turn as this protocol has them, in JSON: pictures in its form, and the text
// of system messages, "" for none, apart.
func anthropicMessages(t *datasets.Turn) (messages, system string, err error) {
	v, err := fastjson.ParseBytes(appendMessages(nil, t))
	if err != nil {
		return "", "", err
	}
	var instructions []string
	rest := new(fastjson.Arena).NewArray()
	for _, message := range v.GetArray() {
		for _, part := range message.GetArray("content") {
			anthropicPart(part)
		}
		if role := string(message.GetStringBytes("role")); role != "system" && role != "developer" {
			rest.SetArrayItem(len(rest.GetArray()), message)
			continue
		}
		if text := message.GetStringBytes("content"); text != nil {
			instructions = append(instructions, string(text))
		}
		for _, part := range message.GetArray("content") {
			instructions = append(instructions, string(part.GetStringBytes("text")))
		}
	}
	if instructions != nil {
		system = string(pyjson.AppendString(nil, strings.Join(instructions, "\n")))
	}
	return string(pyjson.Append(nil, rest.MarshalTo(nil))), system, nil
}

// anthropicPart turns a picture of OpenAI's form, by its data or by its address, into this protocol's.
func anthropicPart(part *fastjson.Value) {
	if string(part.GetStringBytes("type")) != "image_url" {
		return
	}
	url := string(part.GetStringBytes("image_url", "url"))
	var a fastjson.Arena
	source := a.NewObject()
	if header, data, ok := strings.Cut(url, ";base64,"); ok && strings.HasPrefix(header, "data:") {
		source.Set("type", a.NewString("base64"))
		source.Set("media_type", a.NewString(strings.TrimPrefix(header, "data:")))
		source.Set("data", a.NewString(data))
	} else {
		source.Set("type", a.NewString("url"))
		source.Set("url", a.NewString(url))
	}
	part.Del("image_url")
	part.Set("type", a.NewString("image"))
	part.Set("source", source)
}

// Event reads an event of a stream.
func (Messages) Event(r *Reader, data []byte) (m Message, err error) {
	if string(data) == done { // vLLM sends it behind message_stop
		return Message{}, nil
	}
	v, err := r.parse(&m, data)
	if v == nil {
		return m, err
	}
	switch string(v.GetStringBytes("type")) {
	case "message_start":
		m.Usage = readUsage(v.Get("message", "usage"), anthropicUsage)
		m.Usage.Output = -1 // provisional
	case "content_block_start":
		m.Calls = uses(v.Get("content_block"))
	case "content_block_delta":
		delta := v.Get("delta")
		m.Answer, m.Reasoning = delta.GetStringBytes("text"), delta.GetStringBytes("thinking")
		m.More = len(m.Reasoning) > 0 || len(delta.GetStringBytes("partial_json")) > 0
		m.Output = len(m.Answer) > 0 || m.More
		m.Counts = m.Output
	case "message_delta":
		m.end(anthropicFinish(v.GetStringBytes("delta", "stop_reason")), nil)
		m.Usage = readUsage(v.Get("usage"), anthropicUsage)
	case "message_stop":
		m.End = true
	default:
		m.Failure = foreign(v)
	}
	return m, nil
}

// anthropicFinish is the reason of an end in the words of completions, where they have one.
func anthropicFinish(reason []byte) []byte {
	switch string(reason) {
	case "end_turn", "stop_sequence":
		return []byte("stop")
	case maxTokens:
		return []byte("length")
	}
	return reason
}

// uses is 1 for a block that is a tool call.
func uses(block *fastjson.Value) int {
	if bytes.HasSuffix(block.GetStringBytes("type"), []byte("tool_use")) {
		return 1
	}
	return 0
}

// Whole reads an answer that is not a stream.
func (Messages) Whole(r *Reader, body []byte) (m Message, err error) {
	v, err := r.parse(&m, body)
	if v == nil {
		return m, err
	}
	for _, block := range v.GetArray("content") {
		text := block.GetStringBytes("text")
		m.Answer = append(m.Answer, text...)
		m.More = m.More || text == nil
		m.Calls += uses(block)
		m.Counts = true
	}
	m.Output = len(m.Answer) > 0 || m.More
	m.end(anthropicFinish(v.GetStringBytes("stop_reason")), nil)
	m.Usage = readUsage(v.Get("usage"), anthropicUsage)
	return m, nil
}
