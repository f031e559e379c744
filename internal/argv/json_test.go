package argv

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"benchtop/internal/assert"
)

// Parts of a body: a text is a whole, a text that begins with a dot is a path and its value.
func TestJSONValue(t *testing.T) {
	type flag struct {
		Name  string
		Parts []string
		Want  string
		Fails string // of the last part; … stands for words of encoding/json
	}
	for _, c := range append(assert.Golden[flag](t, "testdata/json_flags.jsonl"), []flag{
		{"not text", []string{".a \xff"}, "", "not UTF-8 text"},
		{"a key that is no text", []string{".\xff 1"}, "", "not UTF-8 text"},
		{"too deep", []string{strings.Repeat(".a", deepest+1) + " 1"}, "", "501 nested keys; the maximum is 500"},
	}...) {
		var v JSON
		var err error
		for _, p := range c.Parts {
			path, value, dotted := strings.Cut(p, " ")
			if !strings.HasPrefix(p, ".") || !dotted {
				err = v.Set(p)
				continue
			}
			path, add := strings.CutSuffix(path[1:], "+")
			err = v.SetKey(strings.Split(path, "."), value, add)
		}
		begins, holds, _ := strings.Cut(c.Fails, "…")
		if c.Fails == "" && err != nil || c.Fails != "" &&
			(err == nil || !strings.HasPrefix(err.Error(), begins) || !strings.Contains(err.Error(), holds)) {
			t.Errorf("%s: error %v, want %q", c.Name, err, c.Fails)
		}
		assert.Equal(t, v.String(), c.Want, "%s", c.Name)
	}
}

