package simulator

import (
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestChatStream(t *testing.T) {
	p := round()
	p.PrefillToken = 0 // the template's tokens are of no interest here
	p.ContextToken = 0
	bubble(t, p, func(c *client) {
		headers, events := c.stream("/v1/chat/completions", `{"model":"sim-8b","messages":[{"role":"user","content":
			[{"type":"text","text":"hello"},{"type":"text","text":"world"}]}],"max_completion_tokens":2,"max_tokens":9,"stream":true,
			"stream_options":{"include_usage":true},"ignore_eos":true}`)
		if headers != 0 {
			t.Errorf("headers after %v, want them at once", headers)
		}
		if len(events) != 5 {
			t.Fatalf("%d events, want role, 2 tokens, usage and the end: %v", len(events), events)
		}
		for i, want := range []time.Duration{10, 10, 21, 21, 21} {
			assert.Equal(t, events[i].at, want*time.Millisecond, "event %d at", i)
		}
		role, first, last, used := c.parse(events[0].data), c.parse(events[1].data), c.parse(events[2].data),
			c.parse(events[3].data)
		c.wants("stream", events, [][2]string{
			{at(role, "object"), `"chat.completion.chunk"`},
			{at(role, "choices", 0, "delta"), `{"content":"","role":"assistant"}`},
			{at(role, "choices", 0, "finish_reason"), "null"},
			{at(role, "usage"), "absent"},
			{at(first, "choices", 0, "delta", "role"), "absent"},
			{at(first, "choices", 0, "delta", "reasoning"), "absent"},
			{at(first, "choices", 0, "finish_reason"), "null"},
			{at(last, "choices", 0, "finish_reason"), `"length"`},
			{at(used, "choices"), "[]"},
			{at(used, "usage", "completion_tokens"), "2"},
			{events[4].data, "[DONE]"},
		})
		count := c.answer("/tokenize", `{"messages":[{"role":"user","content":"hello\nworld"}]}`)
		assert.Equal(t, at(used, "usage", "prompt_tokens"), at(count, "count"), "prompt tokens by usage")
	})
}

func TestChatReasoning(t *testing.T) {
	const body = `"messages":[{"role":"system","content":null},{"role":"user","content":"hi"}],"max_tokens":7,"ignore_eos":true,
		"chat_template_kwargs":{"enable_thinking":true},"logprobs":true,"top_logprobs":2,"return_token_ids":true`
	bubble(t, round(), func(c *client) {
		_, events := c.stream("/v1/chat/completions", `{"stream":true,`+body+`}`)
		assert.Need(t, len(events), 9, "events")
		var thought, said string
		for i, e := range events[1:8] {
			v := c.parse(e.data)
			thinking, saying := textAt(v, "choices", 0, "delta", "reasoning"),
				textAt(v, "choices", 0, "delta", "content")
			if (thinking != "") != (i < 2) || (saying != "") != (i >= 2) {
				t.Errorf("token %d: reasoning %q and content %q", i, thinking, saying)
			}
			thought += thinking
			said += saying
		}
		e := c.answer("/v1/chat/completions", `{`+body+`}`)
		c.wants("whole answer", e, [][2]string{
			{textAt(e, "choices", 0, "message", "reasoning"), thought},
			{textAt(e, "choices", 0, "message", "content"), said},
			{at(e, "object"), `"chat.completion"`},
			{at(e, "choices", 0, "message", "role"), `"assistant"`},
			{at(e, "choices", 0, "finish_reason"), `"length"`},
			{at(e, "choices", 0, "logprobs", "content", 0, "top_logprobs", 2), "absent"},
			{at(e, "choices", 0, "logprobs", "content", 0, "token"),
				at(e, "choices", 0, "logprobs", "content", 0, "top_logprobs", 0, "token")},
			{at(e, "choices", 0, "logprobs", "content", 7), "absent"},
			{at(e, "usage", "completion_tokens"), "7"},
		})
	})
}
