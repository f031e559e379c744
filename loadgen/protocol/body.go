package protocol

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

// Field is one member of a request body: its name and its value as JSON.
type Field struct{ Name, JSON string }

// Check is an error if the value is not JSON.
func (f Field) Check() error {
	if !json.Valid([]byte(f.JSON)) {
		return fmt.Errorf("request field %q: its value is not valid JSON", f.Name)
	}
	return nil
}

// AsPython is the field with its value as Python writes it.
func (f Field) AsPython() Field { return Field{f.Name, string(pyjson.Append(nil, []byte(f.JSON)))} }

// The members of a body that bound the length of its answer: of completions and old chat servers, and of chat.
const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// LengthFields are those of all protocols.
var LengthFields = []string{maxTokens, maxCompletionTokens, maxOutputTokens, "num_predict"}

// Length is the output length that the body of a request asks for, 0 where it names none. Of several fields the
// protocol's own counts, as with vLLM. most is the largest of them: a server may go by any.
func (a Ask) Length(field string) (length, most int) {
	if field == "" {
		return 0, 0
	}
	own, other := a.Turn.MaxTokens, 0
	set := func(name string, n int) {
		if name == field {
			own = n
		} else {
			other = max(other, n)
		}
	}
	for _, f := range a.Extra {
		if slices.Contains(LengthFields, f.Name) {
			n, _ := strconv.Atoi(f.JSON) // null is 0, and servers ignore a value that is not a number
			set(f.Name, max(n, 0))
		}
	}
	if a.Turn.Overrides != nil {
		for _, name := range LengthFields {
			if fastjson.Exists(a.Turn.Overrides, name) {
				set(name, max(fastjson.GetInt(a.Turn.Overrides, name), 0))
			}
		}
	}
	return cmp.Or(own, other), max(own, other)
}

// Choices is the number of answers to the request: n of the body for each of its prompts, at most mostChoices.
func (a Ask) Choices() int {
	n := 1
	for _, f := range a.Extra {
		if v, err := strconv.Atoi(f.JSON); err == nil && f.Name == "n" {
			n = v
		}
	}
	if a.Turn.Overrides != nil && fastjson.Exists(a.Turn.Overrides, "n") {
		n = fastjson.GetInt(a.Turn.Overrides, "n")
	}
	return min(max(1, n), mostChoices) * max(1, min(len(a.Turn.Batch), mostChoices))
}

// mostChoices is more than any server allows for a prompt.
const mostChoices = 1 << 14

// bodyField is a member of the body: fixed JSON, or a part of the turn.
type bodyField struct {
	name, json string
	turn       func([]byte, *datasets.Turn) []byte
}

// object appends a JSON object of a protocol's fields, the extra ones and the turn's own. The text is the same, byte
// for byte, as Python's json module makes of vLLM's payload: same order of keys, blanks after commas and colons,
// non-ASCII escaped.
func (a Ask) object(dst []byte, t Traits, fields []bodyField) ([]byte, error) {
	fields, err := a.complete(t, fields)
	if err != nil {
		return dst, err
	}
	return appendFields(dst, a.Turn, fields), nil
}

// appendFields appends an object.
func appendFields(dst []byte, t *datasets.Turn, fields []bodyField) []byte {
	dst = append(dst, '{')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = pyjson.AppendString(dst, f.name)
		dst = append(dst, ": "...)
		if f.turn != nil {
			dst = f.turn(dst, t)
		} else {
			dst = append(dst, f.json...)
		}
	}
	return append(dst, '}')
}

func (a Ask) complete(t Traits, fields []bodyField) ([]bodyField, error) {
	if err := t.Accepts(a.Turn); err != nil {
		return nil, err
	}
	if a.Turn.MaxTokens == 0 {
		fields = slices.DeleteFunc(fields, func(f bodyField) bool { return f.name == t.LengthField })
	}
	for _, x := range a.Extra {
		fields = setField(fields, x)
	}
	overrides, err := members(a.Turn.Overrides)
	for _, x := range overrides {
		fields = setField(fields, x)
	}
	return fields, err
}

func (a Ask) model() bodyField {
	return bodyField{name: "model", json: string(pyjson.AppendString(nil, a.Model))}
}

func (a Ask) limit(name string) bodyField {
	return bodyField{name: name, json: strconv.Itoa(a.Turn.MaxTokens)}
}

// streamed are the fields that ask for a stream with a count of tokens at its end.
func streamed() []bodyField {
	return []bodyField{{name: "stream", json: "true"}, {name: "stream_options", json: `{"include_usage": true}`}}
}

// runningUsage is the field of a stream that asks for a count of tokens in every event, beside that at its end.
var runningUsage = Field{"stream_options", `{"include_usage": true, "continuous_usage_stats": true}`}

// members are those of a JSON object, in its order; none of nil.
func members(object json.RawMessage) ([]Field, error) {
	if object == nil {
		return nil, nil
	}
	v, err := fastjson.ParseBytes(object)
	var o *fastjson.Object
	if err == nil {
		o, err = v.Object()
	}
	if err != nil {
		return nil, fmt.Errorf("the request's overrides: %w", err)
	}
	var fields []Field
	o.Visit(func(key []byte, v *fastjson.Value) {
		fields = append(fields, Field{string(key), string(v.MarshalTo(nil))}.AsPython())
	})
	return fields, nil
}

// setField puts a field into its place, or leaves it out: null leaves an own field out.
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

// Fields that benchtop puts into bodies without --extra-body: always, or for a flag or a data set of its own. Without
// the needed ones it would be another request; a server can do without the optional ones.
var (
	neededFields = append([]string{"model", "prompt", "messages", "input", "query", "documents", "modality", "system",
		"stream"}, LengthFields...)
	optionalFields = []string{"stream_options", "logprobs", "store", "language", "stream_include_usage",
		"stream_continuous_usage_stats", "ignore_eos", "temperature", "top_p", "top_k", "min_p",
		"frequency_penalty", "presence_penalty", "repetition_penalty", "truncate_prompt_tokens"}
)

// OwnField reports whether a field is one that benchtop sets by itself.
func OwnField(name string) bool {
	return slices.Contains(neededFields, name) || slices.Contains(optionalFields, name)
}

// Optional are the names of the own fields in the body of a request that a server can do without, in its order; none of
// a request that cannot be sent.
func Optional(p Protocol, a Ask) (names []string) {
	body, err := p.Body(nil, a)
	if err != nil {
		return nil
	}
	fields, _ := members(body)
	for _, f := range fields {
		if slices.Contains(optionalFields, f.Name) {
			names = append(names, f.Name)
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

// appendPrompts appends the prompt of a turn, or the list of those of its batch.
func appendPrompts(dst []byte, t *datasets.Turn) []byte {
	if t.Batch == nil {
		return appendPrompt(dst, t)
	}
	dst = append(dst, '[')
	for i := range t.Batch {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendPrompt(dst, &t.Batch[i])
	}
	return append(dst, ']')
}
