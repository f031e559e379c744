package loadgen

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"benchtop/datasets"
)

// The bodies are what Python's json.dumps makes of the payloads, byte for byte.
func TestBodies(t *testing.T) {
	data, err := os.ReadFile("testdata/bodies.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name      string
		Chat      bool
		Text      string
		IDs       []int
		MaxTokens int `json:"max_tokens"`
		Extra     []Field
		Body      string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		e := encoder{chat: c.Chat, model: "org/M", extra: c.Extra}
		got, err := e.body(nil, &datasets.Turn{Text: c.Text, TokenIDs: c.IDs, MaxTokens: c.MaxTokens})
		if err != nil || string(got) != c.Body {
			t.Errorf("%s: %v\n got %s\nwant %s", c.Name, err, got, c.Body)
		}
	}
}

func TestBodiesOfOtherShapes(t *testing.T) {
	chat := encoder{chat: true, model: "m"}
	if _, err := chat.body(nil, &datasets.Turn{TokenIDs: []int{1}}); err == nil || !strings.Contains(err.Error(), "--backend openai") {
		t.Errorf("token ids on the chat protocol: %v, want an error that names the way out", err)
	}
	for _, c := range []struct {
		name string
		turn datasets.Turn
		want string
	}{
		{"no length", datasets.Turn{Text: "a"}, `{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}], "stream": true, "stream_options": {"include_usage": true}}`},
		{"media", datasets.Turn{Text: "a", Media: json.RawMessage(`{"type": "image_url"}`)}, `{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}], "stream": true, "stream_options": {"include_usage": true}}`},
		{"messages", datasets.Turn{Text: "a", Messages: json.RawMessage(`[{"role": "user", "content": "b"}]`)}, `{"model": "m", "messages": [{"role": "user", "content": "b"}], "stream": true, "stream_options": {"include_usage": true}}`},
	} {
		got, err := chat.body(nil, &c.turn)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

// FuzzString: whatever the text, the escaped form is ASCII and reads back as the same text.
func FuzzString(f *testing.F) {
	f.Add("a\"\\\n\x00\x7fé€😀\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := appendString(nil, s)
		for _, b := range got {
			if b < ' ' || b > '~' {
				t.Fatalf("%q: byte %#x is not printable ASCII", got, b)
			}
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); strings.ToValidUTF8(s, "") == s && back != want {
			t.Errorf("%q reads back as %q", s, back)
		}
	})
}
