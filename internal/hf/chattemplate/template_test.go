package chattemplate

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"benchtop/internal/assert"
)

const hi = `[{"role":"assistant","content":"Hi"}]`

func render(t *testing.T, source, messages, arguments string) (string, error) {
	t.Helper()
	template, err := New(source, map[string]string{"bos_token": "<s>"})
	if err != nil {
		return "", err
	}
	return template.Clock(goldenNow).Render(t.Context(),
		Input{Messages: json.RawMessage(messages), Arguments: json.RawMessage(arguments)})
}

// TestRender holds templates that other engines get wrong in silence. The expected texts are those of Jinja2 3.1.6, set
// up as transformers does.
func TestRender(t *testing.T) {
	for _, c := range append(assert.Golden[[2]string](t, "testdata/rendered.jsonl"), [][2]string{
		{"{{ " + strings.Repeat("not ", 3000) + strings.Repeat("-", 900) + "1 }}", "True"},
	}...) {
		assert.Equal(t, assert.Must(render(t, c[0], hi, ""))(t), c[1], "%s", c[0])
	}
}

// TestRefused holds templates that must not be rendered.
func TestRefused(t *testing.T) {
	for _, c := range append(assert.Golden[[2]string](t, "testdata/refused.jsonl"), [][2]string{
		{"{{ " + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200) + " }}", "nested deeper than 60"},
		{"{{ " + strings.Repeat("not ", 4001) + "1 }}", "more than 4000 tokens"},
		{strings.Repeat("{% if true %}", 200) + strings.Repeat("{% endif %}", 200), "nested deeper than 60"},
		{"{{ '" + strings.Repeat("x", maxSource) + "' }}", "longer than"},
		{"\xff", "not UTF-8"},
	}...) {
		got, err := render(t, c[0], hi, "")
		if err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%.80s: %q and %v, want an error with %q", c[0], got, err, c[1])
		}
	}
}

// TestLost holds renderings from which something is missing.
func TestLost(t *testing.T) {
	for _, c := range []struct{ source, messages, tools, why string }{
		{"", `[{"role":"user","content":"hi"}]`, "", "lost the text of message 1"},
		{"{{ messages[1].content }}",
			`[{"role":"system","content":"be"},{"role":"user","content":"hi"},{"role":"user","content":"you"}]`, "",
			"message 3"},
		{"{% if not tools %}{% endif %}", `[]`, `[{"type":"function","function":{"name":"weather"}}]`,
			"lost tool weather"},
		{"{{ tools }}", `[]`, `[{"type":"function","function":{"name":"weather"}}]`, ""},
		{"no word of them", `[{"role":"user","content":[{"type":"text","text":"hi"}]}, 1]`,
			`[{"function":{"name":"weather"}}, 1, {}]`, ""},
	} {
		template, err := New(c.source, nil)
		if err == nil {
			_, err = template.Render(t.Context(),
				Input{Messages: json.RawMessage(c.messages), Tools: json.RawMessage(c.tools)})
		}
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", c.source, err, c.why)
		}
	}
}

func TestInputRefused(t *testing.T) {
	for _, c := range []struct{ messages, arguments, why string }{
		{"", "", "must be a JSON array"},
		{"{}", "", "must be a JSON array"},
		{"[1", "", "must be a JSON array"},
		{"[] []", "", "must be a JSON array"},
		{"[99999999999999999999]", "", "too large"},
		{strings.Repeat("[", 300) + strings.Repeat("]", 300), "", "nested deeper"},
		{"[]", "[]", "must be a JSON object"},
		{"[]", `{"messages": 1}`, "must not hold"},
		{"[]", `{"chat_template": "x"}`, "must not hold"},
	} {
		if _, err := render(t, "x", c.messages, c.arguments); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s and %s: %v, want an error with %q", c.messages, c.arguments, err, c.why)
		}
	}
	if got, err := render(t, "{{ add_generation_prompt }}{{ x }}", "[]",
		`{"add_generation_prompt": false, "x": 2}`); got != "False2" || err != nil {
		t.Errorf("arguments: %q, %v", got, err)
	}
	if got, err := render(t, "{{ tools[0].name }}", "[]", `{"tools": [{"name": "f"}]}`); got != "f" || err != nil {
		t.Errorf("tools as an argument: %q, %v", got, err)
	}
}

func TestRenderStopsWithItsContext(t *testing.T) {
	template := assert.Must(New("{% for a in range(9999) %}{% for b in range(999) %}{% endfor %}{% endfor %}", nil))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Is(t, assert.Failure(template.Render(ctx, Input{Messages: json.RawMessage(hi)})), context.Canceled)
}

func TestRenderConcurrently(t *testing.T) {
	template, err := New("{% macro m(x) %}{{ x.content }}{% endmacro %}{% for x in messages %}{{ m(x) }}{% endfor %}",
		nil)
	assert.Fine(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if s, err := template.Render(t.Context(), Input{Messages: json.RawMessage(hi)}); s != "Hi" ||
					err != nil {
					t.Errorf("%q, %v", s, err)
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkRender(b *testing.B) {
	template, err := New("{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' "+
		"}}{% endfor %}", nil)
	assert.Fine(b, err)
	in := Input{Messages: json.RawMessage(`[{"role":"user","content":"` + strings.Repeat("word ", 1000) + `"}]`)}
	for b.Loop() {
		if _, err := template.Render(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// Jinja2 makes line feeds of the carriage returns of a template, but not of those that a string in it names.
func TestCarriageReturnsInStrings(t *testing.T) {
	const messages = `[{"role":"assistant","content":"x\r\ny"}]`
	for source, want := range map[string]string{
		`{{ 'a\r\nb' }}`: "a\r\nb",
		"{{ 'a\r\nb' }}": "a\nb",
		`{{ messages[0].content.replace('\r\n', '|') }}`: "x|y",
		`{{ messages[0].content.split('\r')[0] }}`:       "x",
		`{{ {'a\rb': 1} }}`:                              `{'a\rb': 1}`,
	} {
		assert.Equal(t, assert.Must(render(t, source, messages, ""))(t), want, "%s", source)
	}
}
