package sweep

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/jsonscan"
)

func item(t testing.TB, object string) Item {
	t.Helper()
	if !json.Valid([]byte(object)) {
		t.Fatalf("%s is no JSON", object)
	}
	return jsonscan.Dict([]byte(object))
}

// The rows are what vLLM makes of them, but for those marked, in which its command line is wrong.
func TestApply(t *testing.T) {
	for _, c := range []struct{ base, item, want string }{
		{"serve m", `{"a_b": true, "c": false}`, "serve m --a-b --no-c"},
		{"serve m", `{"a_b.c_d": true, "e.f": false}`, "serve m --a-b.c_d=true --e.f=false"},
		{"serve m", `{"a_b.c_d": 3, "e": "x", "f": 0.90}`, "serve m --a-b.c_d 3 --e x --f 0.9"},
		{"serve m", `{"a": null}`, "serve m --a None"},
		{"--max_num_seqs 1", `{"max-num-seqs": 32}`, "--max-num-seqs 32"},
		{"--max-num-seqs 1 --x", `{"max_num_seqs": 32}`, "--max-num-seqs 32 --x"},
		{"--foo", `{"foo": false}`, "--no-foo"},
		{"--no-foo", `{"foo": true}`, "--no-foo --foo"},
		{"--no-foo", `{"foo": false}`, "--no-foo --no-foo"},
		{"m", `{"a": 1, "a": 2}`, "m --a 2"},
		{"m", `{"max_x": 1, "max-x": 2}`, "m --max-x 2"},
		{"m", `{"_benchmark_name": "n", "a": 1}`, "m --a 1"},
		{"m", `{}`, "m"},
		// Not as in vLLM.
		{"--max-num-seqs=1 --x", `{"max_num_seqs": 32}`, "--max-num-seqs 32 --x"},
		{"--a 1 --a 2", `{"a": 3}`, "--a 1 --a 3"},
		{"--a-b.c_d true", `{"a_b.c_d": false}`, "--a-b.c_d=false"},
		{"--a-b.c_d=true x", `{"a_b.c_d": false}`, "--a-b.c_d=false x"},
		{"serve --foo", `{"foo": 3}`, "serve --foo 3"},
		{"serve --foo --bar", `{"foo": 3}`, "serve --foo 3 --bar"},
	} {
		if got := strings.Join(item(t, c.item).Apply(strings.Fields(c.base)), " "); got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.base, c.item, got, c.want)
		}
	}
	got := item(t, `{"c": {"a":1,"b":["é"]}, "d": [1, "x"]}`).Apply([]string{"m"})
	if want := []string{"m", "--c", `{"a": 1, "b": ["\u00e9"]}`, "--d", "[1, 'x']"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A second time changes nothing, the words of the command stay in order, and the command that was given is not changed.
func FuzzApply(f *testing.F) {
	f.Add("serve m --a=1 --b c --no-d", `{"a": 2, "b.x": true, "d": false, "e": {"f": [1]}}`)
	f.Fuzz(func(t *testing.T, base, params string) {
		items, problems := parseItems([]byte("[" + params + "]"))
		if problems != nil {
			return
		}
		command := strings.Fields(base)
		before := slices.Clone(command)
		for _, it := range items {
			once := it.Apply(command)
			if !slices.Equal(command, before) {
				t.Fatalf("%q became %q", before, command)
			}
			for _, m := range it {
				if m.Name != nameKey && !isBool(m.Value) && lastFlag(once, m.Name) < 0 {
					t.Errorf("%q with %s is %q, without %s", base, params, once, m.Name)
				}
			}
		}
	})
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ object, name, text, repr string }{
		{`{"max_num_seqs": 32, "x": 1e-6}`, "max_num_seqs=32-x=1e-06", "max_num_seqs=32, x=1e-06",
			"{'max_num_seqs': 32, 'x': 1e-06}"},
		{`{"_benchmark_name": "big", "x": true}`, "big", "_benchmark_name=big, x=True",
			"{'_benchmark_name': 'big', 'x': True}"},
		{`{}`, "", "", "{}"},
	} {
		it := item(t, c.object)
		if it.Name() != c.name || it.String() != c.text || it.Repr() != c.repr {
			t.Errorf("%s: %q, %q, %q", c.object, it.Name(), it.String(), it.Repr())
		}
	}
}

func TestDir(t *testing.T) {
	tp, chat := item(t, `{"_benchmark_name": "tp1"}`), item(t, `{"max_concurrency": 1}`)
	for _, c := range []struct {
		c    Combination
		want string
	}{
		{Combination{}, ""},
		{Combination{Server: tp}, "SERVE--tp1"},
		{Combination{Server: tp, Bench: chat}, "SERVE--tp1-BENCH--max_concurrency=1"},
		{Combination{Bench: chat, Load: "max_concurrency=1"}, "BENCH--max_concurrency=1-WL--max_concurrency=1"},
		{Combination{Load: "max_concurrency=17"}, "WL--max_concurrency=17"},
		{Combination{Server: item(t, `{"model": "../a/b"}`)}, "SERVE--model=___a_b"},
		{Combination{Server: item(t, `{"m": "a\u0000\n'\""}`)}, "SERVE--m=a__'"},
	} {
		assert.Equal(t, c.c.Dir(), c.want, "%v", c.c)
	}
	if err := CheckNames([]string{"a", strings.Repeat("x", 231), "a"}); err == nil ||
		strings.Count(err.Error(), "_benchmark_name") != 2 {
		t.Errorf("%v", err)
	}
}