func TestJSONFields(t *testing.T) {
	var v JSON
	if got := maps.Collect(v.Members()); len(got) > 0 {
		t.Errorf("%v of nothing", got)
	}
	assert.Fine(t, v.Set(`{"z": {"b":1e5,"a":[]}, "\u00e9\"\ud83d\ude00": "é", "a": -0}`))
	assert.Fine(t, v.SetKey([]string{"z", "c"}, "x", false))
	want := []string{"z", `{"b": 1e5, "a": [], "c": "x"}`, `é"😀`, `"é"`, "a", "-0"}
	for range 2 { // asking changes nothing
		var got []string
		for name, value := range v.Members() {
			got = append(got, name, value)
		}
		if !slices.Equal(got, want) || !v.Has("a") || v.Has("b") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestReadJSON(t *testing.T) {
	for _, c := range []struct{ text, want, twice string }{
		{`{}`, `{}`, ""},
		{`[ ]`, `[]`, ""},
		{`{"b":1,"a" :[{"z":{}},2 , [] ]}`, `{"b": 1, "a": [{"z": {}}, 2, []]}`, ""},
		{`{"b":1,"a":2,"b":3}`, `{"b": 3, "a": 2}`, `: the name "b" occurs more than once; the last one applies`},
		{`[{"é":1,"\u00e9":2,"c":3,"c":4}]`, `[{"\u00e9": 2, "c": 4}]`,
			`: the name "é" occurs more than once; the last one applies`},
		{`{"a":null,"a":1}`, `{"a": 1}`, `: the name "a" occurs more than once; the last one applies`},
		{`{"":{"b":":,"}}`, `{"": {"b": ":,"}}`, ""},
		{`"a: , b"`, `"a: , b"`, ""},
		{`"é\u00E9\/\ud83d"`, `"é\u00E9\/\ud83d"`, ""},
		{`{"\ufffd":"\ud83d"}`, `{"\ufffd": "\ud83d"}`, ""},
		{`[-0,1.50,1E+5,1e-999,123456789012345678901234567890]`,
			`[-0, 1.50, 1E+5, 1e-999, 123456789012345678901234567890]`, ""},
		{strings.Repeat("9", 1000), strings.Repeat("9", 1000), ""},
		{`[true,false,null]`, `[true, false, null]`, ""},
		{" \t\n\r 3 \t\n\r", `3`, ""},
		{`"NaN"`, `"NaN"`, ""},
		{strings.Repeat("[", 5000) + strings.Repeat("]", 5000), strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
			""},
	} {
		v, twice, err := readJSON(c.text)
		if err != nil || twice != c.twice {
			t.Errorf("%.80s: doubt %q, error %v; want %q", c.text, twice, err, c.twice)
			continue
		}
		assert.Equal(t, string(appendJSON(nil, v)), c.want, "%.80s", c.text)
	}
}

// Errors give the position, the text there, and the reason in the words of encoding/json.
func TestNotJSON(t *testing.T) {
	for _, c := range []struct {
		text, fails string
		refused     bool
	}{
		{`01`, `character 2, at "1": `, false},
		{`.5`, `character 1, at ".5": `, false},
		{`True`, `character 1, at "True": `, false},
		{`[1,]`, `character 4, at "]": `, false},
		{`{"a":1,}`, `character 8, at "}": `, false},
		{`{'a':1}`, `character 2, at "'a':1}": `, false},
		{`{"a" 1}`, `character 6, at "1}": `, false},
		{`1 2`, `character 3, at "2": `, false},
		{`{"é€😀":1}}`, `character 10, at "}": `, false},
		{`["a", "b`, `character 8, at "b": unexpected end`, false},
		{`"\x"`, `character 3, at "x\"": `, false},
		{"\"a\nb\"", `character 3, at "\nb\"": `, false},
		{``, `character 1, at "": unexpected end`, false},
		{"\u00a01", `character 1, at "\u00a01": `, false},
		{`[abcdefghijklmnopq`, `character 2, at "abcdefghijkl": `, false},
		{"[" + strings.Repeat("é", 50), `character 2, at "éééééééééééé": `, false},
		{strings.Repeat("[", 1<<20), `character 10001, at "[[[[[[[[[[[[": `, false},
		{`NaN`, `character 1: NaN and Infinity are numbers in Python but not in JSON; write a finite number, null, ` +
			`or ` +
			`"NaN"`, true},
		{`{"NaN": [1, -Infinity, Infinity]}`, `character 14: NaN and Infinity are numbers in Python`, true},
		{`NaNs`, `character 1, at "NaNs": `, false},
		{`Infinity pool`, `character 1, at "Infinity poo": `, false},
		{`[NaN`, `character 2, at "NaN": `, false},
		{`[1e999, -1e999]`, `character 2: 1e999 is too large for a floating-point number`, true},
		{`{"é": -1.0E999}`, `character 7: -1.0E999 is too large`, true},
		{`{"a": {"x\ud83d": 1}}`, `character 8: the name "\"x\\ud83d\"" has an unpaired surrogate`, true},
		{"\"\xff\"", `not UTF-8 text`, true},
	} {
		v, _, err := readJSON(c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.fails) {
			t.Errorf("%.80s: %v, error\n%v\nwant\n%s", c.text, v, err, c.fails)
		}
		if errors.As(err, new(refusal)) != c.refused {
			t.Errorf("%.80s: refused %v, want %v", c.text, !c.refused, c.refused)
		}
	}
}

func TestKindOfJSON(t *testing.T) {
	for text, want := range map[string]string{`[]`: "a list", ` "a"`: "a string", `-1`: "a number", `0.5`: "a number",
		`true`: "true", `false`: "false", `null`: "null"} {
		v, _, err := readJSON(text)
		if got := kindOfJSON(v); got != want || err != nil {
			t.Errorf("%s: %s (%v), want %s", text, got, err, want)
		}
	}
}

// A value means the same as its text, and its written form is read and written again unchanged.
func FuzzJSON(f *testing.F) {
	f.Add(`{"a": [1, -2.5e-7, "\u00e9\ud800", {"b": null}], "a": 1e400}`)
	f.Add(`"\ud83d\ude00"`)
	f.Add(`{"": {"b" : [ ], "a":{}}, "a": [{"x":true,"x":false}, NaN]}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, _, err := readJSON(text)
		if err != nil {
			if !utf8.ValidString(err.Error()) {
				t.Errorf("the error is no text: %q", err)
			}
			if json.Valid([]byte(text)) != errors.As(err, new(refusal)) &&
				!strings.Contains(err.Error(), "NaN and Infinity") && utf8.ValidString(text) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		once := string(appendJSON(nil, v))
		again, _, err := readJSON(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		assert.Equal(t, string(appendJSON(nil, again)), once, "written again")
		var before, after any
		if json.Unmarshal([]byte(text), &before) == nil {
			if err := json.Unmarshal([]byte(once), &after); err != nil || !reflect.DeepEqual(before, after) {
				t.Errorf("%q says %v, written as %q it says %v (%v)", text, before, once, after, err)
			}
		}
	})
}

// An error about JSON that is none repeats no secret.
func TestBrokenJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{'api_key':'canary'}`:               `{'api_key':***: character 2, at "'api_key':**": `,
		`{"a": 1, "token": canary}`:          `at "***": `,
		`{password: canary}`:                 `{password:***: `,
		`{"secret": {"x": "canary"}, 'a':1}`: `at "***": `,
		`{'max_tokens': 3}`:                  `{'max_tokens': 3}": character 2, at "'max_tokens'": `,
	} {
		f := Flags{Synopsis: "x"}
		f.Group("x").Var(new(JSON), "extra-body", "x")
		_, _, err := parse(f.All(), []string{"--extra-body", text}, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
