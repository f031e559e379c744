package loadgen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/hf/media"
	"benchtop/loadgen/protocol"
)

// TestSaltedBodies compares bodies byte for byte.
func TestSaltedBodies(t *testing.T) {
	field := Salt{Mode: SaltField, Text: "run é"}
	prefix := Salt{Mode: SaltPrefix, Text: "run X", IDs: []int{7, 8}}
	const completion = `{"model": "m", "prompt": %, "repetition_penalty": 1.0, "max_tokens": 2, "logprobs": null, ` +
		`"stream": true, "stream_options": {"include_usage": true}`
	const chat = `{"model": "m", "messages": %, "max_completion_tokens": 2, "stream": true, "stream_options": ` +
		`{"include_usage": true}`
	messages := func(s string) datasets.Turn { return datasets.Turn{Messages: json.RawMessage(s), MaxTokens: 2} }
	for _, c := range []struct {
		name  string
		salt  Salt
		chat  bool
		extra []protocol.Field
		turn  datasets.Turn
		want  string // the prompt, and the fields behind the last
		more  string
	}{
		{name: "none", turn: datasets.Turn{Text: "a", MaxTokens: 2}, want: `"a"`},
		{name: "field", salt: field, turn: datasets.Turn{Text: "a", MaxTokens: 2}, want: `"a"`,
			more: `, "cache_salt": "run \u00e9"`},
		{name: "field, ids", salt: field, turn: datasets.Turn{TokenIDs: []int{1}, MaxTokens: 2}, want: `[1]`,
			more: `, "cache_salt": "run \u00e9"`},
		{name: "field, chat", salt: field, chat: true, extra: []protocol.Field{{Name: "seed", JSON: "1"}},
			turn: datasets.Turn{Text: "a", MaxTokens: 2},
			want: `[{"role": "user", "content": [{"type": "text", "text": "a"}]}]`,
			more: `, "cache_salt": "run \u00e9", "seed": 1`},
		{name: "the user's own", salt: field, extra: []protocol.Field{{Name: "seed", JSON: "1"},
			{Name: "cache_salt", JSON: `"mine"`}}, turn: datasets.Turn{Text: "a", MaxTokens: 2},
			want: `"a"`, more: `, "cache_salt": "mine", "seed": 1`},
		{name: "line", salt: prefix, turn: datasets.Turn{Text: "a", MaxTokens: 2}, want: `"run X\na"`},
		{name: "ids", salt: prefix, turn: datasets.Turn{TokenIDs: []int{1, 2}, MaxTokens: 2}, want: `[7, 8, 1, 2]`},
		{name: "no ids in the prompt", salt: prefix, turn: datasets.Turn{TokenIDs: []int{}, MaxTokens: 2},
			want: `[7, 8]`},
		{name: "chat", salt: prefix, chat: true,
			turn: datasets.Turn{Text: "a", Media: json.RawMessage(`{"type":"image_url"}`), MaxTokens: 2},
			want: `[{"role": "user", "content": [{"type": "text", "text": "run X\na"}, {"type": "image_url"}]}]`},
		{name: "messages", salt: prefix, chat: true,
			turn: messages(` [ {"role":"system","content" : "s"},{"role":"user","content":"u"}]`),
			want: `[{"role": "system", "content": "run X\ns"}, {"role": "user", "content": "u"}]`},
		{name: "parts", salt: prefix, chat: true,
			turn: messages(`[{"content":[{"type":"image_url","image_url":{"text":"no"}},{"type":"text", "text": ` +
				`""}],"role":"user"}]`),
			want: `[{"content": [{"type": "image_url", "image_url": {"text": "no"}}, {"type": "text", "text": "run ` +
				`X\n"}], "role": "user"}]`},
		{name: "a message without text first", salt: prefix, chat: true,
			turn: messages(`[{"role":"assistant","content":null,"tool_calls":[{"content":"no"}]},` +
				`{"content":[{"type":"x"}]},{"content":"y"}]`),
			want: `[{"role": "assistant", "content": null, "tool_calls": [{"content": "no"}]}, {"content": [{"type": ` +
				`"x"}]}, {"content": "run X\ny"}]`},
	} {
		o := Options{Protocol: protocol.Default(), Model: "m", Extra: c.extra, Salt: c.salt}
		want := completion
		if c.chat {
			o.Protocol, want = protocol.Chat{}, chat
		}
		want = strings.Replace(want, "%", c.want, 1) + c.more + "}"
		e := newEncoder(&o)
		for range 2 { // the turn is shared, so it must be as it was
			assert.Equal(t, string(assert.Must(e.body(nil, "", "", &c.turn))(t)), want, "%s", c.name)
		}
	}
}

