package protocol

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/hf/media"
)

func golden(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	assert.Fine(t, err)
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

// Bodies of other shapes. A null leaves out a field of benchtop's own, and is sent in fields of the user. A request's
// overrides have precedence over the user's extra fields, member by member.
func TestBodiesOfOtherShapes(t *testing.T) {
	const streams = `"stream": true, "stream_options": {"include_usage": true}`
	for _, c := range []struct {
		name   string
		spoken Protocol
		extra  []Field
		turn   datasets.Turn
		want   string
	}{
		{"no length", Chat{}, nil, datasets.Turn{Text: "a"},
			`{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}], ` + streams +
				`}`},
		{"media", Chat{}, nil, datasets.Turn{Text: "a", Media: json.RawMessage(`{"type": "image_url"}`)},
			`{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": ` +
				`"image_url"}]}], ` + streams + `}`},
		{"messages", Chat{}, nil,
			datasets.Turn{Text: "a", Messages: json.RawMessage(`[{"role": "user", "content": "b"}]`)},
			`{"model": "m", "messages": [{"role": "user", "content": "b"}], ` + streams + `}`},
		{"null in completions", Default(), []Field{{"ignore_eos", "true"}, {"ignore_eos", " null"},
			{"repetition_penalty", "null"}, {"logprobs", "null"}, {"stop", "null"}},
			datasets.Turn{Text: "a", MaxTokens: 3},
			`{"model": "m", "prompt": "a", "max_tokens": 3, ` + streams + `, "stop": null}`},
		{"set again", Default(),
			[]Field{{"max_tokens", "null"}, {"max_tokens", "5"}, {"temperature", "null"}, {"stream_options", "null"}},
			datasets.Turn{Text: "a", MaxTokens: 3},
			`{"model": "m", "prompt": "a", "repetition_penalty": 1.0, "logprobs": null, "stream": true, ` +
				`"max_tokens": ` +
				`5}`},
		{"a turn's own null", Chat{}, []Field{{"ignore_eos", "true"}},
			datasets.Turn{Messages: json.RawMessage(`[]`),
				Overrides: json.RawMessage(`{"ignore_eos": null, "tools": null}`)},
			`{"model": "m", "messages": [], ` + streams + `, "tools": null}`},
		{"overrides", Chat{}, []Field{{"temperature", "0"}, {"tool_choice", `"none"`}},
			datasets.Turn{Text: "a", Messages: json.RawMessage(`[]`), MaxTokens: 3,
				Overrides: json.RawMessage(
					`{"tools":[{"b":1,"a":"\u00e9<"}],"tool_choice":"auto","max_completion_tokens":1.50}`)},
			`{"model": "m", "messages": [], "max_completion_tokens": 1.5, ` + streams + `, "temperature": 0, ` +
				`"tool_choice": "auto", "tools": [{"b": 1, "a": "\u00e9<"}]}`},
	} {
		assert.Equal(t, string(assert.Must(c.spoken.Body(nil, ask("m", &c.turn, c.extra)))(t)), c.want, "%s", c.name)
	}
	a := ask("m", &datasets.Turn{Text: "a", MaxTokens: 3},
		[]Field{{"ignore_eos", "true"}, {"logprobs", "null"}, {"mine", "1"}})
	if got, want := Optional(Default(), a),
		[]string{"repetition_penalty", "stream_options", "ignore_eos"}; !slices.Equal(got, want) {
		t.Errorf("a server can do without %q, want %q", got, want)
	}
	_, err := (Chat{}).Body(nil, ask("m", &datasets.Turn{TokenIDs: []int{1}}, nil))
	assert.Fails(t, "token ids on the chat protocol", err, "--backend openai")
	for _, bad := range []string{"[1]", "{", ""} {
		_, err := (Chat{}).Body(nil, ask("m", &datasets.Turn{Text: "a", Overrides: json.RawMessage(bad)}, nil))
		assert.Fails(t, fmt.Sprintf("overrides %q", bad), err, "overrides")
	}
}

// BenchmarkBody is the encoding of a long prompt and of a picture, which happens between a slot and the first byte
// sent.
func BenchmarkBody(b *testing.B) {
	picture := json.RawMessage(
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("iVBORw0KGgo/",
			1<<17) + `"}}`)
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
	assert.Must(d.Token())(t)
	for d.More() {
		key, err := d.Token()
		assert.Fine(t, err)
		var value json.RawMessage
		assert.Fine(t, d.Decode(&value))
		out = append(out, bodyMember{key.(string), value})
	}
	return out
}

// goldenTurn is the turn behind a golden body, by what its name says of the prompt.
func goldenTurn(name string) (turn datasets.Turn, known bool) {
	const picture = `{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}`
	turn = datasets.Turn{Text: `Hé "x"`}
	texts := func(all ...string) (batch []datasets.Turn) {
		for _, text := range all {
			batch = append(batch, datasets.Turn{Text: text})
		}
		return batch
	}
	switch name {
	case "text", "no_served_name":
	case "ids_logprobs_ignore_eos_extra":
		turn = datasets.Turn{TokenIDs: []int{1, 2, 3}}
	case "ids":
		turn = datasets.Turn{TokenIDs: []int{1, 2}}
	case "batch":
		turn = datasets.Turn{Batch: texts("a", "b", "c")}
	case "batch_of_ids":
		turn = datasets.Turn{Batch: []datasets.Turn{{TokenIDs: []int{1, 2}}, {TokenIDs: []int{3}}}}
	case "three_documents":
		turn = datasets.Turn{Batch: texts("q", "d1", "d2", "d3")}
	case "text_and_image", "image", "image_even_id", "image_odd_id":
		turn.Media = json.RawMessage(picture)
	case "text_and_two_images":
		turn.Media = json.RawMessage(picture + "," + picture)
	case "image_with_empty_prompt":
		turn = datasets.Turn{Media: json.RawMessage(picture)}
	case "prompt_is_parts":
		turn = datasets.Turn{Text: "q", Media: json.RawMessage(picture)}
	case "prompt_is_messages":
		turn = datasets.Turn{Messages: json.RawMessage(`[{"role": "user", "content": "q"}]`)}
	case "chat_messages":
		turn = datasets.Turn{
			Messages: json.RawMessage(`[{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]`)}
	case "object_prompt":
		turn = datasets.Turn{Overrides: json.RawMessage(`{"model": "other", "data": "x"}`)}
	case "path":
		turn = datasets.Turn{
			Audio: &media.Audio{Name: "half.wav", Type: media.AudioType("half.wav"), Data: make([]byte, 16044)}}
	default:
		return turn, false
	}
	return turn, true
}

// goldenAsk is the request behind a golden body: its model, length and further fields are read back from the body.
func goldenAsk(c *goldenBody, turn *datasets.Turn) Ask {
	a := Ask{Model: "served", ID: c.Headers["x-request-id"], Turn: turn}
	if c.Name == "no_served_name" {
		a.Model = "org/id"
	}
	for _, m := range c.members {
		switch m.key {
		case "max_tokens", "max_completion_tokens", "max_output_tokens":
			_ = json.Unmarshal(m.value, &turn.MaxTokens)
		case "ignore_eos", "temperature", "top_p", "encoding_format", "task", "zz":
			a.Extra = append(a.Extra, Field{m.key, string(m.value)})
		case "logprobs":
			if string(m.value) != "null" {
				a.Extra = append(a.Extra, Field{m.key, string(m.value)})
			}
		}
	}
	return a
}

// goldenBody is a request of vLLM 0.33.0's own request functions. A form is a list of parts, each its header lines and
// its value.
type goldenBody struct {
	Backend, Name, Path, Body string
	Form                      [][2]any
	Headers                   map[string]string
	Inputs                    int  `json:"num_input_sequences"`
	Pooling                   bool `json:"pooling"`
	members                   []bodyMember
}

// formMembers are the text parts of a form as members of an object.
func formMembers(form [][2]any) (out []bodyMember) {
	for _, part := range form[1:] {
		_, name, _ := strings.Cut(part[0].([]any)[1].(string), `name="`)
		value := part[1].(string)
		value = cmp.Or(map[string]string{"True": "true", "False": "false"}[value], value)
		out = append(out, bodyMember{strings.TrimSuffix(name, `"`), json.RawMessage(value)})
	}
	return out
}

// formText is the form as it is sent, without its boundary, and with the file as a count of bytes.
func formText(form [][2]any) string {
	var b strings.Builder
	for _, part := range form {
		b.WriteString("--\r\n")
		for _, line := range part[0].([]any) {
			b.WriteString(line.(string) + "\r\n")
		}
		b.WriteString("\r\n" + part[1].(string) + "\r\n")
	}
	return b.String() + "----\r\n"
}

// Bodies are those of vLLM 0.33.0's own request functions, byte for byte.
func TestGoldenBodies(t *testing.T) {
	var all struct{ Cases []goldenBody }
	golden(t, "bodies_0.33.json", &all)
	if n := len(all.Cases); n != 29 {
		t.Errorf("%d bodies, want all 29", n)
	}
	sent := map[string]bool{}
	for _, c := range all.Cases {
		p := Named(c.Backend)
		turn, known := goldenTurn(c.Name)
		if p == nil || !known {
			t.Errorf("%s/%s: no such protocol or turn", c.Backend, c.Name)
			continue
		}
		sent[c.Backend] = true
		want := c.Body
		if c.Form != nil {
			c.members, want = formMembers(c.Form), formText(c.Form)
		} else {
			c.members = bodyMembers(t, c.Body)
		}
		body, err := p.Body(nil, goldenAsk(&c, &turn))
		got := string(body)
		if c.Form != nil {
			got = strings.Replace(strings.ReplaceAll(got, boundary, ""), string(turn.Audio.Data),
				fmt.Sprintf("<%d bytes>", len(turn.Audio.Data)), 1)
		}
		traits := p.Traits()
		if err != nil || got != want || traits.Path != c.Path {
			t.Errorf("%s/%s: %v\n got %s %s\nwant %s %s", c.Backend, c.Name, err, traits.Path, got, c.Path, want)
		}
		kind := strings.ReplaceAll(traits.ContentType, boundary, "…")
		if kind != c.Headers["Content-Type"] || traits.Streams == c.Pooling ||
			c.Pooling && max(1, traits.Inputs(&turn)) != c.Inputs {
			t.Errorf("%s/%s: content type %s, streams %t, %d inputs", c.Backend, c.Name, kind, traits.Streams,
				traits.Inputs(&turn))
		}
	}
	for _, p := range All() {
		if name := p.Traits().Name; !sent[name] &&
			!slices.Contains([]string{"sglang", "lmdeploy", "llama.cpp", "tgi", "anthropic-messages", "ollama"}, name) {
			t.Errorf("no body of backend %s", name)
		}
	}
}
