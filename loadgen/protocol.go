package loadgen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/valyala/fastjson"

	"benchtop/datasets"
	"benchtop/internal/pyjson"
)

// Backend is a request protocol, by vLLM's name for it.
type Backend string

const (
	// VLLM and OpenAI are the completions protocol; the two names mean the same.
	VLLM   Backend = "vllm"
	OpenAI Backend = "openai"
	// OpenAIChat is the chat protocol.
	OpenAIChat Backend = "openai-chat"
)

// Backends are the protocols there are.
func Backends() []Backend { return []Backend{VLLM, OpenAI, OpenAIChat} }

// Endpoint is the path a backend talks to unless told otherwise.
func (b Backend) Endpoint() string {
	if b == OpenAIChat {
		return "/v1/chat/completions"
	}
	return "/v1/completions"
}

// Suffix is what a URL for the backend has to end in.
func (b Backend) Suffix() string {
	if b == OpenAIChat {
		return "chat/completions"
	}
	return "completions"
}

// TakesTokenIDs reports whether a prompt may be sent as token ids.
func (b Backend) TakesTokenIDs() bool { return b != OpenAIChat }

// isEndpoint reports whether a text can be put into a request line as a path; "" stands for a backend's own.
func isEndpoint(s string) bool {
	for _, b := range []byte(s) {
		if b <= ' ' || b > '~' || b == '#' {
			return false
		}
	}
	return s == "" || s[0] == '/'
}

// Field is one member of a request body: its name and its value as JSON, however that is written.
type Field struct{ Name, JSON string }

func (f Field) check() error {
	if !json.Valid([]byte(f.JSON)) {
		return fmt.Errorf("request field %q: its value is not valid JSON", f.Name)
	}
	return nil
}

// encoder writes request bodies. The text is the same, byte for byte, as Python's json module makes of vLLM's payload:
// same order of keys, blanks after commas and colons, non-ASCII escaped.
type encoder struct {
	chat  bool
	model string
	// extra is set last and replaces fields of the same name in place.
	extra []Field
	salt  Salt
}

func newEncoder(o *Options) encoder {
	e := encoder{chat: o.Backend == OpenAIChat, model: o.Model, salt: o.Salt}
	for _, f := range slices.Concat(o.Salt.fields(), o.Extra) {
		e.extra = append(e.extra, Field{f.Name, string(pyjson.Append(nil, []byte(f.JSON)))})
	}
	return e
}

// The members of a body that bound the length of its answer: of completions and old chat servers, and of chat.
const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// lengthField is the one that a protocol has by itself.
func (e *encoder) lengthField() string {
	if e.chat {
		return maxCompletionTokens
	}
	return maxTokens
}

// length is the output length that the body of a turn asks for, 0 where it names none. Of two fields the protocol's own counts,
// as with vLLM. most is the larger of the two: a server may go by either.
func (e *encoder) length(turn *datasets.Turn) (length, most int) {
	own, other := turn.MaxTokens, 0
	set := func(name string, n int) {
		if name == e.lengthField() {
			own = n
		} else {
			other = n
		}
	}
	for _, f := range e.extra {
		if f.Name == maxTokens || f.Name == maxCompletionTokens {
			n, _ := strconv.Atoi(f.JSON) // null is 0, and what is no number no server heeds
			set(f.Name, max(n, 0))
		}
	}
	if turn.Overrides != nil {
		for _, name := range []string{maxTokens, maxCompletionTokens} {
			if fastjson.Exists(turn.Overrides, name) {
				set(name, max(fastjson.GetInt(turn.Overrides, name), 0))
			}
		}
	}
	return cmp.Or(own, other), max(own, other)
}

// body appends the request body for a turn to dst. model is asked for instead of the encoder's own unless it is "".
func (e *encoder) body(dst []byte, model string, turn *datasets.Turn) ([]byte, error) {
	if model == "" {
		model = e.model
	}
	salted, err := e.salt.onto(*turn)
	if err != nil {
		return dst, err
	}
	turn = &salted
	fields, err := e.fields(model, turn)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = pyjson.AppendString(dst, f.name)
		dst = append(dst, ": "...)
		if f.turn != nil {
			dst = f.turn(dst, turn)
		} else {
			dst = append(dst, f.json...)
		}
	}
	return append(dst, '}'), nil
}

// bodyField is a member of the body: fixed JSON, or something of the turn.
type bodyField struct {
	name, json string
	turn       func([]byte, *datasets.Turn) []byte
}

