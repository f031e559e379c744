package chattemplate

import (
	"strings"
	"testing"

	"benchtop/internal/ci"
)

// A template comes with a model from the network. None may take the time and memory of the program that measures.
func TestCostIsBounded(t *testing.T) {
	ci.SkipUnderRace(t)
	const (
		doubled = "{% set n = namespace(a=[], b=[]) %}{% for i in range(99) %}{% set n.a = [n.a, n.a] %}{% set n.b = " +
			"[n.b, n.b] %}{% endfor %}"
		nested = "{% set n = namespace(a=[], b=[]) %}{% for i in range(999) %}{% set n.a = [n.a] %}{% set n.b = " +
			"[n.b] %}{% endfor %}"
		megabyte = "{% set s = 'x' * 1000000 %}"
	)
	for _, c := range []struct{ source, why string }{
		{doubled + "{{ n.a }}", "too long a text"},
		{doubled + "{{ n.a | tojson }}", "too long a text"},
		{doubled + "{{ n.a == n.b }}", "compares too much"},
		{doubled + "{{ n.a in [n.b] }}", "compares too much"},
		{nested + "{{ n.a }}", "nested deeper than"},
		{nested + "{{ n.a | tojson }}", "nested deeper than"},
		{nested + "{{ n.a == n.b }}", "nested deeper than"},
		{megabyte + "{{ range(100000) | join(s) }}", "too long a text"},
		{megabyte + "{{ s.join(('y ' * 1000).split()) }}", "too long a text"},
		{megabyte + "{{ ('\\n' * 1000) | indent(s) }}", "too long a text"},
		{megabyte + "{{ [1] | tojson(indent=s) }}", "too wide"},
		{megabyte + "{% set s = s * 16 %}{% for i in range(9999) %}{{ s.find('y') }}{% endfor %}", "runs too long"},
		{"{% set a = range(99999) | list %}{% set b = range(99999) | list %}{% for i in range(99) %}{{ a == b }}{% " +
			"endfor %}", "runs too long"},
		{megabyte + "{{ (s * 16).split('x') | length }}", "runs too long"},
	} {
		got, err := render(t, c.source, hi, "")
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%.160s: %.40q and %v, want an error with %q", c.source, got, err, c.why)
		}
	}
}

// The bounds are far above what a long chat takes.
func TestLongChat(t *testing.T) {
	const chatml = "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}{{ m.content }}{{ '<|im_end|>' " +
		"}}\n{% " +
		"endfor %}"
	messages := "[" + strings.Repeat(`{"role":"user","content":"`+strings.Repeat("word ", 200)+`"},`, 2000) + hi[1:]
	if got, err := render(t, chatml, messages, ""); err != nil || len(got) < 2_000_000 {
		t.Errorf("%d bytes, error %v", len(got), err)
	}
}
