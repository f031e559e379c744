package simulator

import (
	"fmt"
	"testing"

	"benchtop/internal/assert"
)

// Each prompt of a list is answered as by itself, and n answers to it differ.
func TestListOfPrompts(t *testing.T) {
	bubble(t, round(), func(c *client) {
		const fields = `"max_tokens":3,"ignore_eos":true`
		alone := at(c.answer("/v1/completions", `{"prompt":[2000,2001],`+fields+`}`), "choices", 0, "text")
		whole := c.answer("/v1/completions", `{"prompt":["hello",[2000,2001]],"n":2,`+fields+`}`)
		texts := map[string]bool{}
		for i := range 4 {
			assert.Equal(t, at(whole, "choices", i, "index"), fmt.Sprint(i), "choice %d has index", i)
			texts[at(whole, "choices", i, "text")] = true
		}
		if got := at(whole, "choices", 2, "text"); got != alone || len(texts) != 4 {
			t.Errorf("the first answer to the second prompt is %s, by itself %s; %d of 4 answers differ", got, alone,
				len(texts))
		}
		prompt := len(encode("hello")) + 2
		if got, want := at(whole, "usage"),
			fmt.Sprintf(`{"completion_tokens":12,"completion_tokens_details":null,"prompt_tokens":%d,`+
				`"total_tokens":%d}`, prompt, prompt+12); got != want {
			t.Errorf("usage is %s, want %s", got, want)
		}

		_, events := c.stream("/v1/completions",
			`{"prompt":["hello",[2000,2001]],"stream":true,"stream_options":{"include_usage":true},`+fields+`}`)
		if len(events) != 2*3+2 {
			t.Fatalf("%d events, want 3 tokens of two answers, usage and the end", len(events))
		}
		said, finished := map[string]string{}, 0
		for _, e := range events[:6] {
			v := c.parse(e.data)
			said[at(v, "choices", 0, "index")] += textAt(v, "choices", 0, "text")
			if textAt(v, "choices", 0, "finish_reason") == "length" {
				finished++
			}
		}
		if got := fmt.Sprintf("%q", said["1"]); got != alone || finished != 2 || said["0"] == "" {
			t.Errorf("the second answer is %s, by itself %s; %d of 2 finished", got, alone, finished)
		}
		if got := at(c.parse(events[6].data), "usage", "completion_tokens"); got != "6" {
			t.Errorf("the usage counts %s tokens, want 6", got)
		}
	})
}

// A fault in the middle of a stream hits a request with a list as it hits others.
func TestFaultInList(t *testing.T) {
	p := round()
	p.Faults = []Fault{{Kind: FaultErrorInStream, After: 2}}
	bubble(t, p, func(c *client) {
		_, events := c.stream("/v1/completions", `{"prompt":["a","b"],"stream":true,"max_tokens":4,"ignore_eos":true}`)
		if n := len(events); n != 4 || at(c.parse(events[2].data), "error", "message") == "absent" {
			t.Errorf("%d events, want two tokens, the error and the end: %v", n, events)
		}
	})
}
