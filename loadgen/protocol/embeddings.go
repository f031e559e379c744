package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"

	"benchtop/datasets"
)

// Embeddings is the protocol of embeddings: the answer has a vector for each prompt, and no tokens.
type Embeddings struct{}

// Traits are those of embeddings.
func (Embeddings) Traits() Traits {
	return Traits{Name: "openai-embeddings", Path: "/v1/embeddings", Suffix: "embeddings", ContentType: "application/json",
		Member: "data", Forms: datasets.AsText | datasets.AsTokenIDs | datasets.AsBatch}
}

// Body appends an embeddings request. As with vLLM it has the server cut prompts that are too long for the model.
func (e Embeddings) Body(dst []byte, a Ask) ([]byte, error) {
	return a.object(dst, e.Traits(), []bodyField{a.model(), {name: "input", turn: appendInput}, {name: "truncate_prompt_tokens", json: "-1"}})
}

func appendInput(dst []byte, t *datasets.Turn) []byte {
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

// Event is an error: embeddings do not come as a stream.
func (Embeddings) Event(*Reader, []byte) (Message, error) {
	return Message{}, fmt.Errorf("embeddings do not come as a stream")
}

// Whole reads an answer. Its vectors are skipped, because parsed they take many times their bytes.
func (Embeddings) Whole(r *Reader, body []byte) (m Message, err error) {
	rest := []byte{'{'}
	vectors := false
	err = scanMembers(body, func(name, value []byte) {
		switch string(name) {
		case `"data"`:
			vectors = value[0] == '[' && !emptyList(value)
		case `"error"`, `"usage"`:
			if len(rest) > 1 {
				rest = append(rest, ',')
			}
			rest = append(append(append(rest, name...), ':'), value...)
		}
	})
	if err != nil {
		return m, err
	}
	_, err = r.object(&m, append(rest, '}'))
	m.Counts, m.Tokens = vectors && m.Failure == "", 0
	return m, err
}

// scanMembers calls each with the members of a JSON object as they are written, names in quotes. It does not parse the values.
func scanMembers(body []byte, each func(name, value []byte)) error {
	if !json.Valid(body) {
		if body = replaceWords(body, map[string]string{"NaN": "0", infinity: "0"}); !json.Valid(body) {
			return fmt.Errorf("%w: %s", ErrNotJSON, Excerpt(body))
		}
	}
	body = bytes.TrimLeft(body, blanks)
	if body[0] != '{' {
		return fmt.Errorf("expected a JSON object: %s", Excerpt(body))
	}
	for body = bytes.TrimLeft(body[1:], blanks+","); body[0] != '}'; body = bytes.TrimLeft(body, blanks+",") {
		n := valueLength(body)
		name := body[:n]
		body = bytes.TrimLeft(body[n:], blanks+":")
		n = valueLength(body)
		each(name, body[:n])
		body = body[n:]
	}
	return nil
}

const blanks = " \t\r\n"

// valueLength is the length in bytes of the first value of valid JSON.
func valueLength(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(b)
}

func emptyList(b []byte) bool { return bytes.TrimLeft(b[1:], blanks)[0] == ']' }
