package protocol

import (
	"fmt"
	"testing"
	"time"

	"benchtop/internal/assert"
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
		{name: "completion", data: `{"choices":[{"text":" a","finish_reason":null}]}`, counts: true, output: true,
			tokens: none, answer: " a", input: none, total: none},
		{name: "escapes", data: `{"choices":[{"text":"\u00e9\n"}]}`, counts: true, output: true, tokens: none,
			answer: "é\n", input: none, total: none},
		{name: "finish", data: `{"choices":[{"text":"","finish_reason":"stop"}]}`, counts: true, tokens: none,
			finish: "stop", input: none, total: none},
		{name: "token ids", data: `{"choices":[{"text":"ab","token_ids":[1,2]}]}`, counts: true, output: true,
			tokens: 2, answer: "ab", input: none, total: none},
		{name: "usage alone", data: `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, tokens: none,
			input: 3, total: 4},
		{name: "usage null", data: `{"choices":[{"text":"a"}],"usage":null}`, counts: true, output: true, tokens: none,
			answer: "a", input: none, total: none},
		{name: "usage beside a choice",
			data: `{"choices":[{"text":"a"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`, counts: true,
			output: true, tokens: none, answer: "a", input: 3, total: 1},
		{name: "usage that is no number", data: `{"usage":{"prompt_tokens":"x","completion_tokens":-4}}`, tokens: none,
			input: none, total: none},
		{name: "usage beyond belief",
			data: `{"usage":{"prompt_tokens":9223372036854775800,"completion_tokens":4294967296}}`, tokens: none,
			input: none, total: none},
		{name: "usage of NaN", data: `{"choices":[{"text":"a"}],"usage":{"prompt_tokens":NaN,"completion_tokens":4}}`,
			counts: true, output: true, tokens: none, answer: "a", input: none, total: 4},
		{name: "usage of Infinity",
			data:   `{"choices":[{"text":"a\"Infinity\\"}],"usage":{"prompt_tokens":Infinity,"completion_tokens":4}}`,
			counts: true, output: true, tokens: none, answer: `a"Infinity\`, input: none, total: 4},
		{name: "usage of -Infinity", data: `{"usage":{"prompt_tokens":3,"completion_tokens": -Infinity}}`, tokens: none,
			input: 3, total: none},
		{name: "role", chat: true, data: `{"choices":[{"delta":{"role":"assistant","content":""}}]}`, tokens: none,
			input: none, total: none},
		{name: "null content", chat: true, data: `{"choices":[{"delta":{"content":null}}]}`, tokens: none, input: none,
			total: none},
		{name: "reasoning", chat: true, data: `{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, counts: true,
			output: true, tokens: none, input: none, total: none},
		{name: "reasoning by its other name", chat: true, data: `{"choices":[{"delta":{"reasoning":"hm"}}]}`,
			counts: true, output: true, tokens: none, input: none, total: none},
		{name: "tool call", chat: true, data: `{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`, counts: true,
			output: true, tokens: none, input: none, total: none},
		{name: "chat log probabilities", chat: true,
			data: `{"choices":[{"delta":{"content":"ab"},"logprobs":{"content":[{},{}]}}]}`, counts: true, output: true,
			tokens: 2, answer: "ab", input: none, total: none},
		{name: "error of nothing, in all its forms", data: `{"error":0,"choices":[{"text":"a"}]}`, counts: true,
			output: true, tokens: none, answer: "a", input: none, total: none},
		{name: "error of an empty list", data: `{"error":[],"choices":[{"text":"a"}]}`, counts: true, output: true,
			tokens: none, answer: "a", input: none, total: none},
		{name: "error true", data: `{"error":true}`, tokens: none, failure: "true", input: none, total: none},
		{name: "error number", data: `{"error":1}`, tokens: none, failure: "1", input: none, total: none},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := spoken(c.chat).Event(reader(), []byte(c.data))
			assert.Fine(t, err)
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
	for _, data := range []string{"", "{", "[]", "3", `{"a":Infinit}`, `{"a":Infinity`, `{"a":"Infinity\`,
		`{"choices":[{"text":"a"}]`, `{"choices":[{"text":"a"}]}x`} {
		if _, err := spoken(false).Event(reader(), []byte(data)); err == nil {
			t.Errorf("%q was accepted", data)
		}
	}
	_, err := spoken(true).Event(reader(), []byte(`{"choices":[{"text":"a"}]}`))
	assert.Fails(t, "a chat choice without delta", err, "delta")
}

// FuzzStreamJSON: foreign bytes never panic, accepted ones are JSON, and the message is sane: no impossible count of
// tokens, no text longer than the input, and the same again for the same bytes.
func FuzzStreamJSON(f *testing.F) {
	f.Add([]byte(`{"choices":[{"text":"a","token_ids":[1],"logprobs":{"tokens":["a"]},"finish_reason":"x"}],`+
		`"usage":{"prompt_tokens":1e99}}`), byte(2), false)
	f.Add([]byte(`{"choices":[{"delta":{"content":"a","tool_calls":[1]},"logprobs":{"content":[1,2]}}],`+
		`"usage":{"prompt_tokens_details":{"cached_tokens":3}}}`), byte(2), false)
	f.Add([]byte(`{"choices":[{"message":{"content":"a"}}],"usage":{"completion_tokens":-1}}`), byte(2), true)
	f.Add([]byte(`{"choices":[],"metrics":{"queue_time_ms":1e99,"time_to_first_token_ms":-0},`+
		`"timings":{"prompt_ms":"1"}}`), byte(2), false)
	f.Add([]byte(`{"error":[[]],"choices":[null]}`), byte(0), true)
	f.Add([]byte(`{"choices":[{"text":"\\Infinity"}],"usage":{"prompt_tokens":-Infinity},`+
		`"timings":{"prompt_ms":Infinity}}`), byte(0), false)
	f.Add([]byte(`{"type":"response.completed","response":{"incomplete_details":{"reason":1},`+
		`"usage":{"input_tokens":-1}}}`), byte(3), false)
	f.Add([]byte(`{"type":"message_delta","delta":{"stop_reason":[]},"usage":{"input_tokens":2147483648,`+
		`"cache_read_input_tokens":2147483648}}`), byte(4), false)
	f.Add([]byte(`{"output":[{"content":[{"text":"a"},null]},3],"content":[{"text":"a"},{}]}`), byte(3), true)
	f.Add([]byte(`{"results":[{"index":0}],"data":[1],"usage":{"prompt_tokens":3}}`), byte(13), true)
	f.Fuzz(func(t *testing.T, data []byte, protocol byte, whole bool) {
		all := All()
		p, r := all[int(protocol)%len(all)], reader()
		read := p.Event
		if whole {
			read = p.Whole
		}
		m, err := read(r, data)
		first := fmt.Sprintf("%+v %v", m, err)
		if err == nil {
			if m.Tokens < -1 || m.Tokens > len(data) || len(m.Answer) > len(data) || len(m.Failure) > MaxMessage {
				t.Errorf("%d tokens, %d bytes of answer, %d of failure from %d", m.Tokens, len(m.Answer),
					len(m.Failure), len(data))
			}
			for _, n := range []int{m.Usage.Input, m.Usage.Output, m.Usage.Cached} {
				if n < -1 || n > 3*mostTokens {
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
		r.calls = 0
		if again, err := read(r, data); fmt.Sprintf("%+v %v", again, err) != first {
			t.Errorf("a second time: %+v %v, first %s", again, err, first)
		}
	})
}

// An event of each protocol that has types of its own, and an answer in one piece.
func TestTypedEvents(t *testing.T) {
	type seen struct {
		Counts, End               bool
		Answer, Reasoning, Finish string
		Failure                   string
		Input, Output, Cached     int
	}
	const none = -1
	for _, c := range []struct {
		name   string
		p      Protocol
		events []string
		whole  bool
		want   seen // of the last event
	}{
		{"message start", Messages{},
			[]string{`{"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}`}, false,
			seen{Input: 9, Output: none, Cached: none}},
		{"text", Messages{},
			[]string{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`}, false,
			seen{Counts: true, Answer: "a", Input: none, Output: none, Cached: none}},
		{"no text", Messages{},
			[]string{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}`}, false,
			seen{Input: none, Output: none, Cached: none}},
		{"thinking", Messages{},
			[]string{`{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}`}, false,
			seen{Counts: true, Reasoning: "hm", Input: none, Output: none, Cached: none}},
		{"a signature is no output", Messages{},
			[]string{`{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"x"}}`}, false,
			seen{Input: none, Output: none, Cached: none}},
		{"a tool call", Messages{},
			[]string{`{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{"}}`}, false,
			seen{Counts: true, Input: none, Output: none, Cached: none}},
		{"usage in two events", Messages{},
			[]string{`{"type":"message_start","message":{"usage":{"input_tokens":9,"cache_read_input_tokens":4,` +
				`"cache_creation_input_tokens":2}}}`,
				`{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":5}}`}, false,
			seen{Finish: "length", Input: 15, Output: 5, Cached: 4}},
		{"usage at the end", Messages{}, []string{`{"type":"message_start","message":{"usage":{"input_tokens":9}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":11,` +
				`"output_tokens":5}}`}, false,
			seen{Finish: "stop", Input: 11, Output: 5, Cached: none}},
		{"ping", Messages{}, []string{`{"type":"ping"}`}, false, seen{Input: none, Output: none, Cached: none}},
		{"message stop", Messages{}, []string{`{"type":"message_stop"}`}, false,
			seen{End: true, Input: none, Output: none, Cached: none}},
		{"overloaded", Messages{},
			[]string{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, false,
			seen{Failure: "Overloaded", Input: none, Output: none, Cached: none}},
		{"a message", Messages{},
			[]string{`{"type":"message","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},` +
				`{"type":"text","text":"b"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":4}}`},
			true,
			seen{Counts: true, Answer: "ab", Finish: "stop", Input: 3, Output: 4, Cached: none}},
		{"cached", Responses{},
			[]string{`{"type":"response.completed","response":{"usage":{"input_tokens":8,"output_tokens":2,` +
				`"input_tokens_details":{"cached_tokens":6}}}}`}, false,
			seen{Finish: "stop", Input: 8, Output: 2, Cached: 6}},
		{"cut", Responses{},
			[]string{`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},` +
				`"usage":{"input_tokens":8,"output_tokens":2}}}`}, false,
			seen{Finish: "length", Input: 8, Output: 2, Cached: none}},
		{"failed", Responses{},
			[]string{`{"type":"response.failed","response":{"error":{"code":"server_error","message":"no"}}}`}, false,
			seen{Failure: "no", Input: none, Output: none, Cached: none}},
		{"a response", Responses{},
			[]string{`{"status":"completed","output":[{"type":"reasoning","content":[{"type":"reasoning_text",` +
				`"text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"a"}]}],` +
				`"usage":{"input_tokens":3,"output_tokens":4}}`}, true,
			seen{Counts: true, Answer: "a", Reasoning: "hm", Finish: "stop", Input: 3, Output: 4, Cached: none}},
		{"a transcription", Audio{}, []string{`{"text":"hello","usage":{"type":"duration","seconds":3}}`}, true,
			seen{Counts: true, Answer: "hello", Input: none, Output: none, Cached: none}},
		{"no transcription", Audio{}, []string{`{}`}, true, seen{Input: none, Output: none, Cached: none}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reader()
			var m Message
			var usage Usage // of all events
			for _, data := range c.events {
				read := c.p.Event
				if c.whole {
					read = c.p.Whole
				}
				var err error
				if m, err = read(r, []byte(data)); err != nil {
					t.Fatal(err)
				}
				usage.Merge(m.Usage)
			}
			got := seen{m.Counts, m.End, string(m.Answer), string(m.Reasoning), string(m.Finish), m.Failure, none, none,
				none}
			if usage.Present {
				got.Input, got.Output, got.Cached = usage.Input, usage.Output, usage.Cached
			}
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// Tokens are kept where they are wanted: ids, and texts with their log probabilities, of completions and of chats.
func TestKeptTokens(t *testing.T) {
	none := metrics.Unsaid()
	for _, c := range []struct {
		data string
		chat bool
		want []metrics.OutputToken
	}{
		{`{"choices":[{"text":"ab","token_ids":[1,2],"logprobs":{"tokens":["a","b"],"token_logprobs":[-0.5,null]}}]}`,
			false, []metrics.OutputToken{{ID: 1, Text: "a", Logprob: -0.5}, {ID: 2, Text: "b", Logprob: none}}},
		{`{"choices":[{"text":"ab","token_ids":[1,2]}]}`, false,
			[]metrics.OutputToken{{ID: 1, Logprob: none}, {ID: 2, Logprob: none}}},
		{`{"choices":[{"delta":{"content":"ab"},"logprobs":{"content":[{"token":"a","logprob":-1},{"token":"b"}]}}]}`,
			true, []metrics.OutputToken{{ID: -1, Text: "a", Logprob: -1}, {ID: -1, Text: "b", Logprob: none}}},
		{`{"choices":[{"text":"a","token_ids":["x"],"logprobs":{"tokens":[7],"token_logprobs":"y"}}]}`, false,
			[]metrics.OutputToken{{Logprob: none}}},
		{`{"choices":[{"text":"a","logprobs":null}]}`, false, nil},
		{`{"choices":[{"text":"a","logprobs":[]}]}`, false, nil},
	} {
		var got []metrics.OutputToken
		r := reader()
		r.Tokens = &got
		assert.Must(spoken(c.chat).Event(r, []byte(c.data)))(t)
		r.Release()
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.data, got, c.want)
		}
	}
	var got []metrics.OutputToken
	r := reader()
	r.Tokens = &got
	for i := range 3 * tokensKept { // events that repeat each other, too
		assert.Must(r.Event(Default(), []byte(`{"choices":[{"text":"a","token_ids":[1,2]}]}`)))(t)
		r.Release()
		assert.Need(t, len(got), min(2*(i+1), tokensKept), "tokens are kept of %d events", i+1)
	}
}
