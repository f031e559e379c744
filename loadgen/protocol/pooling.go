package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"benchtop/datasets"
	"benchtop/internal/jsonscan"
	"benchtop/internal/pyjson"
)

// Pooling is a protocol of answers without tokens and in one piece: vectors, classes or scores. Its name is one of
// poolings.
type Pooling struct{ Backend string }

// pooling is what is particular about such a protocol.
type pooling struct {
	name, path, suffix, member string
	forms                      datasets.Forms
	templates                  bool
	fields                     func(Ask) ([]bodyField, error)
}

// poolings are in the order of vLLM's names. As with vLLM, most have the server cut prompts that are too long for the
// model.
var poolings = []pooling{
	{"openai-embeddings", "/v1/embeddings", "embeddings", "data", asInput, false, inputFields},
	{"openai-embeddings-chat", "/v1/embeddings", "embeddings", "data", asContent, true, chatFields(appendMessages)},
	{"openai-embeddings-clip", "/v1/embeddings", "embeddings", "data", asContent, true, chatFields(appendClip)},
	{"openai-embeddings-vlm2vec", "/v1/embeddings", "embeddings", "data", asContent, true, vlm2vecFields},
	{"infinity-embeddings", "/embeddings", "embeddings", "data", asInput, false, infinityText},
	{"infinity-embeddings-clip", "/embeddings", "embeddings", "data", asInput | datasets.AsMedia, false,
		infinityFields},
	{"vllm-pooling", "/pooling", "pooling", "data", asInput, false, poolingFields},
	{"vllm-rerank", "/v1/rerank", "rerank", "results", datasets.AsDocuments, false, rerankFields},
}

const (
	asInput   = datasets.AsText | datasets.AsTokenIDs | datasets.AsBatch | datasets.AsInputs
	asContent = datasets.AsText | datasets.AsMedia
)

// truncate has the server cut a prompt to the model's context.
var truncate = bodyField{name: "truncate_prompt_tokens", json: "-1"}

func (p Pooling) row() *pooling {
	return &poolings[slices.IndexFunc(poolings, func(row pooling) bool { return row.name == p.Backend })]
}

// Traits are those of the protocol.
func (p Pooling) Traits() Traits {
	row := p.row()
	t := Traits{Name: row.name, Path: row.path, Suffixes: []string{row.suffix}, ContentType: "application/json",
		Member: row.member, Forms: row.forms,
		Templates: row.templates}
	if row.forms == datasets.AsDocuments {
		t.Only, t.DataSet = "a query and documents", "random-rerank"
	}
	return t
}

// Body appends a request.
func (p Pooling) Body(dst []byte, a Ask) ([]byte, error) {
	t := p.Traits()
	if err := t.Accepts(a.Turn); err != nil {
		return dst, err
	}
	fields, err := p.row().fields(a)
	if err != nil {
		return dst, err
	}
	return a.object(dst, t, fields)
}

func inputFields(a Ask) ([]bodyField, error) {
	return []bodyField{a.model(), {name: "input", turn: appendPrompts}, truncate}, nil
}

func chatFields(messages func([]byte, *datasets.Turn) []byte) func(Ask) ([]bodyField, error) {
	return func(a Ask) ([]bodyField, error) {
		return []bodyField{a.model(), {name: "messages", turn: messages}, truncate}, nil
	}
}

// appendClip leaves out the text beside a picture, since CLIP embeds one of them.
func appendClip(dst []byte, t *datasets.Turn) []byte {
	if len(t.Media) == 0 {
		return appendMessages(dst, t)
	}
	return appendMessages(dst, &datasets.Turn{Messages: t.Messages, Media: t.Media})
}

// vlm2vecFields put a picture first and its instruction behind it: the prompt is a question about the picture in
// requests with an odd number, as vLLM has it.
func vlm2vecFields(a Ask) ([]bodyField, error) {
	return chatFields(func(dst []byte, t *datasets.Turn) []byte {
		if len(t.Media) == 0 || len(t.Messages) > 0 {
			return appendMessages(dst, t)
		}
		text := "Represent the given image."
		if a.ID != "" && strings.IndexByte("13579", a.ID[len(a.ID)-1]) >= 0 {
			text = "Represent the given image with the following question: " + t.Text
		}
		dst = append(dst, `[{"role": "user", "content": [`...)
		dst = pyjson.Append(dst, t.Media)
		dst = append(dst, ", "...)
		return append(appendText(dst, text), "]}]"...)
	})(a)
}

