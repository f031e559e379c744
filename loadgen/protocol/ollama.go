package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"benchtop/datasets"
	"benchtop/internal/pyjson"
	"benchtop/internal/usage"
)

// Ollama is Ollama's own chat protocol, whose stream is an object in each line. A chunk is a line with content,
// thinking or tool calls. Fields of a request that sample or bound an answer stand in its options.
type Ollama struct{}

// Traits are those of Ollama.
func (Ollama) Traits() Traits {
	return Traits{Name: "ollama", Path: "/api/chat", Suffixes: []string{"api/chat"}, ContentType: "application/json",
		Streams: true, Lines: true, Chunk: "a line with content, thinking or tool calls", Ending: `"done": true`,
		Member: "message", LengthField: "num_predict", Forms: datasets.AsText | datasets.AsMedia, Templates: true,
		Tokens: []Field{{"seed", "0"}}}
}

// ollamaFields are those outside of the options.
var ollamaFields = []string{"model", "messages", "stream", "tools", "think", "format", "keep_alive", "logprobs",
	"top_logprobs", "truncate", "shift"}

// Body appends a request.
func (p Ollama) Body(dst []byte, a Ask) ([]byte, error) {
	messages := bodyField{name: "messages", turn: appendUserMessage}
	if len(a.Turn.Messages)+len(a.Turn.Media) > 0 {
		flat, err := ollamaMessages(a.Turn)
		if err != nil {
			return dst, err
		}
		messages = bodyField{name: "messages", json: flat}
	}
	fields, err := a.complete(p.Traits(), []bodyField{a.model(), messages, {name: "stream", json: "true"},
		a.limit("num_predict")})
	if err != nil {
		return dst, err
	}
	var outside, options []bodyField
	for _, f := range fields {
		switch own := slices.Contains(ollamaFields, f.name); {
		case f.name == "options":
			given, err := members([]byte(f.json))
			if err != nil {
				return dst, err
			}
			for _, x := range given {
				options = setField(options, x)
			}
		case own:
			outside = append(outside, f)
		default:
			options = setField(options, Field{f.name, f.json})
		}
	}
	inside := appendFields(nil, a.Turn, options)
	return appendFields(dst, a.Turn, append(outside, bodyField{name: "options", json: string(inside)})), nil
}

// ollamaMessages are the messages of a turn with the text of their parts joined and their pictures beside it, which
// have to be in the request.
func ollamaMessages(t *datasets.Turn) (string, error) {
	v, err := fastjson.ParseBytes(appendMessages(nil, t))
	if err != nil {
		return "", err
	}
	var a fastjson.Arena
	for _, message := range v.GetArray() {
		parts := message.Get("content")
		if parts == nil || parts.Type() != fastjson.TypeArray {
			continue
		}
		var words []string
		images := a.NewArray()
		for _, part := range parts.GetArray() {
			if text := part.GetStringBytes("text"); text != nil {
				words = append(words, string(text))
			}
			url := string(part.GetStringBytes("image_url", "url"))
			if _, data, ok := strings.Cut(url, ";base64,"); ok {
				images.SetArrayItem(len(images.GetArray()), a.NewString(data))
			} else if url != "" {
				return "", fmt.Errorf("the picture is at %s, but Ollama takes pictures in the request alone; use "+
					"--custom-ensure-client-side-data, which loads them", usage.Quote(url))
			}
		}
		message.Set("content", a.NewString(strings.Join(words, "\n")))
		if len(images.GetArray()) > 0 {
			message.Set("images", images)
		}
	}
	return string(pyjson.Append(nil, v.MarshalTo(nil))), nil
}

// Event reads a line of a stream.
func (Ollama) Event(r *Reader, data []byte) (m Message, err error) {
	v, err := r.parse(&m, data)
	if v == nil {
		return m, err
	}
	message := v.Get("message")
	if m.Failure = foreign(v); message == nil && !v.GetBool("done") {
		return m, nil
	}
	m.Failure = ""
	m.Answer, m.Reasoning = message.GetStringBytes("content"), message.GetStringBytes("thinking")
	m.Calls = len(message.GetArray("tool_calls"))
	m.More = len(m.Reasoning) > 0 || m.Calls > 0
	m.Output = len(m.Answer) > 0 || m.More
	m.Counts = m.Output
	if !v.GetBool("done") {
		return m, nil
	}
	if m.end(v.GetStringBytes("done_reason"), nil); m.Finish == nil {
		m.end([]byte("stop"), nil)
	}
	m.Usage = Usage{Present: true, Input: countOf(v, "prompt_eval_count"), Output: countOf(v, "eval_count"), Cached: -1,
		Reasoning: -1}
	if took := v.Get("prompt_eval_duration"); took != nil { // in nanoseconds
		r.Clocks.Prefill = Milliseconds(took.GetFloat64() / 1e6)
	}
	return m, nil
}

// Whole reads an answer that is not a stream.
func (p Ollama) Whole(r *Reader, body []byte) (Message, error) {
	m, err := p.Event(r, body)
	m.Counts = m.Counts || m.Finish != nil
	return m, err
}
