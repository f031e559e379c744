package chattemplate

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
)

const hi = `[{"role":"assistant","content":"Hi"}]`

func render(t *testing.T, source, messages, arguments string) (string, error) {
	t.Helper()
	template, err := New(source, map[string]string{"bos_token": "<s>"})
	if err != nil {
		return "", err
	}
	return template.Clock(goldenNow).Render(t.Context(), Input{Messages: json.RawMessage(messages), Arguments: json.RawMessage(arguments)})
}

// TestRender holds templates that other engines get wrong in silence. The expected texts are those of Jinja2 3.1.6, set up
// as transformers does.
func TestRender(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"{{ messages[-1].content }}", "Hi"},
		{"{{ none }}|{{ tools }}|{{ nope }}|{{ true }}", "None|None||True"},
		{"{{ tools is defined }} {{ nope is defined }} {{ tools is none }}", "True False True"},
		{"{{ 'a' }} {% if true %}b{% endif %}", "a b"},
		{"x\n  {% if true %}\n  y\n  {% endif %}\nz\n", "x\n  y\nz"},
		{"a \u00a0{{- 'b' -}}\u3000 c", "abc"},
		{`{{ '\\' + 'n' }}{{ 'a\nb' }}{{ "it's" }}{{ '\x41\u00e9\101\d' }}`, "\\na\nbit'sAéA\\d"},
		{"{% raw %}{{ x }}{% endraw %}{# gone #}", "{{ x }}"},
		{"{{ 'häß'|length }} {{ 'häß'[1:] }} {{ 'häß'[::-1] }} {{ 'häß'[1] }}", "3 äß ßäh ä"},
		{"{{ {'b': 1, 'a': [none, 1.0, '<é>']} | tojson }}", `{"b": 1, "a": [null, 1.0, "<é>"]}`},
		{"{{ {'b': {}, 'a': [1]} | tojson(indent=2) }}", "{\n  \"b\": {},\n  \"a\": [\n    1\n  ]\n}"},
		{"{{ {1: 'x', true: 'y'} }} {{ ['a\\'b', (1,)] }}", `{1: 'y'} ["a'b", (1,)]`},
		{"{% for x in [1,2,3] if x != 2 %}{{ loop.index }}{{ x }}{{ ',' if not loop.last }}{% endfor %}", "11,23"},
		{"{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{% endfor %}{{ x }}", "1"},
		{"{% set n = namespace(x=1) %}{% for i in [1,2] %}{% set n.x = n.x + i %}{% endfor %}{{ n.x }}", "4"},
		{"{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}", "02"},
		{"{% macro m(a, b=a) %}[{{ a }}{{ b }}]{% endmacro %}{{ m(1) }}{{ m(1, b=2) }}", "[11][12]"},
		{"{% macro m(a, b=none, c='') %}{{ a is defined }}{{ b }}{{ c }}{% endmacro %}{{ m() }}", "FalseNone"},
		{"{% set b %} {{ 1 }} {% endset %}{{ b | trim }}", "1"},
		{"{% generation %}g{% endgeneration %}", "g"},
		{"{{ strftime_now('%d %b %Y %H:%M:%S %-d') }}", "20 Nov 2026 09:08:07 20"},
		{"{{ ('a' if false else 'b' if nope else 'c') ~ ('d' if true) }}", "cd"},
		{"{{ (1 == 2) != (2 == 2) }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }}", "True -4 2 3.5"},
		{"{{ messages | selectattr('role', 'equalto', 'assistant') | map(attribute='content') | join(',') }}", "Hi"},
		{"{{ none | selectattr('x') | list }}", "[]"},
		{"{{ ' a b '.strip().split(' ')[-1] }} {{ 'a,b,c'.rsplit(',', 1) }}", "b ['a,b', 'c']"},
		{"{% for k, v in {'b': 1, 'a': 2}.items() %}{{ k }}{{ v }}{% endfor %}{{ {'b': 1, 'a': 2} | dictsort }}", "b1a2[('a', 2), ('b', 1)]"},
		{"{{ bos_token }}{{ messages[5] }}{{ messages[0].nope }}{{ none.x }}", "<s>"},
		{"{% for x in [1] if x > 1 %}{{ x }}{% else %}E{% endfor %}", "E"},
		{"{{ 'x' | safe }}{{+ ['b', 'B', 'a'] | unique | join }}{{ 'an old-new (dog)' | title }}", "xbaAn Old-New (Dog)"},
		{"{{ ' 12 ' | int + 1 }}{{ '3.7' | int }}{{ 'x' | int(5) }} {{ '2' | float }} {{ none | float }}", "1335 2.0 0.0"},
		{"{{ 1 + (1 is odd) | int }}{{ not 2 is odd }}{{ -1 is odd and nope is not defined }}", "2TrueTrue"},
		{"{{ a in b | list }}", "False"},
		{"{% macro m() %}{{ x }}{% endmacro %}{% if true %}{% set x = 1 %}{{ m() }}{% endif %}{% set x = 2 %}{{ m() }}", "12"},
		{"{% for i in [1] %}[{{ tools }}]{% endfor %}{% set tools = 3 %}{{ tools }}", "[]3"}, // Jinja2 finds no outer one
		{"{% for x in [1, 2] %}{% break %}{% else %}E{% endfor %}{% for x in [1, 2] %}{% if x == 2 %}{% continue %}{% endif %}{% else %}E{% endfor %}", "E"},
		{"{% for a, b, c in [(1, 2, 3), 'xyz'] if a != 1 %}{{ a ~ b ~ c ~ loop.length }}{% endfor %}", "xyz1"},
		{"{% for a, b in [[1, 2], (3, 4)] %}{{ loop.previtem }}{{ loop.nextitem }} {% endfor %}", "(3, 4) [1, 2] "},
		{"{% for a, b in [[1, 2], (3, 4)] if a %}{{ loop.nextitem }}{% endfor %}", "(3, 4)"},
		{"{% set a = 1 %}{% generation %}{% set a = 2 %}{{ a }}{% endgeneration %}{{ a }}", "21"},
		{"{% for i in [1, 2] %}{% set x %}a{% if i == 1 %}{% continue %}{% endif %}{% endset %}{{ i ~ x }}{% endfor %}",
			"2a"},
		{"{% set x | upper | trim %} a {% endset %}[{{ x }}]{% filter upper | replace('A', 'b') %}a{{ 'c' }}{% endfilter %}", "[A]bC"},
		{"{{ (nope is string, [1] | first is odd, -1 | abs, - 2 * -3, 'a' 'b' \"c\") }}", "(False, True, 1, 6, 'abc')"},
		{"{{ not not 1 == 1 and 2 not in [1] or nope.x }}{{ '1' + 2 ~ 3 * 2 }}", "True126"},
		{"{% for a in [1, 2] %}{% for b in [3, 4] if loop.first %}{{ b }}{{ loop.index }}{% endfor %}{% endfor %}",
			"3142"},
		{"{{ {'a': [1, 2,],}['a'].1 }}{{ [1, 2, 3][:-1] }}{{ 'abc'[1::1] }}{{ ('f' if nope) is defined }}",
			"2[1, 2]bcFalse"},
		{"{% macro m(a=1, b=a) %}{{ a ~ b }}{% endmacro %}{{ m() }}{{ m(b=3,) }}{{ {'m': m}.m(2) }}", "111322"},
		{"{% macro m(n) %}{{ n }}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}{% generation %}{{ m(2) }}{% endgeneration %}", "210"},
		{"{{ " + strings.Repeat("not ", 3000) + strings.Repeat("-", 900) + "1 }}", "True"},
		{"{{ _ }}{{ __x is defined }}{{ nil is defined }}", "FalseFalse"},
		{"{{ tools }}{% for i in [1] %}[{{ tools }}]{% endfor %}{% set tools = 3 %}{{ tools }}", "None[None]3"},
	} {
		got, err := render(t, c.source, hi, "")
		if err != nil || got != c.want {
			t.Errorf("%s: %q, want %q: %v", c.source, got, c.want, err)
		}
	}
}

