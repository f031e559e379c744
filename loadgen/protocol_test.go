package loadgen

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"benchtop/datasets"
)

// The bodies are what Python's json.dumps makes of vLLM's payloads, byte for byte, however the extra fields are written.
// testdata/bodies.py makes the cases.
func TestBodies(t *testing.T) {
	var cases []struct {
		Name            string
		Chat            bool
		Model           string
		Text            string
		IDs             []int
		Messages, Media string
		MaxTokens       int `json:"max_tokens"`
		Extra           []Field
		Body            string
	}
	readGolden(t, "bodies.json", &cases)
	if len(cases) < 20 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		o := Options{Backend: OpenAI, Model: "org/M", Extra: c.Extra}
		if c.Chat {
			o.Backend = OpenAIChat
		}
		e := newEncoder(&o)
		turn := datasets.Turn{Text: c.Text, TokenIDs: c.IDs, MaxTokens: c.MaxTokens,
			Messages: json.RawMessage(c.Messages), Media: json.RawMessage(c.Media)}
		got, err := e.body([]byte("before"), c.Model, &turn)
		if err != nil || string(got) != "before"+c.Body {
			t.Errorf("%s: %v\n got %s\nwant %s", c.Name, err, got, c.Body)
		}
	}
}

func TestBodiesOfOtherShapes(t *testing.T) {
	chat := encoder{chat: true, model: "m"}
	if _, err := chat.body(nil, "", &datasets.Turn{TokenIDs: []int{1}}); err == nil || !strings.Contains(err.Error(), "--backend openai") {
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
		got, err := chat.body(nil, "", &c.turn)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

// What a request says of itself wins over what the user said of all, member by member of the body.
func TestOverrides(t *testing.T) {
	e := newEncoder(&Options{Backend: OpenAIChat, Model: "m", Extra: []Field{{"temperature", "0"}, {"tool_choice", `"none"`}}})
	turn := datasets.Turn{Text: "a", Messages: json.RawMessage(`[]`), Overrides: json.RawMessage(`{"tools":[{"b":1,"a":"\u00e9<"}],"tool_choice":"auto","max_completion_tokens":1.50}`), MaxTokens: 3}
	got, err := e.body(nil, "", &turn)
	want := `{"model": "m", "messages": [], "max_completion_tokens": 1.5, "stream": true, "stream_options": {"include_usage": true}, ` +
		`"temperature": 0, "tool_choice": "auto", "tools": [{"b": 1, "a": "\u00e9<"}]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	for _, bad := range []string{"[1]", "{", ""} {
		turn.Overrides = json.RawMessage(bad)
		if _, err := e.body(nil, "", &turn); err == nil || !strings.Contains(err.Error(), "overrides") {
			t.Errorf("overrides %q: %v, want an error", bad, err)
		}
	}
}

// A null leaves out what benchtop sends by itself, and is sent in fields that are the user's own.
func TestNullLeavesOut(t *testing.T) {
	for _, c := range []struct {
		name    string
		backend Backend
		extra   []Field
		turn    datasets.Turn
		want    string
	}{
		{"completions", OpenAI, []Field{{"ignore_eos", "true"}, {"ignore_eos", " null"}, {"repetition_penalty", "null"}, {"logprobs", "null"}, {"stop", "null"}},
			datasets.Turn{Text: "a", MaxTokens: 3},
			`{"model": "m", "prompt": "a", "max_tokens": 3, "stream": true, "stream_options": {"include_usage": true}, "stop": null}`},
		{"set again", OpenAI, []Field{{"max_tokens", "null"}, {"max_tokens", "5"}, {"temperature", "null"}, {"stream_options", "null"}},
			datasets.Turn{Text: "a", MaxTokens: 3},
			`{"model": "m", "prompt": "a", "repetition_penalty": 1.0, "logprobs": null, "stream": true, "max_tokens": 5}`},
		{"a turn's own", OpenAIChat, []Field{{"ignore_eos", "true"}},
			datasets.Turn{Messages: json.RawMessage(`[]`), Overrides: json.RawMessage(`{"ignore_eos": null, "tools": null}`)},
			`{"model": "m", "messages": [], "stream": true, "stream_options": {"include_usage": true}, "tools": null}`},
	} {
		e := newEncoder(&Options{Backend: c.backend, Model: "m", Extra: c.extra})
		got, err := e.body(nil, "", &c.turn)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
	o := Options{Backend: OpenAI, Extra: []Field{{"ignore_eos", "true"}, {"logprobs", "null"}, {"mine", "1"}}}
	if got, want := o.Optional(&datasets.Turn{Text: "a", MaxTokens: 3}), []string{"repetition_penalty", "stream_options", "ignore_eos"}; !slices.Equal(got, want) {
		t.Errorf("a server can do without %q, want %q", got, want)
	}
}

// BenchmarkBody is the encoding of a long prompt and of a picture, which happens between a slot and the first byte sent.
func BenchmarkBody(b *testing.B) {
	picture := json.RawMessage(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("iVBORw0KGgo/", 1<<17) + `"}}`)
	for name, turn := range map[string]datasets.Turn{
		"prompt":  {Text: strings.Repeat("A long prompt. ", 10_000), MaxTokens: 8},
		"accents": {Text: strings.Repeat("Très étrange. ", 10_000), MaxTokens: 8},
		"picture": {Text: "What is it?", Media: picture, MaxTokens: 8},
	} {
		b.Run(name, func(b *testing.B) {
			e := newEncoder(&Options{Backend: OpenAIChat, Model: "m"})
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf, _ = e.body(buf[:0], "", &turn)
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}

// bodyMember is a key of an object and its value, in the order of the text.
type bodyMember struct {
	key   string
	value json.RawMessage
}

func bodyMembers(t *testing.T, text string) (out []bodyMember) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		out = append(out, bodyMember{key.(string), value})
	}
	return out
}

// Bodies are those of vLLM 0.33.0's own request functions, byte for byte, for each backend there is.
func TestGoldenBodies(t *testing.T) {
	var golden struct {
		Cases []struct {
			Backend          Backend
			Name, Path, Body string
		}
	}
	readGolden(t, "bodies_0.33.json", &golden)
	for _, c := range golden.Cases {
		o := Options{Backend: c.Backend}
		var turn datasets.Turn
		tail := false // behind what vLLM sends always
		for _, m := range bodyMembers(t, c.Body) {
			switch m.key {
			case "model":
				_ = json.Unmarshal(m.value, &o.Model)
			case "prompt":
				if json.Unmarshal(m.value, &turn.Text) != nil {
					_ = json.Unmarshal(m.value, &turn.TokenIDs)
				}
			case "messages":
				var one []struct {
					Role    string
					Content []struct {
						Type, Text string
					}
				}
				if err := json.Unmarshal(m.value, &one); err == nil && len(one) == 1 && len(one[0].Content) == 1 && one[0].Content[0].Type == "text" {
					turn.Text = one[0].Content[0].Text
				} else {
					turn.Messages = m.value
				}
			case "max_tokens", "max_completion_tokens":
				_ = json.Unmarshal(m.value, &turn.MaxTokens)
			default:
				if tail || m.key == "logprobs" && string(m.value) != "null" {
					o.Extra = append(o.Extra, Field{m.key, string(m.value)})
				}
				tail = tail || m.key == "stream_options"
			}
		}
		e := newEncoder(&o)
		got, err := e.body(nil, "", &turn)
		if err != nil || string(got) != c.Body || c.Backend.Endpoint() != c.Path {
			t.Errorf("%s, %s: %v, path %s\n got %s\nwant %s", c.Backend, c.Name, err, c.Backend.Endpoint(), got, c.Body)
		}
	}
	if len(golden.Cases) == 0 {
		t.Error("no cases")
	}
}
