package prompts

import (
	"encoding/json"
	"testing"
	"time"

	"benchtop/datasets"
	"benchtop/internal/server"
	"benchtop/loadgen"
)

// prompt is a prompt of n token ids that no other number gives.
func prompt(number, n int) datasets.Conversation {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = number*10000 + i
	}
	return datasets.Conversation{Turns: []datasets.Turn{{TokenIDs: ids, InputTokens: n}}}
}

// letters counts a token for each byte.
type letters struct{}

func (letters) Count(text string) (int, error) { return len(text), nil }

func TestSalt(t *testing.T) {
	text := datasets.Conversation{Turns: []datasets.Turn{{Text: "a"}}}
	vllm := server.Model{ID: "m", Owner: "vllm"}
	for _, c := range []struct {
		name    string
		cache   string
		model   server.Model
		counter bool
		first   datasets.Conversation
		mode    loadgen.SaltMode
		words   string
	}{
		{"as it is", cacheAsIs, vllm, true, text, loadgen.NoSalt, ""},
		{"vLLM", cacheCold, vllm, true, text, loadgen.SaltField, "cold cache (cache_salt)"},
		{"another server", cacheCold, server.Model{ID: "m", Owner: "llamacpp"}, true, text, loadgen.SaltPrefix,
			"cold cache (about 15 tokens before each prompt)"},
		{"one that does not say", cacheCold, server.Model{ID: "m"}, true, text, loadgen.SaltPrefix,
			"cold cache (about 15 tokens before each prompt)"},
		{"ids, though text could be counted", cacheCold, server.Model{ID: "m"}, true, prompt(0, 9), loadgen.SaltPrefix,
			"cold cache (4 token ids before each prompt)"},
		{"text that is not counted", cacheCold, server.Model{ID: "m"}, false, text, loadgen.SaltPrefix,
			"cold cache (a short line before each prompt)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &Tokenizing{}
			if c.counter {
				m.Counter = letters{}
			}
			o := &RequestOptions{cache: c.cache}
			salt, words, err := o.Salt(c.model, &Supply{Tokenizing: m, First: c.first})
			if err != nil || salt.Mode != c.mode || words != c.words {
				t.Errorf("got %q %q, error %v; want %q %q", salt.Mode, words, err, c.mode, c.words)
			}
			if c.mode != loadgen.NoSalt && salt.Text == "" {
				t.Error("the salt is empty")
			}
		})
	}
}

// Pictures take so much memory that not all of them may be drawn before the run: those that are, are looked at.
func TestColdCacheLooksAtAllThatIsDrawn(t *testing.T) {
	text := datasets.Conversation{ID: "a",
		Turns: []datasets.Turn{
			{Text: "What is this?", Messages: json.RawMessage(`[{"role":"user","content":"What is this?"}]`)}}}
	picture := datasets.Conversation{ID: "b",
		Turns: []datasets.Turn{
			{Messages: json.RawMessage(`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]`)}}}
	all, one, other := prefetchers(t), pack(text), pack(picture)
	d := &Supply{First: text,
		ahead: all.Begin(datasets.ListOf([]datasets.Conversation{text, picture, text, text}, "fixed"),
			one.weight()+other.weight())}
	fine(t, d.ahead.Fill(t.Context(), nil, time.Second, silent))
	if _, all := d.ahead.drawn(); all {
		t.Fatal("everything is drawn")
	}
	salt := must(loadgen.NewSalt(loadgen.SaltPrefix, nil))(t)
	complains(t, d.take(salt), "--cache cold, prompt b: messages without a text")
}
