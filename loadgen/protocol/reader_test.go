package protocol

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
)

// spoken is chat or completions.
func spoken(chat bool) Protocol {
	if chat {
		return Chat{}
	}
	return Default()
}

func reader() *Reader {
	r := new(Reader)
	r.Begin(new(Parsers))
	return r
}

func TestDecode(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		name, data     string
		chat           bool
		counts, output bool
		tokens         int
		answer, finish string
		failure        string
		input, total   int // usage; none where absent
	}{
		{name: "completion", data: `{"choices":[{"text":" a","finish_reason":null}]}`, counts: true, output: true, tokens: none, answer: " a", input: none, total: none},
		{name: "escapes", data: `{"choices":[{"text":"\u00e9\n"}]}`, counts: true, output: true, tokens: none, answer: "é\n", input: none, total: none},
		{name: "finish", data: `{"choices":[{"text":"","finish_reason":"stop"}]}`, counts: true, tokens: none, finish: "stop", input: none, total: none},
		{name: "token ids", data: `{"choices":[{"text":"ab","token_ids":[1,2]}]}`, counts: true, output: true, tokens: 2, answer: "ab", input: none, total: none},
		{name: "usage alone", data: `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, tokens: none, input: 3, total: 4},
		{name: "usage null", data: `{"choices":[{"text":"a"}],"usage":null}`, counts: true, output: true, tokens: none, answer: "a", input: none, total: none},
		{name: "usage beside a choice", data: `{"choices":[{"text":"a"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`, counts: true, output: true, tokens: none, answer: "a", input: 3, total: 1},
		{name: "usage that is no number", data: `{"usage":{"prompt_tokens":"x","completion_tokens":-4}}`, tokens: none, input: none, total: none},
		{name: "usage beyond belief", data: `{"usage":{"prompt_tokens":9223372036854775800,"completion_tokens":4294967296}}`, tokens: none, input: none, total: none},
		{name: "usage of NaN", data: `{"choices":[{"text":"a"}],"usage":{"prompt_tokens":NaN,"completion_tokens":4}}`, counts: true, output: true, tokens: none, answer: "a", input: none, total: 4},
		{name: "usage of Infinity", data: `{"choices":[{"text":"a\"Infinity\\"}],"usage":{"prompt_tokens":Infinity,"completion_tokens":4}}`, counts: true, output: true, tokens: none, answer: `a"Infinity\`, input: none, total: 4},
		{name: "usage of -Infinity", data: `{"usage":{"prompt_tokens":3,"completion_tokens": -Infinity}}`, tokens: none, input: 3, total: none},
		{name: "role", chat: true, data: `{"choices":[{"delta":{"role":"assistant","content":""}}]}`, tokens: none, input: none, total: none},
		{name: "null content", chat: true, data: `{"choices":[{"delta":{"content":null}}]}`, tokens: none, input: none, total: none},
		{name: "reasoning", chat: true, data: `{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, counts: true, output: true, tokens: none, input: none, total: none},
		{name: "reasoning by its other name", chat: true, data: `{"choices":[{"delta":{"reasoning":"hm"}}]}`, counts: true, output: true, tokens: none, input: none, total: none},
		{name: "tool call", chat: true, data: `{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`, counts: true, output: true, tokens: none, input: none, total: none},
		{name: "chat log probabilities", chat: true, data: `{"choices":[{"delta":{"content":"ab"},"logprobs":{"content":[{},{}]}}]}`, counts: true, output: true, tokens: 2, answer: "ab", input: none, total: none},
		{name: "error object", data: `{"error":{"message":"no","code":400}}`, tokens: none, failure: "no", input: none, total: none},
		{name: "error text", data: `{"error":"no"}`, tokens: none, failure: "no", input: none, total: none},
		{name: "error without a message", data: `{"error":{"code":400}}`, tokens: none, failure: `{"code":400}`, input: none, total: none},
		{name: "error of nothing, in all its forms", data: `{"error":0,"choices":[{"text":"a"}]}`, counts: true, output: true, tokens: none, answer: "a", input: none, total: none},
		{name: "error of an empty text", data: `{"error":"","choices":[{"text":"a"}]}`, counts: true, output: true, tokens: none, answer: "a", input: none, total: none},
		{name: "error of an empty object", data: `{"error":{},"choices":[{"text":"a"}]}`, counts: true, output: true, tokens: none, answer: "a", input: none, total: none},
		{name: "error of an empty list", data: `{"error":[],"choices":[{"text":"a"}]}`, counts: true, output: true, tokens: none, answer: "a", input: none, total: none},
		{name: "error true", data: `{"error":true}`, tokens: none, failure: "true", input: none, total: none},
		{name: "error number", data: `{"error":1}`, tokens: none, failure: "1", input: none, total: none},
		{name: "error false", data: `{"error":false,"choices":[{"text":"a"}]}`, counts: true, output: true, tokens: none, answer: "a", input: none, total: none},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := spoken(c.chat).Event(reader(), []byte(c.data))
			if err != nil {
				t.Fatal(err)
			}
			input, total := none, none
			if m.Usage.Present {
				input, total = m.Usage.Input, m.Usage.Output
			}
			if m.Counts != c.counts || m.Output != c.output || m.Tokens != c.tokens || string(m.Answer) != c.answer ||
				string(m.Finish) != c.finish || m.Failure != c.failure || input != c.input || total != c.total {
				t.Errorf("got %+v (answer %q, finish %q)", m, m.Answer, m.Finish)
			}
		})
	}
	for _, data := range []string{"", "{", "[]", "3", `{"a":Infinit}`, `{"a":Infinity`, `{"a":"Infinity\`, `{"choices":[{"text":"a"}]`, `{"choices":[{"text":"a"}]}x`} {
		if _, err := spoken(false).Event(reader(), []byte(data)); err == nil {
			t.Errorf("%q was accepted", data)
		}
	}
	if _, err := spoken(true).Event(reader(), []byte(`{"choices":[{"text":"a"}]}`)); err == nil || !strings.Contains(err.Error(), "delta") {
		t.Errorf("a chat choice without delta: %v", err)
	}
}

// FuzzStreamJSON: foreign bytes never panic, accepted ones are JSON, and the message is sane: no impossible count of tokens, no text
// longer than the input, and the same again for the same bytes.
func FuzzStreamJSON(f *testing.F) {
	f.Add([]byte(`{"choices":[{"text":"a","token_ids":[1],"logprobs":{"tokens":["a"]},"finish_reason":"x"}],"usage":{"prompt_tokens":1e99}}`), true, false)
	f.Add([]byte(`{"choices":[{"delta":{"content":"a","tool_calls":[1]},"logprobs":{"content":[1,2]}}],"usage":{"prompt_tokens_details":{"cached_tokens":3}}}`), true, false)
	f.Add([]byte(`{"choices":[{"message":{"content":"a"}}],"usage":{"completion_tokens":-1}}`), true, true)
	f.Add([]byte(`{"choices":[],"metrics":{"queue_time_ms":1e99,"time_to_first_token_ms":-0},"timings":{"prompt_ms":"1"}}`), true, false)
	f.Add([]byte(`{"error":[[]],"choices":[null]}`), false, true)
	f.Add([]byte(`{"choices":[{"text":"\\Infinity"}],"usage":{"prompt_tokens":-Infinity},"timings":{"prompt_ms":Infinity}}`), false, false)
	f.Fuzz(func(t *testing.T, data []byte, chat, whole bool) {
		p, r := spoken(chat), reader()
		read := p.Event
		if whole {
			read = p.Whole
		}
		m, err := read(r, data)
		first := fmt.Sprintf("%+v %v", m, err)
		if err == nil {
			if m.Tokens < -1 || m.Tokens > len(data) || len(m.Answer) > len(data) || len(m.Failure) > MaxMessage {
				t.Errorf("%d tokens, %d bytes of answer, %d of failure from %d", m.Tokens, len(m.Answer), len(m.Failure), len(data))
			}
			for _, n := range []int{m.Usage.Input, m.Usage.Output, m.Usage.Cached} {
				if n < -1 || n > mostTokens {
					t.Errorf("usage %+v", m.Usage)
				}
			}
			for _, at := range []time.Duration{r.Clocks.Queue, r.Clocks.Prefill} {
				if at != metrics.Never && (at < 0 || at > 24*time.Hour) {
					t.Errorf("clocks %+v", r.Clocks)
				}
			}
			if m.Output && !m.Counts || m.Ours && !m.Counts {
				t.Errorf("output that does not count: %+v", m)
			}
		}
		if again, err := read(r, data); fmt.Sprintf("%+v %v", again, err) != first {
			t.Errorf("a second time: %+v %v, first %s", again, err, first)
		}
	})
}