func TestReadItems(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{`[{"a": 1}, {"_benchmark_name": "big", "b": 2}]`, `{"a": 1}|{"_benchmark_name": "big", "b": 2}`},
		{` {"small": {"a": 1}, "big": {"_benchmark_name": "huge"}}`,
			`{"_benchmark_name": "small", "a": 1}|{"_benchmark_name": "huge"}`},
	} {
		items, problems := parseItems([]byte(c.file))
		var got []string
		for _, it := range items {
			got = append(got, string(it.JSON()))
		}
		if strings.Join(got, "|") != c.want || problems != nil {
			t.Errorf("%s: %s, %v", c.file, got, problems)
		}
	}
	for _, c := range []struct{ file, want string }{
		{``, "line 1: invalid JSON"},
		{"[{},\n{\"a\": 1,}]", "line 2: invalid JSON"},
		{`[]`, "no entries"},
		{`3`, "a number; expected"},
		{`[{"a": 1}, 3]`, "entry 2: a number instead of an object"},
		{`{"x": [1]}`, "entry x: an array instead of an object"},
		{`{"": {}}`, "an entry without a name"},
		{`{"x": {}, "x": {}}`, "entry x stands there twice"},
		{`[{"a": 1}, {"b": 1, "c": 2, "b": 3}]`, "entry 2, key b: it stands there twice"},
		{`[{"-O": 3}]`, "entry 1, key -O: expected the name of a long flag"},
		{`[{"": 3}]`, `entry 1, key ""`},
		{`[{"a b": 3}]`, `entry 1, key "a b"`},
		{`[{"_benchmark_name": 3}]`, "expected a name as a text, got 3"},
		{`[{"a": 1}, {"a": 1}]`, "entries 1 and 2 have the same parameters"},
		{`[{"_benchmark_name": "a/b"}, {"_benchmark_name": "a_b"}]`, "both stored as a_b"},
	} {
		if _, problems := parseItems([]byte(c.file)); len(problems) == 0 ||
			!strings.Contains(problems[0].Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.file, problems, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "p.json")
	_ = os.WriteFile(path, []byte("[{\"a\": \"\xff\"}]"), 0o600)
	assert.Complains(t, assert.Failure(ReadItems(path)), "p.json: not UTF-8; convert it with iconv -t UTF-8")
}

// Any file gives items with names, or an error.
func FuzzItems(f *testing.F) {
	f.Add([]byte(`[{"a": 1}, {"_benchmark_name": "b", "c.d": [true]}]`))
	f.Add([]byte(`{"x": {"a": null}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		items, problems := parseItems(file)
		if len(items) == 0 && len(problems) == 0 {
			t.Fatalf("%q: neither items nor problems", file)
		}
		if len(problems) > 0 {
			return
		}
		for _, it := range items {
			if dir := (Combination{Server: it}).Dir(); strings.ContainsAny(dir, "/\x00\n") ||
				strings.Contains(dir, "..") {
				t.Errorf("%q: directory %q", file, dir)
			}
		}
	})
}

func TestLinks(t *testing.T) {
	links, err := ParseLinks(" max_num_seqs = max_concurrency ,a=b")
	if err != nil || !slices.Equal(links, []Link{{"max_num_seqs", "max_concurrency"}, {"a", "b"}}) {
		t.Fatalf("%v, %v", links, err)
	}
	for _, bad := range []string{"a", "a=b=c", "=b", "a=", ","} {
		if _, err := ParseLinks(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	link := []Link{{"a", "b"}}
	for _, c := range []struct {
		server, bench string
		want          bool
	}{{`{"a": 8}`, `{"b": 8.0}`, true}, {`{"a": 8}`, `{"b": "8"}`, false}, {`{}`, `{"b": 8}`, false},
		{`{"a": {"x": 1, "y": 2}}`, `{"b": {"y": 2, "x": 1}}`, true}} {
		assert.Equal(t, linked(link, item(t, c.server), item(t, c.bench)), c.want, "%s and %s", c.server, c.bench)
	}
	assert.Complains(t, CheckLinks(link, []Item{item(t, `{"a": 1}`)}, []Item{nil}), "--bench-params has the key b")
	for bench, want := range map[string]string{`{"b": 2}`: "have equal values", `{"b": 1}`: ""} {
		if err := CheckLinks(link, []Item{item(t, `{"a": 1}`)}, []Item{item(t, bench)}); (err == nil) != (want == "") ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", bench, err)
		}
	}
}