// TestRefused holds templates that must not be rendered.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ source, why string }{
		{"{{ 'a' + [1] }}", "cannot compute str + list"},
		{"{{ 'a' + nope }}", `str + the undefined "nope"`},
		{"{{ ('a' if false) + 'b' }}", "an undefined value + str"},
		{"{{ nope.x }}", `the undefined "nope" has no attribute "x"`},
		{"\n{{ messages[0].nope.x }}", "line 2"},
		{"{% for x in none %}{% endfor %}", "cannot loop over None"},
		{"{{ 1 | length }}", "int has no length"},
		{"{{ a is none in b }}", "needs parentheses"},
		{"{{ a is none if b else c }}", "needs parentheses"},
		{"{{ a is string | list }}", "cannot loop over bool"},
		{"{{ a is none is none }}", "needs parentheses"},
		{"{{ 1 < 2 < 3 }}", "chain"},
		{"{{ f(1 in [1] - 2) }}", "cannot compute list - int"},
		{"{{ '%s' % 1 }}", "cannot compute str % int"},
		{"{{ 'x' | safe + 'y' }}", "filter safe is not supported"},
		{"{{ 1 == not 2 }}", `unexpected "not"`},
		{"{{ 2 ** 3 }}", `unexpected "**"`},
		{"{{ 1, 2 }}", `unexpected ","`},
		{"{% if a if b else c %}{% endif %}", `unexpected "if"`},
		{"{% for a in [1] %}{% else %}{% break %}{% endfor %}", "{% break %} outside a loop"},
		{"{% for a in [1] %}{% generation %}{% break %}{% endgeneration %}{% endfor %}", "{% break %} outside a loop"},
		{"{% for a in b recursive %}{% endfor %}", "recursive"},
		{"{% for a, b, c in [(1, 2)] %}{% endfor %}", "2 values for 3 names"},
		{"{% for a in [1] if loop.first %}{% endfor %}", `the undefined "loop" has no attribute`},
		{"{% for i in [1] %}{% for j in [1] %}{{ x }}{% endfor %}{% set x = 1 %}{% endfor %}", "the variable x, read in an inner block"},
		{"{% set a, b = c %}", `unexpected ","`},
		{"{% set none = 1 %}", "cannot assign to none"},
		{"{% macro m(*a) %}{% endmacro %}", `unexpected "*"`},
		{"{% macro m(a=1, b) %}{% endmacro %}", "parameter b without a default"},
		{"{% macro m(a, a) %}{% endmacro %}", "a is declared twice"},
		{"{{ m(a=1, a=2) }}", "argument a given twice"},
		{"{{ m(a=1, 2) }}", "after the keyword argument a"},
		{"{{ m(1 2) }}", `unexpected "2"`},
		{"{{ [,] }}", `unexpected ","`},
		{"{{ {1: 2 3} }}", `unexpected "3"`},
		{"{{ a[] }}", `unexpected "]"`},
		{"{{ a.'b' }}", `unexpected string "b"`},
		{"{{ a[1.5].0.5 }}", `unexpected "0.5"`},
		{"{{ else }}", `unexpected "else"`},
		{"{{ f(a | safe) }}", "filter safe is not supported"},
		{"{% set x = a | safe %}", "filter safe is not supported"},
		{"{% filter count %}a{% endfilter %}", "int is not a str"},
		{"{% break %}", "{% break %} outside a loop"},
		{"{% endif %}", "unexpected {% endif %}"},
		{"{% else %}", "unexpected {% else %}"},
		{"{% if a %}{% else %}{% elif b %}{% endif %}", "unexpected {% elif %}"},
		{"{% for a in b %}\n{% if a %}{% endfor %}", "line 2: unexpected {% endfor %}"},
		{"{% if a %}{% endif b %}", `unexpected "b"`},
		{"{% raw %}", "{% raw %} has no {% endraw %}"},
		{"{% raw +%}{% endraw %}", "cannot end with +"},
		{"{{ caller() }}", `"caller" is not supported`},
		{"{{ __x.__class__ }}", `"__class__" is not supported`},
		{"{{ }}", "unexpected end of tag"},
		{"{# x", "unterminated comment"},
		{"{{ 1e5 }}", "unexpected"},
		{"{{ messages | groupby('role') }}", "filter groupby is not supported"},
		{"{{ messages.append(1) }}", `"append" of a list is not supported`},
		{"{{ 'a'.format(1) }}", `"format" of a str is not supported`},
		{"{{ 'x'.__class__ }}", "not supported"},
		{"{{ 'É'|lower }}", "not ASCII"},
		{"{{ namespace() }}", "cannot be printed"},
		{"{{ strftime_now('%c') }}", "%c is not supported"},
		{"{{ raise_exception('no ' ~ 'way') }}", "it refuses this chat: no way"},
		{"{% include 'x' %}", "the tag include"},
		{"{% import '/etc/passwd' as x %}", "the tag import"},
		{"{% extends 'x' %}", "the tag extends"},
		{"{% if true %}", "line 1: {% endif %} is missing"},
		{"{{ ((1) }}", `unexpected "}"`},
		{"{{ (1", "unterminated tag"},
		{"{{ 'a }}", "unterminated string"},
		{"{{ a ; b }}", `unexpected ";"`},
		{"{{ " + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200) + " }}", "nested deeper than 60"},
		{"{{ " + strings.Repeat("not ", 4001) + "1 }}", "more than 4000 tokens"},
		{strings.Repeat("{% if true %}", 200) + strings.Repeat("{% endif %}", 200), "nested deeper than 60"},
		{"{{ '" + strings.Repeat("x", maxSource) + "' }}", "longer than"},
		{"\xff", "not UTF-8"},
		{"{% macro m(n) %}{{ m(n+1) }}{% endmacro %}{{ m(0) }}", "nests deeper"},
		{"{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "runs too long"},
		{"{% set n = namespace(s='xxxxxxxx') %}{% for a in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}", "too long a text"},
		{"{{ 'x' * 1000000000 }}", "too long a text"},
		{"{{ range(100001) }}", "more than 100000"},
		{"{{ 9007199254740993 * 9007199254740993 }}", "too large"},
	} {
		got, err := render(t, c.source, hi, "")
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%.80s: %q and %v, want an error with %q", c.source, got, err, c.why)
		}
	}
}

