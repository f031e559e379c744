//go:build !race

package protocol

import (
	"strings"
	"testing"
)

// The race detector drops parsers from their pool, so that a count under it would be one of the detector.

func TestDecodeAllocatesNothing(t *testing.T) {
	for _, data := range []string{
		`{"id":"c","choices":[{"index":0,"text":" word","logprobs":null,"finish_reason":null}]}`,
		`{"id":"c","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`,
		`{"choices":[],"metrics":{"queue_time_ms":12.5,"time_to_first_token_ms":80.25},"timings":{"prompt_ms":3}}`,
	} {
		p, r, b := spoken(false), reader(), []byte(data)
		if n := testing.AllocsPerRun(100, func() { _, _ = p.Event(r, b); r.Release() }); n != 0 {
			t.Errorf("%v allocations for %s", n, data)
		}
	}
}

// The vectors of an answer take no memory beside its bytes.
func TestEmbeddingsAreNotParsed(t *testing.T) {
	body := []byte(`{"data":[{"embedding":[` + strings.Repeat("0.0123,", 1<<20) + `0]}],"usage":{"prompt_tokens":3}}`)
	r := reader()
	if n := testing.AllocsPerRun(3, func() {
		if m, err := (Pooling{"openai-embeddings"}).Whole(r, body); err != nil || !m.Counts {
			t.Errorf("%+v, %v", m, err)
		}
		r.Release()
	}); n > 8 {
		t.Errorf("%v allocations", n)
	}
}
