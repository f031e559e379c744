package datasets

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/datasets/constraint"
	"benchtop/internal/hf/numpy"
)

func structured(t *testing.T, o structuredOutput, n int) ([]Conversation, error) {
	t.Helper()
	o.API = cmp.Or(o.API, "vllm")
	o.Common = Common{Prompts: n, Seed: 3}
	s, err := made(t.Context(), o, Text{Counter: byWords{}}, numpy.NewStreams(0))
	if err != nil {
		return nil, err
	}
	return drain(t, s), nil
}

// Exactly the share of requests has the constraint, and every answer is judged.
func TestStructuredOutput(t *testing.T) {
	for _, c := range []struct {
		form, api, field, right, wrong string
	}{
		{"json", "vllm", `{"structured_outputs": {"json": {"type": "object"`, `{"name": "a", "email": "b"}`,
			`{"name": "a"}`},
		{"json-unique", "vllm", `{"structured_outputs": {"json": {"type": "object"`, `{"name": "a", "email": "b"}`,
			`{"name": "a"}`},
		{"regex", "vllm", `{"structured_outputs": {"regex": "\\w+@\\w+\\.com\\n"}}`, "a@b.com\n", "a@b.com"},
		{"choice", "vllm", `{"structured_outputs": {"choice": ["Positive", "Negative"]}}`, "Positive", "Neutral"},
		{"grammar", "vllm", `{"structured_outputs": {"grammar": "root ::= select_statement\n`,
			"SELECT col_1 from table_2 where col_2 = 1", "SELECT *"},
		{"json", "openai", `{"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": ` +
			`{"type"`, `{"name": "a", "email": "b"}`, `7`},
		{"json", "sglang", `{"json_schema": "{\"type\": \"object\"`, `{"name": "a", "email": "b"}`, `7`},
		{"grammar", "sglang", `{"ebnf": "root ::=`, "SELECT col_1 from table_2 where col_2 = 1", "SELECT *"},
		{"json", "llama.cpp", `{"json_schema": {"type": "object"`, `{"name": "a", "email": "b"}`, `7`},
	} {
		all := must(structured(t, structuredOutput{Form: c.form, API: c.api, Ratio: 0.3, OutputLen: 128}, 20))(t)
		n, seen := 0, map[string]bool{}
		for _, x := range all {
			turn := x.Turns[0]
			if turn.Class == "constrained" {
				n++
				if !strings.HasPrefix(string(turn.Overrides), c.field) || !json.Valid(turn.Overrides) {
					t.Errorf("%s, %s: %s", c.form, c.api, turn.Overrides)
				}
			} else if turn.Overrides != nil || turn.Class != "unconstrained" {
				t.Errorf("%s: %q, %s", c.form, turn.Class, turn.Overrides)
			}
			seen[turn.Text] = true
			if j := turn.Judge.Judge(c.right, false); j.Wrong != "" {
				t.Errorf("%s: %q is wrong: %+v", c.form, c.right, j)
			}
			if j := turn.Judge.Judge(c.wrong, false); j.Wrong == "" {
				t.Errorf("%s: %q is right", c.form, c.wrong)
			}
		}
		if unique := len(seen) == 20; n != 6 || unique != (c.form == "json-unique") {
			t.Errorf("%s: %d with the constraint, %d prompts", c.form, n, len(seen))
		}
	}
}

// Rows of the hub have a schema each; one that cannot be used is left out.
func TestJSONMode(t *testing.T) {
	row := func(schema string) string {
		return `{"prompt": [{"role": "system", "content": "s"}, {"role": "user", "content": "one two"}], ` +
			`"completion": "{}", "schema": ` + schema + "}\n"
	}
	h := hfTest{id: "NousResearch/json-mode-eval",
		rows:    row(`"{\"type\": 7}"`) + row(`"{\"type\": \"object\", \"required\": [\"a\"]}"`),
		options: Common{Prompts: 1}}
	list := must(h.open(t))(t)
	turn := drain(t, list)[0].Turns[0]
	same(t, "prompt", turn.Text, "<|system|>\ns\n<|user|>\none two\n<|assistant|>\n")
	same(t, "body", string(turn.Overrides),
		`{"structured_outputs": {"json": "{\"type\": \"object\", \"required\": [\"a\"]}"}}`)
	if j := turn.Judge.Judge(`{"a": 1}`, false); j.Wrong != "" {
		t.Errorf("%+v", j)
	}
	if j := turn.Judge.Judge(`{"b": 1}`, false); j.Wrong != constraint.Violation {
		t.Errorf("%+v", j)
	}
}

func TestSchemaFile(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		path := filepath.Join(dir, "schema.json")
		fine(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for text, want := range map[string]string{
		``:                         "expected a JSON schema",
		`[]`:                       "expected a JSON schema, which is an object: got an array",
		`{"type": "nonsense"}`:     "the schema cannot be used",
		`{"$ref": "http://a/b"}`:   "is not loaded",
		strings.Repeat(" ", 2<<20): "more than 1024 KiB",
	} {
		complains(t, failure(structured(t, structuredOutput{Form: "json", Ratio: 1, SchemaPath: write(text)}, 2)), want,
			"schema.json")
	}
	if _, err := structured(t, structuredOutput{Form: "json", Ratio: 1,
		SchemaPath: write("\ufeff{\"type\": \"object\"}\r\n")}, 2); err != nil {
		t.Errorf("a schema with a byte order mark: %v", err)
	}
	// A member that is added is part of the answer where the schema is closed.
	for _, text := range []string{`{"type": "object"}`, `{"properties": {}, "additionalProperties": false}`,
		`{"required": ["b"], "properties": {"b": {}, "a": {}}}`} {
		all := must(structured(t, structuredOutput{Form: "json-unique", Ratio: 1, SchemaPath: write(text)}, 3))(t)
		for _, x := range all {
			_, schema, _ := strings.Cut(x.Turns[0].Text, "schema: ")
			var members struct{ Properties map[string]any }
			if err := json.Unmarshal([]byte(schema), &members); err != nil {
				t.Fatalf("%s: %v", schema, err)
			}
			answer := map[string]string{"b": ""}
			if !strings.Contains(text, `"b"`) {
				delete(answer, "b")
			}
			for name := range members.Properties {
				if strings.HasPrefix(name, uniqueMember) {
					answer[name] = "x"
				}
			}
			right, _ := json.Marshal(answer)
			if j := x.Turns[0].Judge.Judge(string(right), false); j.Wrong != "" || len(answer) == 0 {
				t.Errorf("%s: %s: %+v", schema, right, j)
			}
		}
	}
	for _, bad := range []structuredOutput{
		{Form: "xml", Ratio: 1}, {Form: "json", Ratio: 1.5}, {Form: "json", Ratio: 1, API: "other"},
		{Form: "choice", Ratio: 1, API: "openai"},
		{Form: "choice", Ratio: 1, SchemaPath: "s.json"}, {Form: "json", Ratio: 1, SchemaPath: dir + "/none.json"},
	} {
		if _, err := structured(t, bad, 2); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}