func (e *encoder) fields(name string, turn *datasets.Turn) ([]bodyField, error) {
	model := bodyField{name: "model", json: string(pyjson.AppendString(nil, name))}
	limit := strconv.Itoa(turn.MaxTokens)
	stream := bodyField{name: "stream", json: "true"}
	usage := bodyField{name: "stream_options", json: `{"include_usage": true}`}
	var fields []bodyField
	if e.chat {
		if turn.TokenIDs != nil {
			return nil, fmt.Errorf("backend openai-chat cannot send token ids; use --backend openai, or a data set of texts")
		}
		fields = []bodyField{model, {name: "messages", turn: appendMessages},
			{name: maxCompletionTokens, json: limit}, stream, usage}
	} else {
		fields = []bodyField{model, {name: "prompt", turn: appendPrompt}, {name: "repetition_penalty", json: "1.0"},
			{name: maxTokens, json: limit}, {name: "logprobs", json: "null"}, stream, usage}
	}
	if turn.MaxTokens == 0 {
		fields = slices.DeleteFunc(fields, func(f bodyField) bool {
			return f.name == e.lengthField()
		})
	}
	for _, x := range e.extra {
		fields = setField(fields, x)
	}
	overrides, err := members(turn.Overrides)
	for _, x := range overrides {
		fields = setField(fields, x)
	}
	return fields, err
}

// members are those of a JSON object, in its order; none of nil.
func members(object json.RawMessage) ([]Field, error) {
	if object == nil {
		return nil, nil
	}
	v, err := fastjson.ParseBytes(object)
	if err != nil {
		return nil, fmt.Errorf("the request's overrides: %w", err)
	}
	o, err := v.Object()
	if err != nil {
		return nil, fmt.Errorf("the request's overrides: %w", err)
	}
	var fields []Field
	o.Visit(func(key []byte, v *fastjson.Value) {
		fields = append(fields, Field{string(key), string(pyjson.Append(nil, v.MarshalTo(nil)))})
	})
	return fields, nil
}

// setField puts a field into its place, or leaves it out: see Options.Extra.
func setField(fields []bodyField, x Field) []bodyField {
	i := slices.IndexFunc(fields, func(f bodyField) bool { return f.name == x.Name })
	f := bodyField{name: x.Name, json: x.JSON}
	switch {
	case x.JSON == "null" && OwnField(x.Name):
		return slices.DeleteFunc(fields, func(f bodyField) bool { return f.name == x.Name })
	case i < 0:
		return append(fields, f)
	}
	fields[i] = f
	return fields
}

// ownFields are those that benchtop puts into bodies without --extra-body: always, or for a flag or a data set of its own. The
// first of them are those without which a request would not be the one that was meant.
var ownFields = []string{
	"model", "prompt", "messages", "stream", maxTokens, maxCompletionTokens,
	"stream_options", "logprobs", "ignore_eos", "temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty", "repetition_penalty",
}

const needed = 6 // of ownFields

// OwnField reports whether a field is one that benchtop sets by itself.
func OwnField(name string) bool { return slices.Contains(ownFields, name) }

// IgnoresEOS reports whether the requests ask for answers of full length.
func (o *Options) IgnoresEOS() bool {
	ignores := false
	for _, f := range o.Extra {
		if f.Name == "ignore_eos" {
			ignores = f.JSON == "true"
		}
	}
	return ignores
}

// Optional are the names of the own fields in the body of a turn that a server can do without, in its order.
func (o *Options) Optional(turn *datasets.Turn) (names []string) {
	e := newEncoder(o)
	fields, _ := e.fields(e.model, turn) // a turn that cannot be sent has none
	for _, f := range fields {
		if slices.Contains(ownFields[needed:], f.name) {
			names = append(names, f.name)
		}
	}
	return names
}

func appendPrompt(dst []byte, t *datasets.Turn) []byte {
	if t.TokenIDs == nil {
		return pyjson.AppendString(dst, t.Text)
	}
	dst = append(dst, '[')
	for i, id := range t.TokenIDs {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendInt(dst, int64(id), 10)
	}
	return append(dst, ']')
}

func appendMessages(dst []byte, t *datasets.Turn) []byte {
	if len(t.Messages) > 0 {
		return pyjson.Append(dst, t.Messages)
	}
	dst = append(dst, `[{"role": "user", "content": [{"type": "text", "text": `...)
	dst = pyjson.AppendString(dst, t.Text)
	dst = append(dst, '}')
	if len(t.Media) > 0 {
		dst = append(dst, ", "...)
		dst = pyjson.Append(dst, t.Media)
	}
	return append(dst, "]}]"...)
}
