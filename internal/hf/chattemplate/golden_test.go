package chattemplate

import (
	"benchtop/internal/assert"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

type goldenTemplate struct {
	Name, Template string
	Cases          []struct {
		Name     string
		Context  json.RawMessage
		Expected *string
		Error    string
	}
}

// TestGolden renders what Jinja2 rendered. Every case of the templates here must come out equal, or be refused where
// Jinja2 refuses it.
func TestGolden(t *testing.T) {
	golden(t, "testdata/chat-templates-own.jsonl.gz", true)
}

// TestGoldenThirdParty does the same with templates that are not ours to hand on, where BENCHTOP_GOLDEN names a folder
// with them, or one with a folder tokenizers. A template may be refused; a rendering must be right.
func TestGoldenThirdParty(t *testing.T) {
	more := os.Getenv("BENCHTOP_GOLDEN")
	if more == "" {
		return
	}
	for _, folder := range []string{more, filepath.Join(more, "tokenizers")} {
		files := assert.Must(filepath.Glob(filepath.Join(folder, "chat-templates-*.jsonl.gz")))(t)
		for _, file := range files {
			golden(t, file, false)
		}
	}
}

func golden(t *testing.T, file string, all bool) {
	equal, refused, refusedRight, cases := 0, 0, 0, 0
	for _, g := range assert.Golden[goldenTemplate](t, file) {
		template, broken := New(g.Template, map[string]string{"bos_token": "<s>", "eos_token": "</s>"})
		for _, c := range g.Cases {
			cases++
			got, err := "", broken
			if broken == nil {
				got, err = template.Clock(goldenNow).Render(t.Context(), goldenInput(t, c.Context))
			}
			switch {
			case c.Expected == nil && err == nil:
				t.Errorf("%s, %s: rendered %q, although Jinja2 refuses it: %s", g.Name, c.Name, got, c.Error)
			case c.Expected == nil:
				refusedRight++
			case err != nil && (all || !isTemplateError(err)):
				t.Errorf("%s, %s: %v", g.Name, c.Name, err)
			case err != nil:
				refused++
				t.Logf("%s, %s: refused: %v", g.Name, c.Name, err)
			case got != *c.Expected:
				t.Errorf("%s, %s: WRONG:\n%q\nwant\n%q", g.Name, c.Name, got, *c.Expected)
			default:
				equal++
			}
		}
	}
	if cases == 0 {
		t.Fatalf("%s has no cases", file)
	}
	t.Logf("%s: %d cases, %d equal, %d refused as Jinja2 does, %d refused though Jinja2 renders them", file, cases,
		equal, refusedRight, refused)
}

// isTemplateError tells a template that is not understood from one that refuses a chat.
func isTemplateError(err error) bool {
	_, template := errors.AsType[*TemplateError](err)
	_, refuses := errors.AsType[refusal](err)
	return template && !refuses
}

func goldenNow() time.Time { return time.Date(2026, 11, 20, 9, 8, 7, 0, time.UTC) }

// goldenInput takes apart what a template sees. The rest of the context are arguments.
func goldenInput(t *testing.T, raw json.RawMessage) Input {
	context := assert.Must(readJSON(raw))(t)
	rest := newDict()
	var in Input
	for i, k := range context.(*dict).keys {
		p := printer{item: ", ", key: ": "}
		assert.Fine(t, p.write(context.(*dict).at(i), 0))
		switch k {
		case "messages":
			in.Messages = json.RawMessage(p.String())
		case "tools":
			in.Tools = json.RawMessage(p.String())
		default:
			assert.Fine(t, rest.set(k, context.(*dict).at(i)))
		}
	}
	p := printer{item: ", ", key: ": "}
	assert.Fine(t, p.write(rest, 0))
	in.Arguments = json.RawMessage(p.String())
	return in
}
