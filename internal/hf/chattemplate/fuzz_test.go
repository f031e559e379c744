package chattemplate

import (
	"encoding/json"
	"testing"

	"benchtop/internal/assert"
)

// FuzzNew looks for templates that panic or do not come to an end.
func FuzzNew(f *testing.F) {
	for _, s := range []string{
		"{% for m in messages %}{{ m.role ~ m['content'] }}{% endfor %}",
		"{%- if a is not none -%}x{%+ else %}{% endif %}",
		"{% macro m(a, b='c') %}{{ a if b in 'cd' else [a, {1: b}] }}{% endmacro %}{{ m(1, b=2)|trim }}",
		"{% raw %}{{{% endraw %}{# c #}",
		"{% set x, y = (1, 2) %}{% set n.x %}{% endset %}{{ x[1:-1:2] }}", `{{ "\x41\u00e9\"" * 2 ** 3 // 1.5e3 }}`,
		"{{ f(a in b - c) }}", "{{ a if b if c }}",
		"{% filter upper | trim %}a{% endfilter %}{% generation %}{% set x | d('y') %}{% endset %}{% endgeneration %}",
		"{% for a, b in [(1, 2)] if a not in [b] %}{{ loop.previtem is not none }}{% break %}{% else %}{{ not -a.0 ~ " +
			"'b' 'c' }}{% endfor %}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		template, err := New(source, nil)
		if err != nil {
			return
		}
		_, _ = template.Render(t.Context(), Input{Messages: json.RawMessage(hi)}) // an error is fine
	})
}

// FuzzRender looks for chats that panic.
func FuzzRender(f *testing.F) {
	template, err := New("{{ messages }}{{ tools | tojson(indent=1) }}{% for m in messages %}{{ m.content | trim }}{{ "+
		"m.keys() | list }}{% endfor %}{{ x }}", nil)
	assert.Fine(f, err)
	f.Add([]byte(hi), []byte("[]"), []byte(`{"x": [1.5e300, null, "\ud800"]}`))
	f.Add([]byte("[[[]"), []byte("nul"), []byte("{"))
	f.Fuzz(func(t *testing.T, messages, tools, arguments []byte) {
		_, _ = template.Render(t.Context(), Input{messages, tools, arguments}) // an error is fine
	})
}

// FuzzLoad looks for files that panic.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"chat_template": [{"name": "default", "template": "{{ bos_token }}"}]}`),
		[]byte(`{"chat_template": "x"}`))
	f.Fuzz(func(t *testing.T, config, legacy []byte) {
		if l, err := Load("m", Files{Config: config, JSON: legacy}); err == nil && l != nil {
			_, _ = l.Render(t.Context(), Input{Messages: json.RawMessage(hi)}) // an error is fine
		}
	})
}
