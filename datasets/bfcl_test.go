package datasets

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
)

type bfclCase struct {
	Name     string
	Seed     int64
	Prompts  int `json:"num_prompts"`
	Flags    []string
	Requests []struct {
		ID        string `json:"request_id"`
		Prompt    string
		Input     int             `json:"prompt_len"`
		Output    int             `json:"expected_output_len"`
		Messages  json.RawMessage `json:"chat_messages"`
		Overrides json.RawMessage `json:"request_overrides"`
	}
}

func TestBFCLGolden(t *testing.T) {
	var file struct {
		Files []string
		Cases []bfclCase
	}
	golden(t, "bfcl.json", &file)
	assert.Need(t, len(file.Cases), 4, "cases")
	for _, name := range file.Files {
		if _, err := os.Stat(filepath.Join("testdata", filepath.Base(name))); err != nil {
			t.Error(err)
		}
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			s := numpy.NewStreams(7)
			common := Common{Path: "testdata", Prompts: c.Prompts, Seed: c.Seed, IDPrefix: "bf-", Forms: AsMessages}
			flags := common.flagsOf(c.Flags)
			flags["hf-name"] = BFCLRepository
			list := must(opened(t, "hf", common, flags,
				testTools{toyTools{}, Text{Counter: byWords{}, Template: roleTags{}}, s}))(t)
			got := drain(t, list)
			assert.Need(t, len(got), len(c.Requests), "requests")
			for i, want := range c.Requests {
				turn := got[i].Turns[0]
				same(t, "request id", got[i].ID, want.ID)
				same(t, want.ID+" text", turn.Text, want.Prompt)
				same(t, want.ID+" input tokens", turn.InputTokens, want.Input)
				same(t, want.ID+" output tokens", turn.MaxTokens, want.Output)
				same(t, want.ID+" messages", string(turn.Messages), compact(want.Messages))
				same(t, want.ID+" overrides", string(turn.Overrides), compact(want.Overrides))
			}
			if repeated := strings.Contains(list.About, "repeated"); !repeated {
				same(t, "next double of Python", s.Python.Random(), numpy.NewPython(7).Random())
			}
			same(t, "next word of numpy", s.Legacy.Uint32(), numpy.NewLegacy(7).Uint32())
		})
	}
}

func bfclDefaults() bfcl {
	o := defaults[hf]("hf").bfcl
	o.Path, o.Prompts = BFCLRepository, 1000
	return o
}

// bfclIn makes a directory whose category simple holds the lines.
func bfclIn(t *testing.T, lines ...string) bfcl {
	t.Helper()
	o := bfclDefaults()
	o.Path, o.Categories, o.Prompts, o.DisableShuffle, o.NoOversample = t.TempDir(), []string{"simple"}, 10, true, true
	write(t, filepath.Join(o.Path, "BFCL_v3_simple.json"), strings.Join(lines, "\n"))
	return o
}

func TestBFCLNeeds(t *testing.T) {
	complains(t, failure(made(t.Context(), bfclDefaults(), Text{}, numpy.NewStreams(0))),
		"dataset bfcl: needs a tokenizer")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := made(ctx, bfclIn(t, bfclGood), Text{Counter: byWords{}, Template: noTags{}}, numpy.NewStreams(0))
	assert.Is(t, err, context.Canceled)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	fine(t, os.WriteFile(path, []byte(content), 0o600))
}

