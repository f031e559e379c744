package simulator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// names are those of the events, in order; equal ones in a row count as one.
func names(events []event) (all []string) {
	for _, e := range events {
		if n := len(all); n == 0 || all[n-1] != e.name {
			all = append(all, e.name)
		}
	}
	return all
}

// text joins a field of the events with that name.
func (c *client) text(events []event, name string, path ...any) string {
	var all strings.Builder
	for _, e := range events {
		if e.name == name {
			all.WriteString(textAt(c.parse(e.data), path...))
		}
	}
	return all.String()
}

func (c *client) wants(what string, v any, pairs [][2]string) {
	c.t.Helper()
	for _, p := range pairs {
		assert.Equal(c.t, p[0], p[1], "%s: in %v", what, v)
	}
}

func TestResponsesStream(t *testing.T) {
	bubble(t, round(), func(c *client) {
		const body = `"model":"sim-8b","input":"one two three","max_output_tokens":6,"store":false,"ignore_eos":true,` +
			`"chat_template_kwargs":{"enable_thinking":true}`
		headers, events := c.stream("/v1/responses", `{`+body+`,"stream":true}`)
		want := []string{
			"response.created", "response.in_progress",
			"response.output_item.added", "response.content_part.added", "response.reasoning_text.delta",
			"response.reasoning_text.done", "response.content_part.done", "response.output_item.done",
			"response.output_item.added", "response.content_part.added", "response.output_text.delta",
			"response.output_text.done", "response.content_part.done", "response.output_item.done",
			"response.completed",
		}
		if got := names(events); !slices.Equal(got, want) {
			t.Fatalf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if headers != 0 || events[1].at != 0 || events[4].at == 0 {
			t.Errorf("headers at %v, in_progress at %v, the first token at %v: want the first two at once", headers,
				events[1].at, events[4].at)
		}
		var deltas []time.Duration
		for i, e := range events {
			v := c.parse(e.data)
			if v["sequence_number"] != float64(i) || v["type"] != e.name {
				t.Errorf("event %d is %s", i, e.data)
			}
			if strings.HasSuffix(e.name, ".delta") {
				deltas = append(deltas, e.at)
			}
		}
		if len(deltas) != 6 || deltas[5]-deltas[4] < 11*time.Millisecond {
			t.Errorf("6 tokens at %v, want steps between them", deltas)
		}
		thought, said := c.text(events, "response.reasoning_text.delta", "delta"),
			c.text(events, "response.output_text.delta", "delta")
		last := c.parse(events[len(events)-1].data)["response"]
		prompt := len(encode("user: one two three\nassistant:"))
		c.wants("the end", last, [][2]string{
			{at(last, "status"), `"incomplete"`},
			{at(last, "incomplete_details", "reason"), `"max_output_tokens"`},
			{textAt(last, "output", 0, "content", 0, "text"), thought},
			{textAt(last, "output", 1, "content", 0, "text"), said},
			{at(last, "usage", "input_tokens"), fmt.Sprint(prompt)},
			{at(last, "usage", "output_tokens"), "6"},
			{at(last, "usage", "output_tokens_details", "reasoning_tokens"), "2"},
			{at(last, "usage", "total_tokens"), fmt.Sprint(prompt + 6)},
			{c.text(events, "response.output_text.done", "text"), said},
		})
		whole := c.answer("/v1/responses", `{`+body+`}`)
		c.wants("whole answer", whole, [][2]string{
			{at(whole, "status"), at(last, "status")}, {at(whole, "usage"), at(last, "usage")},
			{at(whole, "model"), at(last, "model")}, {at(whole, "max_output_tokens"), at(last, "max_output_tokens")},
			{textAt(whole, "output", 0, "content", 0, "text"), thought},
			{textAt(whole, "output", 1, "content", 0, "text"), said},
		})
	})
}

func TestResponsesRequests(t *testing.T) {
	p := round()
	p.OutputMean = 3
	bubble(t, p, func(c *client) {
		tokens := func(body string) string { return at(c.answer("/v1/responses", body), "usage", "input_tokens") }
		plain := tokens(`{"input":"hello world"}`)
		if got := tokens(`{"input":[{"role":"user","content":"hello world"}]}`); got != plain {
			t.Errorf("a list of one message has %s tokens, its text %s", got, plain)
		}
		if got := tokens(`{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hello ` +
			`world"}]}]}`); got != plain {
			t.Errorf("a list of parts has %s tokens, its text %s", got, plain)
		}
		if got := tokens(`{"input":"hello world","instructions":"be brief"}`); got <= plain {
			t.Errorf("with instructions %s tokens, without %s", got, plain)
		}
		whole := c.answer("/v1/responses", `{"input":"how many","max_output_tokens":500}`)
		c.wants("an answer that ends by itself", whole,
			[][2]string{{at(whole, "status"), `"completed"`}, {at(whole, "incomplete_details"), "null"}})
		_, events := c.stream("/v1/responses",
			`{"input":"a","max_output_tokens":2,"ignore_eos":true,"stream":true,`+
				`"include":["message.output_text.logprobs"],"top_logprobs":3}`)
		delta := c.parse(events[4].data)
		c.wants("log probabilities", delta, [][2]string{
			{at(delta, "logprobs", 0, "token"), at(delta, "delta")}, {at(delta, "logprobs", 1), "absent"},
			{at(delta, "logprobs", 0, "top_logprobs", 3), "absent"},
		})
		c.refuses("/v1/responses", map[string]string{
			`{}`: "input is missing", `{"input":7}`: "a text or a list",
			`{"input":[{"type":"item_reference"}]}`:                              "item_reference",
			`{"input":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`: "input_text",
			`{"input":[]}`:                    "must not be empty",
			`{"input":"a","top_logprobs":21}`: "between 0 and 20", `{"input":"a","max_output_tokens":0}`: "at least 1",
		})
	})
}
