package simulator

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestEmbeddings(t *testing.T) {
	bubble(t, round(), func(c *client) {
		vector := func(body string) string {
			status, answer := c.do(http.MethodPost, "/v1/embeddings", body)
			if status != http.StatusOK {
				t.Fatalf("%s: status %d %s", body, status, answer)
			}
			return at(c.parse(answer), "data", 0, "embedding")
		}
		begun := time.Now()
		status, text := c.do(http.MethodPost, "/v1/embeddings", `{"model":"sim-8b","input":[`+ids(100)+`,`+ids(50)+`],"truncate_prompt_tokens":-1}`)
		took := time.Since(begun)
		answer := c.parse(text)
		if got := at(answer, "usage"); status != http.StatusOK || got != `{"completion_tokens":0,"completion_tokens_details":null,"prompt_tokens":150,"prompt_tokens_details":null,"total_tokens":150}` {
			t.Fatalf("status %d, usage %s", status, got)
		}
		if n := len(answer["data"].([]any)); n != 2 || at(answer, "data", 1, "index") != "1" || at(answer, "object") != `"list"` {
			t.Errorf("%d vectors: %.300s", n, text)
		}
		begun = time.Now()
		one := vector(`{"input":` + ids(100) + `}`)
		if short := time.Since(begun); took <= short || short <= 0 {
			t.Errorf("150 tokens took %s, 100 of them %s", took, short)
		}
		if one != at(answer, "data", 0, "embedding") || one == at(answer, "data", 1, "embedding") {
			t.Error("a prompt has another vector a second time, or two prompts have the same")
		}
		if n := strings.Count(one, ",") + 1; n != embeddingSize {
			t.Errorf("%d numbers, want %d", n, embeddingSize)
		}
		if got := vector(`{"input":"a b","dimensions":2}`); strings.Count(got, ",") != 1 {
			t.Errorf("two dimensions: %s", got)
		}
		if got := vector(`{"input":["a b"],"dimensions":3,"encoding_format":"base64"}`); len(got) != 18 || got[0] != '"' {
			t.Errorf("three numbers in base64: %s", got)
		}
		for body, words := range map[string]string{
			`{}`: "input is missing", `{"input":[]}`: "cannot be empty", `{"input":""}`: "cannot be empty", `{"input":3}`: "must be a text",
			`{"input":[[]]}`: "cannot be empty", `{"input":[-1]}`: "out of vocabulary",
			`{"input":"a","encoding_format":"words"}`: "must be float, base64", `{"input":"a","dimensions":0}`: "between 1 and 256",
			`{"input":"a","truncate_prompt_tokens":-2}`: "between -1 and",
		} {
			if status, text := c.do(http.MethodPost, "/v1/embeddings", body); status != http.StatusBadRequest || !strings.Contains(text, words) {
				t.Errorf("%s: status %d %s, want %q", body, status, text, words)
			}
		}
		if status, _ := c.do(http.MethodPost, "/v1/embeddings", `{"model":"other","input":"a"}`); status != http.StatusNotFound {
			t.Errorf("another model: status %d", status)
		}
		if s := c.server.engine.snapshot(); s.generationTokens != 0 || s.promptTokens == 0 {
			t.Errorf("%d tokens were generated, %d read", s.generationTokens, s.promptTokens)
		}
	})
}

// Prompts that are too long are refused unless they may be cut.
func TestLongEmbeddings(t *testing.T) {
	p := round()
	p.MaxModelLen = 50
	bubble(t, p, func(c *client) {
		if status, text := c.do(http.MethodPost, "/v1/embeddings", `{"input":`+ids(80)+`}`); status != http.StatusBadRequest || !strings.Contains(text, "maximum context length is 50") {
			t.Errorf("status %d %s", status, text)
		}
		for most, want := range map[string]string{"-1": "49", "8": "8"} {
			_, text := c.do(http.MethodPost, "/v1/embeddings", `{"input":`+ids(80)+`,"truncate_prompt_tokens":`+most+`}`)
			if got := at(c.parse(text), "usage", "prompt_tokens"); got != want {
				t.Errorf("cut to %s: %s tokens, want %s", most, got, want)
			}
		}
	})
}
