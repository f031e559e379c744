package protocol

import (
	"fmt"

	"benchtop/datasets"
)

// Embeddings is the protocol of embeddings: prompts go in, a vector for each comes back, and no tokens are made.
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

// Whole reads an answer. Its vectors are skipped, not parsed: they take many times their bytes then.
func (Embeddings) Whole(r *Reader, body []byte) (m Message, err error) {
	rest := []byte{'{'}
	vectors := false
	err = skim(body, func(name, value []byte) {
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