// infinityText leaves out the picture beside a text, as vLLM does.
func infinityText(a Ask) ([]bodyField, error) {
	if a.Turn.Text != "" {
		return []bodyField{a.model(), {name: "input", turn: appendPrompts}}, nil
	}
	return infinityFields(a)
}

// infinityFields are those of the server Infinity: a text, or the address of a picture with its modality.
func infinityFields(a Ask) ([]bodyField, error) {
	if len(a.Turn.Media) == 0 {
		return []bodyField{a.model(), {name: "input", turn: appendPrompts}}, nil
	}
	part, err := fastjson.ParseBytes(a.Turn.Media)
	if err != nil {
		return nil, errors.New(
			"a request of this backend holds one picture; ask for one with --random-mm-base-items-per-request 1")
	}
	kind := string(part.GetStringBytes("type"))
	modality, _, _ := strings.Cut(kind, "_")
	return []bodyField{a.model(),
		{name: "input", json: string(pyjson.AppendString(nil, string(part.GetStringBytes(kind, "url"))))},
		{name: "modality", json: string(pyjson.AppendString(nil, modality))}}, nil
}

// poolingFields leave the input out where the turn's overrides are the whole request.
func poolingFields(a Ask) ([]bodyField, error) {
	fields := []bodyField{a.model(), truncate}
	if t := a.Turn; t.Text != "" || t.TokenIDs != nil || t.Batch != nil || t.Overrides == nil {
		fields = append(fields, bodyField{name: "input", turn: appendPrompts})
	}
	return fields, nil
}

func rerankFields(a Ask) ([]bodyField, error) {
	query, documents := &a.Turn.Batch[0], &datasets.Turn{Batch: a.Turn.Batch[1:]}
	return []bodyField{a.model(), {name: "query", json: string(appendPrompt(nil, query))},
		{name: "documents", json: string(appendPrompts(nil, documents))}, truncate}, nil
}

// Event is an error: the answers do not come as a stream.
func (p Pooling) Event(*Reader, []byte) (Message, error) {
	return Message{}, fmt.Errorf("answers of backend %s do not come as a stream", p.Backend)
}

// Whole reads an answer. Its output is skipped, because parsed vectors take many times their bytes. A binary one
// (encoding_format of bytes) has its usage in a header.
func (p Pooling) Whole(r *Reader, body []byte) (m Message, err error) {
	if r.Binary {
		return r.binary(body)
	}
	kept := []string{`"error"`, `"object"`, `"type"`, `"message"`, `"usage"`}
	rest, member := []byte{'{'}, pyjson.AppendString(nil, p.row().member)
	output := false
	if body, err = validObject(body); err != nil {
		return m, err
	}
	for name, value := range jsonscan.Members(body) {
		switch {
		case bytes.Equal(name, member):
			output = value[0] == '[' && !emptyList(value)
		case slices.Contains(kept, string(name)):
			if len(rest) > 1 {
				rest = append(rest, ',')
			}
			rest = append(append(append(rest, name...), ':'), value...)
		}
	}
	_, err = r.object(&m, append(rest, '}'))
	m.Counts, m.Tokens = output && m.Failure == "", 0
	return m, err
}

// binary reads an answer of vectors as they are in memory.
func (r *Reader) binary(body []byte) (m Message, err error) {
	if len(r.Metadata) > 0 {
		if _, err = r.object(&m, r.Metadata); err != nil {
			return m, fmt.Errorf("header metadata: %w", err)
		}
	}
	m.Counts, m.Tokens = len(body) > 0 && m.Failure == "", 0
	return m, nil
}

// validObject is a JSON object without the words that are no JSON, and without blanks before it.
func validObject(body []byte) ([]byte, error) {
	if !json.Valid(body) {
		if body = replaceWords(body, map[string]string{"NaN": "0", infinity: "0"}); !json.Valid(body) {
			return nil, fmt.Errorf("%w: %s", ErrNotJSON, Excerpt(body))
		}
	}
	if body = bytes.TrimLeft(body, blanks); body[0] != '{' {
		return nil, fmt.Errorf("expected a JSON object: %s", Excerpt(body))
	}
	return body, nil
}

const blanks = " \t\r\n"

func emptyList(b []byte) bool { return bytes.TrimLeft(b[1:], blanks)[0] == ']' }