func TestBFCLKeepsWhatItTranslates(t *testing.T) {
	function := `{"z": 1e999, "type": "dict", "a": [{"type": "any"}, 12345678901234567890, "dict", {"type": ` +
		`["dict"]}], "z": NaN, "type": "float"}`
	question := `[[{"role": "user", "name": "x", "content": "é <b>", "role": "system"}, {"content": [1]}]]`
	o := bfclIn(t, `{"function": `+function+`, "question": `+question+`}`)
	list := must(made(t.Context(), o, Text{Counter: byWords{}, Template: noTags{}}, numpy.NewStreams(0)))(t)
	turn := drain(t, list)[0].Turns[0]
	same(t, "overrides", string(turn.Overrides), `{"tools":[{"type":"function","function":{"z":null,"type":"number",`+
		`"a":[{"type":"string"},12345678901234567890,"dict",{"type":["dict"]}]}}],"tool_choice":"auto"}`)
	same(t, "messages", string(turn.Messages), `[{"role":"system","name":"x","content":"é <b>"},{"content":[1]}]`)
	same(t, "text", turn.Text, "")
	same(t, "input tokens", turn.InputTokens, 2) // of the contents, since nothing renders
	same(t, "description", list.About,
		"bfcl: 1 prompts of 1 in "+o.Path+" (simple), 1 counted without chat template and tools")
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	fine(t, os.MkdirAll(path, 0o700))
}

const bfclGood = `{"question": [[{"role": "user", "content": "what"}]], "function": {"name": "f"}}`

func TestBFCLBadRows(t *testing.T) {
	tests := []struct{ name, row, want string }{
		{"question no array", `{"question": 7, "function": {"name": "f"}}`,
			`line 2: expected "question" to be an array: got a number`},
		{"message no object", `{"question": [["hi"]], "function": {"name": "f"}}`,
			"line 2: expected each message to be an object: got a string"},
		{"function no object", `{"question": [[{}]], "function": "f"}`,
			`line 2: expected "function" to be an object or an array of them: got a string`},
		{"functions no objects", `{"question": [[{}]], "function": [1]}`,
			`line 2: expected each "function" to be an object: got a number`},
		{"too deep", `{"question": ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
			"line 2: more than 100 objects"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := bfclIn(t, bfclGood, test.row)
			text := Text{Counter: byWords{}, Template: roleTags{}}
			complains(t, failure(made(t.Context(), o, text, numpy.NewStreams(0))), "dataset bfcl: ",
				"BFCL_v3_simple.json, "+test.want)
			o.Prompts = 1 // the bad row is not reached
			if _, err := made(t.Context(), o, text, numpy.NewStreams(0)); err != nil {
				t.Errorf("without the bad row: got error %v", err)
			}
		})
	}
	o := bfclIn(t, `{"question": [], "function": {"name": "f"}}`, `{"question": [[]], "function": {"name": "f"}}`,
		`{"question": ["x"], "function": {"name": "f"}}`, `{"question": [[{}]]}`,
		`{"question": [[{}]], "function": null}`)
	complains(t, failure(made(t.Context(), o, Text{Counter: byWords{}}, numpy.NewStreams(0))),
		"no question of simple has messages and functions")
}

func TestBFCLFindsItsFiles(t *testing.T) {
	hub := t.TempDir()
	repository := filepath.Join(hub, "datasets--gorilla-llm--Berkeley-Function-Calling-Leaderboard")
	files := filepath.Join(repository, "snapshots", "abc")
	for _, dir := range []string{files, filepath.Join(repository, "refs")} {
		mkdir(t, dir)
	}
	write(t, filepath.Join(repository, "refs", "main"), "abc\n")
	write(t, filepath.Join(files, "BFCL_v3_simple.json"), bfclGood)
	tests := []struct {
		name, path, category string
		want                 string // "" for success
	}{
		{"snapshot", files, "simple", ""},
		{"repository in the cache", repository, "simple", ""},
		{"cache", hub, "simple", ""},
		{"unknown in a directory", files, "nope", `unknown category "nope"; give --bfcl-categories some of: simple`},
		{"no directory", files + "/none", "simple", "none: file does not exist; give the directory"},
		{"a file", filepath.Join(files, "BFCL_v3_simple.json"), "simple", "this is a file"},
		{"nothing there", t.TempDir(), "simple", "no file BFCL_v3_<category>.json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := bfclDefaults()
			o.Path, o.Categories, o.Prompts = test.path, []string{test.category}, 1
			_, err := made(t.Context(), o, Text{Counter: byWords{}}, numpy.NewStreams(0))
			if test.want != "" {
				complains(t, err, "dataset bfcl: ", test.want)
			} else if err != nil {
				t.Errorf("got error %v", err)
			}
		})
	}
}