// With a salt for each request no two bodies are alike, whatever the prompt.
func TestSaltPerRequest(t *testing.T) {
	for _, mode := range []SaltMode{SaltField, SaltPrefix} {
		salt, err := NewSalt(mode, []int{5, 6, 7, 8, 9})
		assert.Fine(t, err)
		salt.PerRequest = true
		e := newEncoder(&Options{Protocol: protocol.Default(), Model: "m",
			Extra: []protocol.Field{{Name: "seed", JSON: "1"}}, Salt: salt})
		seen := map[string]bool{}
		for range 50 {
			got, err := e.body(nil, "", "", &datasets.Turn{Text: "a", MaxTokens: 2})
			if err != nil || seen[string(got)] || !strings.HasSuffix(string(got), `"seed": 1}`) {
				t.Fatalf("%s: %v, %s", mode, err, got)
			}
			seen[string(got)] = true
		}
	}
}

func TestSaltRefused(t *testing.T) {
	prefix := Salt{Mode: SaltPrefix, Text: "x"}
	for _, turn := range []datasets.Turn{
		{TokenIDs: []int{1}}, {Messages: json.RawMessage(`[]`)},
		{Messages: json.RawMessage(`[{"content":[{"type":"image_url"}]}]`)},
		{Messages: json.RawMessage(`{}`)}, {Messages: json.RawMessage(`[1]`)},
		{Messages: json.RawMessage(`[{"content":`)},
		{Batch: []datasets.Turn{{TokenIDs: []int{1}}}}, {Text: "said?", Audio: &media.Audio{}},
	} {
		_, err := prefix.onto(turn)
		assert.Fails(t, fmt.Sprintf("%+v", turn), err, "cannot be made cold")
	}
	for _, s := range []Salt{{Mode: SaltField}, {Mode: SaltPrefix}, {Mode: "other", Text: "x"}} {
		if s.check() == nil {
			t.Errorf("%+v: no error", s)
		}
	}
	if _, err := NewSalt("other", nil); err == nil {
		t.Error("a mode that there is not: no error")
	}
}

func TestSaltOntoBatch(t *testing.T) {
	s := Salt{Mode: SaltPrefix, Text: "x", IDs: []int{9}}
	got, err := s.onto(datasets.Turn{Batch: []datasets.Turn{{Text: "q"}, {TokenIDs: []int{1}}}})
	if err != nil || got.Batch[0].Text != "x\nq" || !slices.Equal(got.Batch[1].TokenIDs, []int{9, 1}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNewSalt(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		s, err := NewSalt(SaltPrefix, []int{5, 6})
		if err != nil || s.check() != nil || seen[s.Text] || len(s.IDs) != saltIDs || len(s.Line()) > 20 {
			t.Fatalf("%+v, %v", s, err)
		}
		seen[s.Text] = true
	}
	if s, err := NewSalt(NoSalt, []int{1}); err != nil || s.Text != "" || s.IDs != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// FuzzSalt looks for messages that break when a salt is put into them.
func FuzzSalt(f *testing.F) {
	f.Add([]byte(`[{"role":"user","content":[{"type":"text","text":"a"}]}]`))
	f.Add([]byte(`[{"content":"a"}] `))
	s := Salt{Mode: SaltPrefix, Text: "x"}
	f.Fuzz(func(t *testing.T, messages []byte) {
		if len(messages) == 0 || !json.Valid(messages) {
			return
		}
		got, err := s.onto(datasets.Turn{Messages: messages})
		if err == nil && (!json.Valid(got.Messages) || len(got.Messages) != len(messages)+len(`x\n`)) {
			t.Errorf("%s became %s", messages, got.Messages)
		}
	})
}
