package simulator

import (
	"encoding/json"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestRerank(t *testing.T) {
	bubble(t, round(), func(c *client) {
		const body = `"model":"sim-8b","query":"one two","documents":["three ` +
			`four","five","six"],"truncate_prompt_tokens":-1`
		begun := time.Now()
		status, text := c.do("POST", "/v1/rerank", `{`+body+`}`)
		took := time.Since(begun)
		var v struct {
			Usage   map[string]int
			Results []struct {
				Index    int
				Document map[string]any
				Score    float64 `json:"relevance_score"`
			}
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil || status != 200 || len(v.Results) != 3 {
			t.Fatalf("status %d, %v, %s", status, err, text)
		}
		read := 3*len(encode("one two")) + len(encode("three four")) + len(encode("five")) + len(encode("six"))
		if v.Usage["prompt_tokens"] != read || v.Usage["total_tokens"] != read ||
			took < 10*time.Millisecond+time.Duration(read)*100*time.Microsecond {
			t.Errorf("%v in %v, want %d tokens", v.Usage, took, read)
		}
		found := map[int]bool{}
		for i, r := range v.Results {
			found[r.Index] = true
			if want := []string{"three four", "five", "six"}[r.Index]; r.Document["text"] != want {
				t.Errorf("document %d is %v, want %q", r.Index, r.Document, want)
			}
			if r.Score < 0 || r.Score > 1 || i > 0 && r.Score > v.Results[i-1].Score {
				t.Errorf("scores are not in order: %s", text)
			}
		}
		assert.Equal(t, len(found), 3, "not all documents are there: %s", text)
		for _, path := range []string{"/rerank", "/v2/rerank"} {
			if _, other := c.do("POST", path, `{`+body+`}`); at(c.parse(other), "results") != at(c.parse(text),
				"results") {
				t.Errorf("%s: %s, want %s", path, other, text)
			}
		}
		if _, top := c.do("POST", "/rerank", `{`+body+`,"top_n":2}`); at(c.parse(top), "results",
			1) != at(c.parse(text), "results", 1) || at(c.parse(top), "results", 2) != "absent" {
			t.Errorf("two of %s are %s", text, top)
		}
		_, image := c.do("POST", "/rerank",
			`{"query":"a","documents":{"content":[{"type":"image_url","image_url":{"url":"x"}}]}}`)
		if at(c.parse(image), "results", 0, "document", "text") != "null" ||
			at(c.parse(image), "usage", "prompt_tokens") != "257" {
			t.Errorf("an image: %s", image)
		}
		c.refuses("/rerank", map[string]string{
			`{}`: "query is missing", `{"query":"a"}`: "must be given", `{"query":"a","documents":[]}`: "must be given",
			`{"query":[1],"documents":"a"}`:              "must be a text",
			`{"query":"a","documents":["a",7]}`:          "must be a text",
			`{"query":"a","documents":["b"],"top_n":-1}`: "top_n", `{"query":"","documents":[""]}`: "cannot be empty",
		})
	})
}

func TestScore(t *testing.T) {
	bubble(t, round(), func(c *client) {
		want := c.answer("/score", `{"queries":"a","documents":["b","c"]}`)
		pairs, ranked := c.answer("/score", `{"text_1":["a","a"],"text_2":["b","c"]}`),
			c.answer("/rerank", `{"query":"a","documents":["b"]}`)
		c.wants("pair by pair, and ranked", want, [][2]string{
			{at(pairs, "data"), at(want, "data")},
			{at(ranked, "results", 0, "relevance_score"), at(want, "data", 0, "score")},
		})
		c.refuses("/score",
			map[string]string{`{}`: "", `{"queries":["a","b"],"documents":["c"]}`: "", `{"queries":"a"}`: ""})
	})
}
