package pyjson

import (
	"encoding/json"
	"testing"

	"benchtop/internal/assert"
)

// The texts are the output of str(json.loads(text)) in Python 3.11.
func TestStr(t *testing.T) {
	for text, want := range map[string]string{
		`32`:                    "32",
		`0.90`:                  "0.9",
		`1e-6`:                  "1e-06",
		`true`:                  "True",
		`null`:                  "None",
		`"a b"`:                 "a b",
		`{"a": 1}`:              "{'a': 1}",
		`[1, "x", null, false]`: "[1, 'x', None, False]",
		`{"a": {"b": [2.50, "it's"]}, "a2": "\"'"}`: `{'a': {'b': [2.5, "it's"]}, 'a2': '"\''}`,
		`["\n\t\u0007\u00e9\u200b\ud83d\ude00\\"]`:  "['\\n\\t\\x07é\\u200b😀\\\\']",
		`{"a": 1, "b": 2, "a": 3}`:                  "{'a': 3, 'b': 2}",
		`[]`:                                        "[]",
		`{}`:                                        "{}",
	} {
		assert.Equal(t, Str([]byte(text)), want, "%s", text)
	}
	assert.Equal(t, ReprWords([]string{"vllm", "it's", ""}), `['vllm', "it's", '']`, "ReprWords")
}

// The text is the output of json.dumps(json.loads(text), indent=4).
func TestAppendIndented(t *testing.T) {
	const want = `{
    "a": [
        1,
        {
            "b": "\u00e9"
        },
        [],
        {}
    ],
    "c": 1.5
}`
	if got := string(AppendIndented(nil, []byte(`{"a":[1,{"b":"é"},[ ],{}],"c":1.50}`), 4, 0)); got != want {
		t.Errorf("got %s", got)
	}
}

// FuzzRepr checks that any JSON has a repr and an indented form that reads back.
func FuzzRepr(f *testing.F) {
	f.Add(`{"a" : [1, -0.50, 1e5, "\u00e9\/\ud800é'"], "b":{}, "c":[true,false,null]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var value json.RawMessage
		if json.Unmarshal([]byte(raw), &value) != nil {
			return
		}
		if Str(value) == "" && string(value) != `""` {
			t.Errorf("%q has no text", raw)
		}
		if indented := AppendIndented(nil, value, 4, 0); !json.Valid(indented) {
			t.Errorf("%q, indented, is %q", raw, indented)
		}
	})
}
