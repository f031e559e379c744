package simulator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMessagesStream(t *testing.T) {
	p := cached()
	p.MaxModelLen = 4096
	p.Blocks = 256
	bubble(t, p, func(c *client) {
		const body = `"model":"sim-8b","max_tokens":1030,"messages":[{"role":"user","content":"one two three four ` +
			`five six seven"}],"thinking":{"type":"enabled","budget_tokens":1024}`
		headers, events := c.stream("/v1/messages", `{`+body+`,"stream":true}`)
		want := []string{
			"message_start", "content_block_start", "ping", "content_block_delta", "content_block_stop",
			"content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
		}
		if got := names(events); !slices.Equal(got, want) {
			t.Fatalf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if headers != 0 || events[0].at < 10*time.Millisecond {
			t.Errorf("headers at %v, the message at %v: want it with the first token", headers, events[0].at)
		}
		var kinds, said []string
		text := ""
		for _, e := range events {
			if v := c.parse(e.data); e.name == "content_block_delta" {
				kind := textAt(v, "delta", "type")
				if n := len(kinds); n == 0 || kinds[n-1] != kind {
					kinds = append(kinds, kind)
				}
				if kind == "text_delta" {
					text += textAt(v, "delta", "text")
				}
				said = append(said, at(v, "index"))
			} else if v["type"] != e.name {
				t.Errorf("%s is %s", e.name, e.data)
			}
		}
		if want := []string{"thinking_delta", "signature_delta", "text_delta"}; !slices.Equal(kinds, want) ||
			said[0] != "0" || said[len(said)-1] != "1" {
			t.Errorf("deltas %v of blocks %s to %s", kinds, said[0], said[len(said)-1])
		}
		prompt := len(encode("user: one two three four five six seven\nassistant:"))
		start, end := c.parse(events[0].data), c.parse(events[len(events)-2].data)
		c.wants("usage", end, [][2]string{
			{at(start, "message", "usage", "input_tokens"), fmt.Sprint(prompt)},
			{at(start, "message", "content"), "[]"},
			{at(end, "usage", "input_tokens"), fmt.Sprint(prompt)},
			{at(end, "usage", "cache_read_input_tokens"), "0"},
			{at(end, "delta", "stop_reason"), `"end_turn"`},
		})
		whole := c.answer("/v1/messages", `{`+body+`}`)
		c.wants("whole answer", whole, [][2]string{
			{at(whole, "type"), `"message"`}, {at(whole, "role"), `"assistant"`},
			{at(whole, "content", 0, "type"), `"thinking"`},
			{textAt(whole, "content", 1, "text"), text},
			{at(whole, "stop_reason"), at(end, "delta", "stop_reason")},
			{at(whole, "usage", "output_tokens"), at(end, "usage", "output_tokens")},
			{at(whole, "usage", "input_tokens"), fmt.Sprint(prompt - 16)}, // the rest came from the cache
			{at(whole, "usage", "cache_read_input_tokens"), "16"},
		})
	})
}

func TestMessagesRequests(t *testing.T) {
	bubble(t, round(), func(c *client) {
		const model, hello = `"model":"sim-8b","max_tokens":2`, `"messages":[{"role":"user","content":"hello"}]`
		tokens := func(body string) string {
			v := c.answer("/v1/messages", body)
			if reason := textAt(v, "stop_reason"); reason != "max_tokens" && reason != "end_turn" {
				t.Errorf("%s: %s", body, reason)
			}
			return at(v, "usage", "input_tokens")
		}
		plain := tokens(`{` + model + `,` + hello + `}`)
		if got := tokens(
			`{` + model + `,"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}]}`); got != plain {
			t.Errorf("a list of blocks has %s tokens, its text %s", got, plain)
		}
		system := tokens(`{` + model + `,"system":"be brief",` + hello + `}`)
		if got := tokens(`{` + model + `,"system":[{"type":"text","text":"be brief"}],` + hello + `}`); got != system ||
			got <= plain {
			t.Errorf("a system of blocks has %s tokens, as a text %s, without %s", got, system, plain)
		}
		for body, words := range map[string]string{
			`{"max_tokens":2,` + hello + `}`:   "Model is required",
			`{"model":"sim-8b",` + hello + `}`: "max_tokens is missing",
			`{` + model + `}`: "messages must not be " +
				"empty",
			`{` + model + `,"system":"a","messages":[]}`: "messages must not be " +
				"empty",
			`{"model":"sim-8b","max_tokens":0,` + hello + `}`:                                  "at least 1",
			`{` + model + `,"messages":[{"role":"tool"}]}`:                                     "user or assistant",
			`{` + model + `,"messages":[{"content":"a"}]}`:                                     "user or assistant",
			`{` + model + `,` + hello + `,"thinking":{"type":"enabled","budget_tokens":1024}}`: "less than max_tokens",
			`{` + model + `,"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`:    "text, image, document",
		} {
			status, text := c.do("POST", "/v1/messages", body)
			if v := c.parse(text); status != 400 || at(v, "type") != `"error"` ||
				!strings.Contains(at(v, "error", "message"), words) {
				t.Errorf("%s: %d %s, want %q", body, status, text, words)
			}
		}
	})
}