// TestLost holds renderings from which something is missing.
func TestLost(t *testing.T) {
	for _, c := range []struct{ source, messages, tools, why string }{
		{"", `[{"role":"user","content":"hi"}]`, "", "lost the text of message 1"},
		{"{{ messages[1].content }}", `[{"role":"system","content":"be"},{"role":"user","content":"hi"},{"role":"user","content":"you"}]`, "", "message 3"},
		{"{% if not tools %}{% endif %}", `[]`, `[{"type":"function","function":{"name":"weather"}}]`, "lost tool weather"},
		{"{{ tools }}", `[]`, `[{"type":"function","function":{"name":"weather"}}]`, ""},
		{"no word of them", `[{"role":"user","content":[{"type":"text","text":"hi"}]}, 1]`, `[{"function":{"name":"weather"}}, 1, {}]`, ""},
	} {
		template, err := New(c.source, nil)
		if err == nil {
			_, err = template.Render(t.Context(), Input{Messages: json.RawMessage(c.messages), Tools: json.RawMessage(c.tools)})
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
	if got, err := render(t, "{{ add_generation_prompt }}{{ x }}", "[]", `{"add_generation_prompt": false, "x": 2}`); got != "False2" || err != nil {
		t.Errorf("arguments: %q, %v", got, err)
	}
	if got, err := render(t, "{{ tools[0].name }}", "[]", `{"tools": [{"name": "f"}]}`); got != "f" || err != nil {
		t.Errorf("tools as an argument: %q, %v", got, err)
	}
}

func TestRenderStopsWithItsContext(t *testing.T) {
	template, err := New("{% for a in range(9999) %}{% for b in range(999) %}{% endfor %}{% endfor %}", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := template.Render(ctx, Input{Messages: json.RawMessage(hi)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRenderConcurrently(t *testing.T) {
	template, err := New("{% macro m(x) %}{{ x.content }}{% endmacro %}{% for x in messages %}{{ m(x) }}{% endfor %}", nil)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if s, err := template.Render(t.Context(), Input{Messages: json.RawMessage(hi)}); s != "Hi" || err != nil {
					t.Errorf("%q, %v", s, err)
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkRender(b *testing.B) {
	template, err := New("{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' }}{% endfor %}", nil)
	if err != nil {
		b.Fatal(err)
	}
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
		if got, err := render(t, source, messages, ""); got != want || err != nil {
			t.Errorf("%s: got %q, error %v, want %q", source, got, err, want)
		}
	}
}
