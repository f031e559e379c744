package cli

import (
	"slices"
	"strings"
	"testing"

	"benchtop/loadgen/protocol"
)

// Parts of a body: a text is a whole, a text that begins with a dot is a path and its value.
func TestJSONValue(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []string
		want  string
		fails string // of the last part; … stands for words of encoding/json
	}{
		{"nothing", nil, "", ""},
		{"a whole", []string{`{"b":1, "a":[1.0,"é"]}`}, `{"b": 1, "a": [1.0, "é"]}`, ""},
		{"an empty whole", []string{`{}`}, `{}`, ""},
		{"the last whole counts", []string{`{"a":1,"b":2}`, `{"b":3}`}, `{"b": 3}`, ""},
		{"a path", []string{".a.b 3"}, `{"a": {"b": 3}}`, ""},
		{"paths join", []string{".a.b 3", ".c x", ".a.d true"}, `{"a": {"b": 3, "d": true}, "c": "x"}`, ""},
		{"whole, then path", []string{`{"a":{"b":1,"c":2}}`, ".a.b 3"}, `{"a": {"b": 3, "c": 2}}`, ""},
		{"path, then whole", []string{".a.b 3", `{"x":0,"a":{"b":1,"c":2}}`}, `{"a": {"b": 1, "c": 2}, "x": 0}`, ""},
		{"path, whole, path, whole", []string{".a 1", `{"b":1}`, ".c 1", `{"d":1}`}, `{"a": 1, "c": 1, "d": 1}`, ""},
		{"a key keeps its place", []string{`{"a":1,"b":2}`, ".a 3"}, `{"a": 3, "b": 2}`, ""},
		{"an object over a number", []string{".a 1", ".a.b 2"}, `{"a": {"b": 2}}`, ""},
		{"a number over an object", []string{".a.b 2", ".a 1"}, `{"a": 1}`, ""},
		{"an empty object changes nothing", []string{".a.b 2", ".a {}"}, `{"a": {"b": 2}}`, ""},
		{"a text", []string{".a hello world"}, `{"a": "hello world"}`, ""},
		{"a text with blanks and quotes", []string{`.a  say "é" `}, `{"a": " say \"\u00e9\" "}`, ""},
		{"an empty text", []string{".a "}, `{"a": ""}`, ""},
		{"a quoted text", []string{`.a "3"`}, `{"a": "3"}`, ""},
		{"values with blanks around", []string{".a  3 "}, `{"a": 3}`, ""},
		{"numbers as they are written", []string{".a 1e5", ".b 1.0", ".c 007", ".d 12345678901234567890123"},
			`{"a": 1e5, "b": 1.0, "c": "007", "d": 12345678901234567890123}`, ""},
		{"null", []string{".a null"}, `{"a": null}`, ""},
		{"a list", []string{`.a [1,{"b":2}]`}, `{"a": [1, {"b": 2}]}`, ""},
		{"a list over a list", []string{`.a [1]`, `.a [2]`}, `{"a": [2]}`, ""},
		{"elements", []string{".stop+ X,Y"}, `{"stop": ["X", "Y"]}`, ""},
		{"one element", []string{".stop+ X"}, `{"stop": ["X"]}`, ""},
		{"elements are texts", []string{".stop+ 1,true, x ,"}, `{"stop": ["1", "true", " x ", ""]}`, ""},
		{"elements behind a list", []string{`{"stop":["X", 1]}`, ".stop+ Y", ".stop+ Z"}, `{"stop": ["X", 1, "Y", "Z"]}`, ""},
		{"elements over a text", []string{".stop X", ".stop+ Y"}, `{"stop": ["Y"]}`, ""},
		{"elements, deep", []string{".a.b+ X", ".a.b+ Y"}, `{"a": {"b": ["X", "Y"]}}`, ""},
		{"keys of any text", []string{`.a_b-c.é" 1`}, `{"a_b-c": {"\u00e9\"": 1}}`, ""},
		{"a plus within a key", []string{".a+b 1"}, `{"a+b": 1}`, ""},

		{"a list as a whole", []string{`[1]`}, "", `it is a list; expected an object such as '{"top_k": 20}'`},
		{"a number as a whole", []string{`-1`}, "", "it is a number; expected an object"},
		{"a text as a whole", []string{`"a"`}, "", "it is a text; expected an object"},
		{"null as a whole", []string{`null`}, "", "it is null; expected an object"},
		{"nothing as a whole", []string{""}, "", `character 1, at "": …; expected an object such as '{"top_k": 20}'`},
		{"a file's name", []string{"body.json"}, "", `character 1, at "body.json": …; expected an object such as`},
		{"a bad whole leaves the rest", []string{".a 1", "{a:1}"}, `{"a": 1}`, `character 2, at "a:1}": …; expected an object such as`},
		{"no number", []string{".a 1", ".b NaN"}, `{"a": 1}`, `character 1: NaN and Infinity are numbers in Python but not in JSON`},
		{"no number within", []string{`.b [1e999]`}, "", `character 2: 1e999 is too large`},
		{"a text that only begins so", []string{`.b NaNs`}, `{"b": "NaNs"}`, ""},
		{"no key", []string{". 3"}, "", "there is a dot without a key behind it"},
		{"no key at the end", []string{".a. 3"}, "", "there is a dot without a key behind it"},
		{"no key before +", []string{".+ 3"}, "", "there is a dot without a key behind it"},
		{"not text", []string{".a \xff"}, "", "it is not UTF-8 text"},
		{"half a surrogate pair as a name", []string{`.a {"\ud83d": 1}`}, "", `character 2: the name "\"\\ud83d\"" is not text: it has half a surrogate pair`},
		{"a key that is no text", []string{".\xff 1"}, "", "it is not UTF-8 text"},
		{"too deep", []string{strings.Repeat(".a", deepest+1) + " 1"}, "", "501 keys within each other are too many; at most 500"},
	} {
		var v jsonValue
		var err error
		for _, p := range c.parts {
			path, value, dotted := strings.Cut(p, " ")
			if !strings.HasPrefix(p, ".") || !dotted {
				err = v.Set(p)
				continue
			}
			path, add := strings.CutSuffix(path[1:], "+")
			err = v.SetKey(strings.Split(path, "."), value, add)
		}
		begins, holds, _ := strings.Cut(c.fails, "…")
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.HasPrefix(err.Error(), begins) || !strings.Contains(err.Error(), holds)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.fails)
		}
		if got := v.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestJSONFields(t *testing.T) {
	var v jsonValue
	if got := v.Fields(); got != nil {
		t.Errorf("%v of nothing", got)
	}
	if err := v.Set(`{"z": {"b":1e5,"a":[]}, "\u00e9\"\ud83d\ude00": "é", "a": -0}`); err != nil {
		t.Fatal(err)
	}
	if err := v.SetKey([]string{"z", "c"}, "x", false); err != nil {
		t.Fatal(err)
	}
	want := []protocol.Field{{Name: "z", JSON: `{"b": 1e5, "a": [], "c": "x"}`}, {Name: `é"😀`, JSON: `"é"`}, {Name: "a", JSON: "-0"}}
	for range 2 { // asking changes nothing
		if got := v.Fields(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
