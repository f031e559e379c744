package protocol

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"benchtop/datasets"
)

func golden(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ask is a request whose extra fields are written as users write them.
func ask(model string, turn *datasets.Turn, extra []Field) Ask {
	a := Ask{Model: model, Turn: turn}
	for _, f := range extra {
		a.Extra = append(a.Extra, f.AsPython())
	}
	return a
}

// The bodies are those of Python's json.dumps for vLLM's payloads, byte for byte, however the extra fields are written.
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
	golden(t, "bodies.json", &cases)
	if len(cases) < 20 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		turn := datasets.Turn{Text: c.Text, TokenIDs: c.IDs, MaxTokens: c.MaxTokens,
			Messages: json.RawMessage(c.Messages), Media: json.RawMessage(c.Media)}
		got, err := spoken(c.Chat).Body([]byte("before"), ask(cmp.Or(c.Model, "org/M"), &turn, c.Extra))
		if err != nil || string(got) != "before"+c.Body {
			t.Errorf("%s: %v\n got %s\nwant %s", c.Name, err, got, c.Body)
		}
	}
}

func TestBodiesOfOtherShapes(t *testing.T) {
	if _, err := (Chat{}).Body(nil, ask("m", &datasets.Turn{TokenIDs: []int{1}}, nil)); err == nil || !strings.Contains(err.Error(), "--backend openai") {
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
		got, err := Chat{}.Body(nil, ask("m", &c.turn, nil))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

// A request's overrides have precedence over the user's extra fields, member by member of the body.
func TestOverrides(t *testing.T) {
	turn := datasets.Turn{Text: "a", Messages: json.RawMessage(`[]`), Overrides: json.RawMessage(`{"tools":[{"b":1,"a":"\u00e9<"}],"tool_choice":"auto","max_completion_tokens":1.50}`), MaxTokens: 3}
	a := ask("m", &turn, []Field{{"temperature", "0"}, {"tool_choice", `"none"`}})
	got, err := Chat{}.Body(nil, a)
	want := `{"model": "m", "messages": [], "max_completion_tokens": 1.5, "stream": true, "stream_options": {"include_usage": true}, ` +
		`"temperature": 0, "tool_choice": "auto", "tools": [{"b": 1, "a": "\u00e9<"}]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	for _, bad := range []string{"[1]", "{", ""} {
		turn.Overrides = json.RawMessage(bad)
		if _, err := (Chat{}).Body(nil, a); err == nil || !strings.Contains(err.Error(), "overrides") {
			t.Errorf("overrides %q: %v, want an error", bad, err)
		}
	}
}

// A null leaves out a field of benchtop's own, and is sent in fields of the user.
func TestNullLeavesOut(t *testing.T) {
	for _, c := range []struct {
		name   string
		spoken Protocol
		extra  []Field
		turn   datasets.Turn
		want   string
	}{
		{"completions", Default(), []Field{{"ignore_eos", "true"}, {"ignore_eos", " null"}, {"repetition_penalty", "null"}, {"logprobs", "null"}, {"stop", "null"}},
			datasets.Turn{Text: "a", MaxTokens: 3},
			`{"model": "m", "prompt": "a", "max_tokens": 3, "stream": true, "stream_options": {"include_usage": true}, "stop": null}`},
		{"set again", Default(), []Field{{"max_tokens", "null"}, {"max_tokens", "5"}, {"temperature", "null"}, {"stream_options", "null"}},
			datasets.Turn{Text: "a", MaxTokens: 3},
			`{"model": "m", "prompt": "a", "repetition_penalty": 1.0, "logprobs": null, "stream": true, "max_tokens": 5}`},
		{"a turn's own", Chat{}, []Field{{"ignore_eos", "true"}},
			datasets.Turn{Messages: json.RawMessage(`[]`), Overrides: json.RawMessage(`{"ignore_eos": null, "tools": null}`)},
			`{"model": "m", "messages": [], "stream": true, "stream_options": {"include_usage": true}, "tools": null}`},
	} {
		got, err := c.spoken.Body(nil, ask("m", &c.turn, c.extra))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
	a := ask("m", &datasets.Turn{Text: "a", MaxTokens: 3}, []Field{{"ignore_eos", "true"}, {"logprobs", "null"}, {"mine", "1"}})
	if got, want := Optional(Default(), a), []string{"repetition_penalty", "stream_options", "ignore_eos"}; !slices.Equal(got, want) {
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
			a := ask("m", &turn, nil)
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf, _ = Chat{}.Body(buf[:0], a)
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

// inputTurn is the turn of an embeddings request: a text, ids, or a list of either.
func inputTurn(input json.RawMessage) (t datasets.Turn) {
	var texts []string
	var ids [][]int
	switch {
	case json.Unmarshal(input, &t.Text) == nil || json.Unmarshal(input, &t.TokenIDs) == nil:
	case json.Unmarshal(input, &texts) == nil:
		for _, text := range texts {
			t.Batch = append(t.Batch, datasets.Turn{Text: text})
		}
		t.TokenIDs = nil
	case json.Unmarshal(input, &ids) == nil:
		for _, of := range ids {
			t.Batch = append(t.Batch, datasets.Turn{TokenIDs: of})
		}
		t.TokenIDs = nil
	}
	return t
}

// Bodies are those of vLLM 0.33.0's own request functions, byte for byte, for each backend there is.
func TestGoldenBodies(t *testing.T) {
	var all struct {
		Cases []struct {
			Backend, Name, Path, Body string
		}
	}
	golden(t, "bodies_0.33.json", &all)
	for _, c := range all.Cases {
		p := Named(c.Backend)
		if p == nil {
			t.Errorf("%s: no such protocol", c.Backend)
			continue
		}
		var model string
		var extra []Field
		var turn datasets.Turn
		tail := false // behind the fields that vLLM always sends
		for _, m := range bodyMembers(t, c.Body) {
			switch m.key {
			case "model":
				_ = json.Unmarshal(m.value, &model)
			case "prompt":
				if json.Unmarshal(m.value, &turn.Text) != nil {
					_ = json.Unmarshal(m.value, &turn.TokenIDs)
				}
			case "input":
				turn = inputTurn(m.value)
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
					extra = append(extra, Field{m.key, string(m.value)})
				}
				tail = tail || m.key == "stream_options" || m.key == "truncate_prompt_tokens"
			}
		}
		got, err := p.Body(nil, ask(model, &turn, extra))
		if err != nil || string(got) != c.Body || p.Traits().Path != c.Path {
			t.Errorf("%s, %s: %v, path %s\n got %s\nwant %s", c.Backend, c.Name, err, p.Traits().Path, got, c.Body)
		}
	}
	if len(all.Cases) == 0 {
		t.Error("no cases")
	}
}
