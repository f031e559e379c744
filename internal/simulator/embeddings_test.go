package simulator

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestEmbeddings(t *testing.T) {
	bubble(t, round(), func(c *client) {
		vector := func(body string) string { return at(c.answer("/v1/embeddings", body), "data", 0, "embedding") }
		begun := time.Now()
		answer := c.answer("/v1/embeddings",
			`{"model":"sim-8b","input":[`+ids(100)+`,`+ids(50)+`],"truncate_prompt_tokens":-1}`)
		took := time.Since(begun)
		if got := at(answer, "usage"); got != `{"completion_tokens":0,"completion_tokens_details":null,`+
			`"prompt_tokens":150,"prompt_tokens_details":null,"total_tokens":150}` {
			t.Fatalf("usage %s", got)
		}
		if n := len(answer["data"].([]any)); n != 2 || at(answer, "data", 1, "index") != "1" ||
			at(answer, "object") != `"list"` {
			t.Errorf("%d vectors: %.300s", n, at(answer))
		}
		begun = time.Now()
		one := vector(`{"input":` + ids(100) + `}`)
		if short := time.Since(begun); took <= short || short <= 0 {
			t.Errorf("150 tokens took %s, 100 of them %s", took, short)
		}
		if one != at(answer, "data", 0, "embedding") || one == at(answer, "data", 1, "embedding") {
			t.Error("a prompt has another vector a second time, or two prompts have the same")
		}
		assert.Equal(t, strings.Count(one, ",")+1, embeddingSize, "numbers")
		if got := vector(`{"input":"a b","dimensions":2}`); strings.Count(got, ",") != 1 {
			t.Errorf("two dimensions: %s", got)
		}
		if got := vector(`{"input":["a b"],"dimensions":3,"encoding_format":"base64"}`); len(got) != 18 ||
			got[0] != '"' {
			t.Errorf("three numbers in base64: %s", got)
		}
		c.refuses("/v1/embeddings", map[string]string{
			`{}`: "input is missing", `{"input":[]}`: "cannot be empty", `{"input":""}`: "cannot be empty",
			`{"input":3}`:    "must be a text",
			`{"input":[[]]}`: "cannot be empty", `{"input":[-1]}`: "out of vocabulary",
			`{"input":"a","encoding_format":"words"}`:   "must be float, base64",
			`{"input":"a","dimensions":0}`:              "between 1 and 256",
			`{"input":"a","truncate_prompt_tokens":-2}`: "between -1 and",
		})
		if status, _ := c.do(http.MethodPost, "/v1/embeddings", `{"model":"other","input":"a"}`); status !=
			http.StatusNotFound {
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
		c.refuses("/v1/embeddings", map[string]string{`{"input":` + ids(80) + `}`: "maximum context length is 50"})
		for most, want := range map[string]string{"-1": "49", "8": "8"} {
			cut := c.answer("/v1/embeddings", `{"input":`+ids(80)+`,"truncate_prompt_tokens":`+most+`}`)
			assert.Equal(t, at(cut, "usage", "prompt_tokens"), want, "cut to %s tokens", most)
		}
	})
}
