package protocol

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/jsonscan"
)

func TestWholeEmbeddings(t *testing.T) {
	const vectors = `"object": "list", "data": [{"index": 0, "embedding": [0.5, -1e-3, "]}\""]}]`
	for _, c := range []struct {
		name, body string
		counts     bool
		input      int // usage; -1 where absent
		failure    string
		words      string // of the error
	}{
		{"an answer", `{` + vectors + `, "usage": {"prompt_tokens": 7, "total_tokens": 7}}`, true, 7, "", ""},
		{"blanks and another order", " \n{ \"usage\" : {\"prompt_tokens\":7} , " + vectors + "\t}\r\n", true, 7, "",
			""},
		{"no usage", `{` + vectors + `}`, true, -1, "", ""},
		{"in base64", `{"data":[{"embedding":"AAAA"}],"usage":{"prompt_tokens":2}}`, true, 2, "", ""},
		{"vectors that Python wrote", `{"data":[{"embedding":[NaN,-Infinity,"NaN"]}],"usage":{"prompt_tokens":2}}`,
			true, 2, "", ""},
		{"no vectors", `{"data": [ ], "usage": {"prompt_tokens": 7}}`, false, 7, "", ""},
		{"no data", `{}`, false, -1, "", ""},
		{"a text for data", `{"data":"x"}`, false, -1, "", ""},
		{"an error", `{"error":{"message":"no room"},"data":[1]}`, false, -1, "no room", ""},
		{"no error", `{"error":null,"data":[1]}`, true, -1, "", ""},
		{"cut", `{"data": [1, 2`, false, -1, "", `not valid JSON: "{\"data\": [1, 2"`},
		{"empty", ``, false, -1, "", "not valid JSON"},
		{"a list", `[1]`, false, -1, "", "expected a JSON object: \"[1]\""},
		{"a stream", "data: {}\n\n", false, -1, "", "not valid JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reader()
			defer r.Release()
			m, err := Pooling{"openai-embeddings"}.Whole(r, []byte(c.body))
			if (err != nil) != (c.words != "") || err != nil && !strings.Contains(err.Error(), c.words) {
				t.Fatalf("error %v, want %q", err, c.words)
			}
			if err != nil {
				return
			}
			input := -1
			if m.Usage.Present {
				input = m.Usage.Input
			}
			if m.Counts != c.counts || m.Failure != c.failure || input != c.input || m.Tokens != 0 && m.Counts ||
				m.Output {
				t.Errorf("got %+v", m)
			}
		})
	}
}

func TestEmbeddingsDoNotStream(t *testing.T) {
	if _, err := (Pooling{"openai-embeddings"}).Event(reader(), []byte(`{}`)); err == nil {
		t.Error("an event was taken")
	}
}

// FuzzEmbeddings: an answer is read as by encoding/json, or refused with a message, twice alike.
func FuzzEmbeddings(f *testing.F) {
	for _, body := range []string{
		`{"data":[{"embedding":[1,2]}],"usage":{"prompt_tokens":3}}`, `{"error":"\u0000","data":[]}`,
		`{"a\"":{"b":["}"]},"data":[[]]}`,
		`{"usage":NaN}`, ` { } `, `{"":0,"data":[ 1 ]}`, `[`,
		`{"data":[` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := reader()
		m, err := Pooling{"openai-embeddings"}.Whole(r, body)
		first := fmt.Sprintf("%+v %v", m, err)
		r.Release()
		if m, err := (Pooling{"openai-embeddings"}).Whole(r, body); fmt.Sprintf("%+v %v", m, err) != first {
			t.Errorf("a second time: %+v %v, first %s", m, err, first)
		}
		r.Release()
		if len(m.Failure) > MaxMessage || m.Usage.Input > mostTokens || m.Counts && err != nil {
			t.Errorf("got %+v, %v", m, err)
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(body, &want) != nil || want == nil {
			return
		}
		got := map[string]json.RawMessage{}
		object, err := validObject(body)
		assert.Fine(t, err)
		for name, value := range jsonscan.Members(object) {
			var key string
			if err := json.Unmarshal(name, &key); err != nil {
				t.Errorf("name %s: %v", name, err)
			}
			got[key] = value
		}
		if !maps.EqualFunc(got, want, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestProtocolsByName(t *testing.T) {
	var names []string
	for _, p := range All() {
		name := p.Traits().Name
		if Named(name) != p {
			t.Errorf("%s is not found by its name", name)
		}
		names = append(names, name)
	}
	if Named("smoke") != nil {
		t.Error("a protocol that there is not was found")
	}
	if got, want := strings.Split(strings.Replace(Names(0), " or ", ", ", 1), ", "), names; !slices.Equal(got, want) ||
		strings.Count(Names(0), " or ") != 1 {
		t.Errorf("all names: %q, want %q", Names(0), want)
	}
	if one, none := Names(datasets.AsDocuments), Names(1<<15); one != "vllm-rerank" || none != "" {
		t.Errorf("one name %q, none %q", one, none)
	}
	assert.Is(t, assert.Failure((Pooling{"openai-embeddings"}).Whole(reader(), nil)), ErrNotJSON)
}

// Beside a text, Infinity gets a picture only where vLLM sends it.
func TestInfinityTextAndPicture(t *testing.T) {
	turn := datasets.Turn{Text: "a",
		Media: json.RawMessage(`{"type": "image_url", "image_url": {"url": "http://x/p"}}`)}
	for name, want := range map[string]string{
		"infinity-embeddings":      `{"model": "m", "input": "a"}`,
		"infinity-embeddings-clip": `{"model": "m", "input": "http://x/p", "modality": "image"}`,
	} {
		if got, err := (Pooling{name}).Body(nil, Ask{Model: "m", Turn: &turn}); err != nil || string(got) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, want)
		}
	}
}

// Infinity has no messages, so a picture in one is refused instead of left out.
func TestInfinityRefusesMessages(t *testing.T) {
	turn := datasets.Turn{Text: "a",
		Messages: json.RawMessage(
			`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://x/y.png"}}]}]`)}
	p := Named("infinity-embeddings-clip")
	if body, err := p.Body(nil, Ask{Model: "m", Turn: &turn}); err == nil ||
		!strings.Contains(err.Error(), "no chat messages") {
		t.Errorf("%s, %v", body, err)
	}
}
