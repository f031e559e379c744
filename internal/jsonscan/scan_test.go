package jsonscan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

func TestFields(t *testing.T) {
	object := []byte(` {"a" : 1, "b\u0062":"x\"}", "c":[{"a":2}, 3] ,"a":{"d":null}, "e":-1.5e3}`)
	object = bytes.TrimSpace(object)
	got := Fields(object, "a", "bb", "none", "c", "e", "a")
	want := []string{`{"d":null}`, `"x\"}"`, "", `[{"a":2}, 3]`, "-1.5e3", `{"d":null}`}
	for i, w := range want {
		if string(got[i]) != w {
			t.Errorf("field %d: %s, want %s", i, got[i], w)
		}
	}
	var names []string
	for name := range Members(object) {
		if names = append(names, Text(name)); len(names) == 2 {
			break
		}
	}
	assert.Equal(t, strings.Join(names, " "), "a bb", "names %q", names)
	dict := Dict([]byte(`{"b":1,"a":2,"b":[3]}`))
	if len(dict) != 2 || dict[0].Name != "b" || string(dict[0].Value) != "[3]" || dict[1].Name != "a" {
		t.Errorf("dict %q", dict)
	}
}

func TestElements(t *testing.T) {
	var got []string
	for e := range Elements([]byte(`[ 1,"]",[2,"["] ,{"a":"}"}, true]`)) {
		if got = append(got, string(e)); len(got) == 4 {
			break
		}
	}
	if want := []string{"1", `"]"`, `[2,"["]`, `{"a":"}"}`}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for range Elements([]byte("[ ]")) {
		t.Error("an element of an empty array")
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		raw, kind string
		truthy    bool
		depth     int
	}{
		{"", "nothing", false, 0}, {"{}", "an object", false, 1}, {`{"a":[{"b":"[["}]}`, "an object", true, 3},
		{"[ ]", "an array", false, 1}, {"[0]", "an array", true, 1},
		{`""`, "a string", false, 0}, {`"a"`, "a string", true, 0}, {"true", "true or false", true, 0},
		{"false", "true or false", false, 0}, {"null", "null", false, 0},
		{"0", "a number", false, 0}, {"-0.0", "a number", false, 0}, {"1e999", "a number", true, 0},
		{"7", "a number", true, 0},
	} {
		raw := []byte(c.raw)
		if Kind(raw) != c.kind || Truthy(raw) != c.truthy || Depth(raw) != c.depth ||
			IsString(raw) != (c.kind == "a string") {
			t.Errorf("%s: %s, %v, %d", c.raw, Kind(raw), Truthy(raw), Depth(raw))
		}
	}
	assert.Equal(t, string(Quote("<a> & \"b\"\n")), `"<a> & \"b\"\n"`, "quoted")
}

// FuzzScan holds the scan of JSON to the standard library; other bytes must not make it panic.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"\u00e9\\"}],"a":"x"}`, `[[],{},"",-1.5e3,null]`, `{"a`, `[1,`,
		`{"\ud83d":1}`, "[1 2]", `"\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 {
			return
		}
		members, elements := Dict(raw), [][]byte{}
		for e := range Elements(raw) {
			elements = append(elements, e)
		}
		Fields(raw, "a")
		var object map[string]json.RawMessage
		if raw[0] == '{' && json.Unmarshal(raw, &object) == nil {
			if len(members) != len(object) && !strings.Contains(string(raw), `\u`) && isASCII(raw) {
				t.Errorf("%s: %d members, want %d", raw, len(members), len(object))
			}
			for _, m := range members {
				if isASCII(raw) && !strings.Contains(string(raw), `\u`) && string(m.Value) != string(object[m.Name]) {
					t.Errorf("%s: %q is %s, want %s", raw, m.Name, m.Value, object[m.Name])
				}
			}
		}
		var array []json.RawMessage
		if raw[0] == '[' && json.Unmarshal(raw, &array) == nil {
			for i, e := range array {
				if string(elements[i]) != string(e) {
					t.Errorf("%s: element %d is %s, want %s", raw, i, elements[i], e)
				}
			}
		}
	})
}

func isASCII(raw []byte) bool {
	return bytes.IndexFunc(raw, func(r rune) bool { return r > 0x7f }) < 0
}
