package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// Each turn of a conversation finds the prompt and the answer of the one before in the cache, to within a block,
// whatever the API and whether or not the answers are streamed.
func TestTurnsFindTheConversation(t *testing.T) {
	const turns, output = 5, 70
	for _, on := range []bool{true, false} {
		for _, name := range []string{"whole", "stream", "blank cut", "guided"} {
			p := cached()
			p.PrefixCache, p.MaxModelLen, p.Blocks = on, 4096, 4096
			all := logged(t, p, FullBodies, func(c *client) { converse(c, name, turns, output) })
			assert.Need(t, len(all), turns, "%s: lines", name)
			before := 0 // tokens of the turn before that are computed
			for i, line := range all {
				prompt, hits, out := int(line["prompt_tokens"].(float64)), int(line["cached_tokens"].(float64)),
					int(line["output_tokens"].(float64))
				if want := before / p.BlockSize * p.BlockSize; on && hits != want || !on && hits != 0 {
					t.Errorf("%s, cache %v, turn %d: %d of %d tokens cached, want %d", name, on, i, hits, prompt, want)
				}
				before = prompt + out - 1 // the last token of an answer is never computed
			}
		}
	}
}

// converse sends the turns of a conversation, each with the answers before.
func converse(c *client, how string, turns, output int) {
	var messages []map[string]string
	for turn := range turns {
		messages = append(messages, map[string]string{"role": "user",
			"content": fmt.Sprintf("Question %d: %s?", turn, strings.Repeat("why ", 3*turn+1))})
		list := assert.Must(json.Marshal(messages))(c.t)
		body := fmt.Sprintf(`{"messages":%s,"max_tokens":%d,"ignore_eos":true`, list, output)
		var text string
		switch how {
		case "stream":
			_, events := c.stream("/v1/chat/completions", body+`,"stream":true}`)
			for _, e := range events[:len(events)-1] {
				text += textAt(c.parse(e.data), "choices", 0, "delta", "content")
			}
		default:
			if how == "guided" {
				body += `,"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"array",` +
					`"items":{"type":"integer"},"minItems":20}}}`
			}
			text = textAt(c.answer("/v1/chat/completions", body+`}`), "choices", 0, "message", "content")
		}
		if how == "blank cut" {
			text = strings.TrimSpace(text)
		}
		messages = append(messages, map[string]string{"role": "assistant", "content": text})
	}
}

// BenchmarkLongChat is the whole cost of a chat whose messages have a million bytes of text, some 300,000 tokens.
func BenchmarkLongChat(b *testing.B) {
	ids, answer := make([]int, 2000), randomAnswer(1)
	for i := range ids {
		ids[i] = answer.next()
	}
	var messages []map[string]string
	for size := 0; size < 1_000_000; {
		role := []string{"user", "assistant"}[len(messages)%2]
		text := decode(ids)
		if role == "user" {
			text = strings.Repeat("The quick brown fox jumps over the lazy dog, 42 times; \"quite\" often.\n", 80)
		}
		messages = append(messages, map[string]string{"role": role, "content": text})
		size += len(text)
	}
	list, err := json.Marshal(messages)
	assert.Fine(b, err)
	body := `{"messages":` + string(list) + `,"max_tokens":1,"ignore_eos":true}`
	s := New(long())
	defer s.Close()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body)))
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}
