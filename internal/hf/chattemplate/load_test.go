package chattemplate

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	const both = `{"chat_template": [{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t{{ ` +
		`bos_token }}"}]}`
	for _, c := range []struct {
		name  string
		files Files
		tools string
		want  string // "" for no template
		err   string
	}{
		{name: "nothing"},
		{name: "no template", files: Files{Config: []byte(`{"chat_template": null, "bos_token": null}`)}},
		{name: "config", files: Files{Config: []byte(`{"chat_template": "c{{ eos_token }}"}`),
			Tokens: map[string]string{"eos_token": "</s>"}}, want: "c</s>"},
		{name: "a file of its own", files: Files{Jinja: []byte("\ufeffj"), JSON: []byte(`{"chat_template": "k"}`),
			Config: []byte(both)}, want: "j"},
		{name: "JSON", files: Files{JSON: []byte(`{"chat_template": "k"}`), Config: []byte(both)}, want: "d"},
		{name: "JSON alone", files: Files{JSON: []byte(`{"chat_template": "k"}`), Config: []byte(`{}`)}, want: "k"},
		{name: "default", files: Files{Config: []byte(both)}, want: "d"},
		{name: "tools", files: Files{Config: []byte(both), Tokens: map[string]string{"bos_token": "<b>"}}, tools: "[]",
			want: "t<b>"},
		{name: "tools in a file", files: Files{Jinja: []byte("j"), ToolJinja: []byte("\ufefft"), Config: []byte(both)},
			tools: "[]", want: "t"},
		{name: "a file for tools, and none", files: Files{Jinja: []byte("j"), ToolJinja: []byte("t")}, want: "j"},
		{name: "tools without a file", files: Files{Jinja: []byte("j"), Config: []byte(both)}, tools: "[]", want: "j"},
		{name: "a file for tools alone", files: Files{ToolJinja: []byte("t"), Config: []byte(both)}, err: "default"},
		{name: "no default", files: Files{Config: []byte(`{"chat_template": [{"name": "rag", "template": "r"}]}`)},
			err: "default"},
		{name: "broken template", files: Files{Jinja: []byte("{{")},
			err: "model org/m: chat template: line 1: unterminated tag"},
		{name: "broken config", files: Files{Config: []byte(`{"chat`)}, err: "tokenizer_config.json: unexpected end"},
		{name: "broken JSON", files: Files{JSON: []byte(`x`)}, err: "chat_template.json"},
		{name: "a number", files: Files{Config: []byte(`{"chat_template": 1}`)}, err: "neither a text nor a list"},
		{name: "half a list", files: Files{Config: []byte(`{"chat_template": [{"name": "x"}]}`)}, err: "lacks"},
	} {
		l, err := Load("org/m", c.files)
		got := ""
		if l != nil && err == nil {
			got, err = l.Render(t.Context(), Input{Messages: json.RawMessage(hi), Tools: json.RawMessage(c.tools)})
		}
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q and %v, want %q and %q", c.name, got, err, c.want, c.err)
		}
	}
}
