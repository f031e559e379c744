package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/internal/jsonscan"
)

// One result, results by line, and lists give the same objects.
func TestParseResults(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1}`:                                 `{"a": 1}`,
		"\ufeff {\"a\": 1}\r\n":                    `{"a": 1}`,
		"{\"a\": 1}\n{\"a\": 2}":                   `{"a": 1} {"a": 2}`,
		"[{\"a\": 1}, {\"a\": 2}]\n{\"a\": 3}":     `{"a": 1} {"a": 2} {"a": 3}`,
		`{"a": NaN, "b": [-Infinity], "c": "NaN"}`: `{"a": "nan", "b": ["-inf"], "c": "NaN"}`,
		`[{"a":Infinity,"b":"\\\" -Infinity"}]`:    `{"a":"inf","b":"\\\" -Infinity"}`,
		" [ ] ":                                    "",
	} {
		all, err := ParseResults([]byte(text))
		if got := string(bytes.Join(all, []byte(" "))); err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                             "line 1: the file is empty",
		" \n":                          "line 1: the file is empty",
		"hello":                        "line 1: invalid character 'h'",
		"\x00\x00":                     "line 1: invalid character",
		"[1]":                          "entry 1: expected an object, got a number",
		"3":                            "entry 1: expected an object, got a number",
		`{"completed`:                  "line 1: the file is truncated",
		"{\"completed\": 5,\n":         "line 2: the file is truncated",
		"{\"a\": 1}\n{\"a\": [5]":      "line 2: the file is truncated",
		`{5: 1}`:                       "line 1: invalid character '5'",
		"{\"a\": 1}\n\n{\"a\": 1,}":    "line 3: invalid character '}'",
		"{\"a\": \"\x01\"}":            "line 1: invalid character",
		`{"a": 1} x`:                   "line 1: invalid character 'x'",
		strings.Repeat(`{"a":`, 20000): "line 1: invalid character '{' exceeded max depth",
	} {
		if all, err := ParseResults([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) ||
			len(err.Error()) > 300 {
			t.Errorf("%.60q: %d objects, %v, want %s", text, len(all), err, want)
		}
	}
}

// A killed run leaves an empty result. Its figures are those of its journal, which a note says, whichever of the two is
// named.
func TestResultsOfAKilledRun(t *testing.T) {
	t.Chdir(t.TempDir())
	s, written := reserve(t, Options{Result: true, Name: "r.json"})
	assert.Fine(t, errors.Join(written.Close(), s.Journal.Close()))
	for _, c := range []struct{ file, content, note string }{
		{"r.json", "",
			"r.json has no whole result; its figures are those of r.jsonl; the run of r.jsonl is not whole: "},
		{"r.json", `{"completed": 5, "dur`, "r.json has no whole result; "},
		{"r.json", "\x00\x00", "r.json has no whole result; "},
		{"r.json", "absent", "r.json has no whole result; "},
		{"r.jsonl", "", "the run of r.jsonl is not whole: "},
	} {
		assert.Fine(t, os.WriteFile("r.json", []byte(c.content), 0o600))
		if c.content == "absent" {
			_ = os.Remove("r.json")
		}
		all, note, err := ReadResults(c.file)
		if err != nil || len(all) != 1 || !json.Valid(all[0]) || jsonscan.Fields(all[0], "completed")[0] == nil ||
			!strings.HasPrefix(note, c.note) {
			t.Errorf("%s of %q: %d results, note %q, %v", c.file, c.content, len(all), note, err)
		}
	}
	p := plan()
	p.Command = []string{"latency", "--output-json", "l.json"}
	file := assert.Must(os.Create("l.jsonl"))(t)
	killed, err := journal.NewWriter(file, p)
	assert.Fine(t, errors.Join(err, killed.Close(), file.Close()))
	if _, _, err := ReadResults("l.json"); err == nil ||
		!strings.Contains(err.Error(), "l.jsonl: the journal of benchtop latency") {
		t.Errorf("a killed measurement of latency: %v", err)
	}
	whole, err := os.ReadFile("r.jsonl")
	assert.Fine(t, errors.Join(err, os.WriteFile("half", append(whole, `{"index":0,"se`...), 0o600),
		os.WriteFile("r.json", []byte(`{"completed": 5}`), 0o600)))
	if all, note, err := ReadResults("half"); err != nil || len(all) != 1 ||
		!strings.HasPrefix(note, "the run of half is not whole: ") {
		t.Errorf("half a line: %d results, note %q, %v", len(all), note, err)
	}
	if all, note, err := ReadResults("r.json"); err != nil || note != "" || string(all[0]) != `{"completed": 5}` {
		t.Errorf("whole: %s, note %q, %v", all, note, err)
	}
}

// What is no file of results says so, and waits for nothing.
func TestNoResults(t *testing.T) {
	plant(t, map[string]string{"empty.json": "", "huge.json": "{", "a-so-far.json": "", "a.jsonl": "", "text": "x"})
	if err := os.Truncate("huge.json", 4<<30); err != nil { // it is sparse
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"empty.json": "empty.json, line 1: the file is empty", "huge.json": "huge.json: more than 1024 MiB",
		"text":          "text, line 1: invalid character 'x'",
		"a-so-far.json": "a-so-far.json, line 1: the file is empty", ".": ". is a directory",
		os.DevNull: os.DevNull + " is not a regular file",
	} {
		if _, _, err := ReadResults(path); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if _, _, err := ReadResults("absent.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

// A baseline in a file of several results is the last one.
func TestBaselineOfSeveral(t *testing.T) {
	plant(t, map[string]string{
		"all.json": `{"completed": 1, "duration": 1, "mean_ttft_ms": 5}` + "\n" + `{"duration": 2, "completed": 2, ` +
			`"mean_itl_ms": NaN}` + "\n"})
	assert.Equal(t, assert.Must(ReadReport("all.json"))(t).Completed, 2, "ReadReport")
}

// FuzzResults: what is read as results is JSON to others too, but for the numbers that Python writes.
func FuzzResults(f *testing.F) {
	f.Add([]byte("{\"a\": -Infinity, \"b\": \"\\\"NaN\"}\n{\"a\": NaN}"))
	f.Add([]byte(`[{"a": [1]}, {}]`))
	f.Add([]byte("\ufeff{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := ParseResults(data)
		if err != nil && len(all) > 0 || err != nil && len(err.Error()) > 300 {
			t.Errorf("%q: %d objects and %v", data, len(all), err)
		}
		for _, object := range all {
			if !json.Valid(object) || object[0] != '{' {
				t.Errorf("%q has %q", data, object)
			}
		}
	})
}
