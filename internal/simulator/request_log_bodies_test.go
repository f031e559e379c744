package simulator

import (
	"encoding/json"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// logged returns the lines of the log of f's requests.
func logged(t *testing.T, p Profile, bodies LoggedBodies, f func(*client)) (all []map[string]any) {
	t.Helper()
	var log lines
	bubble(t, p, func(c *client) {
		c.server.LogTo(&log)
		c.server.LogBodies(bodies)
		f(c)
	})
	for _, call := range log.calls {
		line := map[string]any{}
		assert.Fine(t, json.Unmarshal([]byte(call), &line))
		all = append(all, line)
	}
	return all
}

// In place of prompts the log has the numbers of their blocks: equal beginnings have equal ones.
func TestLoggedBlocks(t *testing.T) {
	ask := func(prompt, more string) string {
		return `{"prompt":[` + prompt + `],"max_tokens":1` + more + `}`
	}
	for _, on := range []bool{true, false} {
		p := cached()
		p.PrefixCache = on
		all := logged(t, p, PrefixBodies, func(c *client) {
			for _, body := range []string{
				ask(run(0, 100), ""),                           // 6 blocks and 4 tokens
				ask(run(0, 100), ""),                           // the same
				ask(run(0, 50)+","+run(500, 50), ""),           // 3 of them
				ask(run(0, 120), ""),                           // one more
				ask(run(500, 50), ""),                          // tokens that stood behind others before
				ask(run(0, 100), `,"cache_salt":"a"`),          // shares nothing
				ask(run(0, 10), ""),                            // no full block
				`{"prompt":[[1],[2]],"max_tokens":1}`,          // of several prompts there is none
				`{"prompt":"` + strings.Repeat("a", 48) + `"}`, // a text
			} {
				c.do("POST", "/v1/completions", body)
			}
		})
		want := []string{"[[0,6]]", "[[0,6]]", "[[0,3],[6,3]]", "[[0,6],[9,1]]", "[[10,3]]", "[[13,6]]", "absent",
			"absent", "[[19,1]]"}
		for i, line := range all {
			if got := at(line, "prompt_blocks"); got != want[i] || line["body"] != "" {
				t.Errorf("cache %v, line %d: %s, want %s; body %q", on, i, got, want[i], line["body"])
			}
			if size := at(line, "block_size"); size != "16" && i != 7 {
				t.Errorf("line %d: blocks of %s", i, size)
			}
		}
	}
	for _, bodies := range []LoggedBodies{FullBodies, NoBodies} {
		line := logged(t, cached(), bodies, func(c *client) { c.do("POST", "/v1/completions", ask("1", "")) })[0]
		if at(line, "prompt_blocks") != "absent" || at(line, "block_size") != "absent" ||
			(line["body"] == "") != (bodies == NoBodies) {
			t.Errorf("%s: %v", bodies, line)
		}
	}
}

// The answer in the log is the text that the client gets, whole and as a stream, without reasoning. What came from the
// cache is null where nothing was computed, and 0 without a cache.
func TestLoggedAnswers(t *testing.T) {
	const messages = `{"messages":[{"role":"user","content":"what is it that lies there in the long grass and does ` +
		`not move"}],"max_tokens":20,"ignore_eos":true`
	for _, on := range []bool{true, false} {
		p := cached()
		p.PrefixCache = on
		var texts []string
		all := logged(t, p, FullBodies, func(c *client) {
			text := func(path, body string, keys ...any) {
				texts = append(texts, textAt(c.answer(path, body), keys...))
			}
			text("/v1/chat/completions", messages+`}`, "choices", 0, "message", "content")
			text("/v1/chat/completions", messages+`,"chat_template_kwargs":{"enable_thinking":true}}`, "choices", 0,
				"message", "content")
			_, events := c.stream("/v1/chat/completions", messages+`,"stream":true}`)
			texts = append(texts, c.text(events[1:len(events)-1], "", "choices", 0, "delta", "content"))
			text("/v1/completions", `{"prompt":["a","b"],"n":2,"max_tokens":3}`, "choices", 0, "text")
			_, events = c.stream("/v1/completions", `{"prompt":[1,2],"n":2,"max_tokens":1,"stream":true}`)
			for _, e := range events[:2] {
				if e := c.parse(e.data); at(e, "choices", 0, "index") == "0" {
					texts = append(texts, textAt(e, "choices", 0, "text"))
				}
			}
			c.do("POST", "/v1/completions", `{"prompt":[]}`)
			texts = append(texts, "")
			c.do("POST", "/v1/embeddings", `{"input":"a text"}`)
			texts = append(texts, "")
		})
		for i, line := range all {
			if line["answer"] != texts[i] {
				t.Errorf("line %d: answer %q, want %q", i, line["answer"], texts[i])
			}
			cached := at(line, "cached_tokens")
			if refused := i == 5; refused && cached != "null" || !refused && !on && cached != "0" {
				t.Errorf("cache %v, line %d: cached %s", on, i, cached)
			}
			if i > 0 && i < 3 && on && cached == "0" {
				t.Errorf("line %d: nothing cached of a prompt that was read before", i)
			}
		}
		assert.Equal(t, len(all), len(texts), "lines")
	}
}
