//go:build !race

package protocol

import "testing"

// The race detector drops parsers from their pool, so that each event would take a new one.
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
