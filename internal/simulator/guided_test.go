package simulator

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"
	"time"
)

// Answers have the form that is asked for, are cut at the limit, and the first with a constraint waits until it is
// compiled.
func TestGuided(t *testing.T) {
	const schema = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":5,"maximum":9},"kind":{"enum":["a","b"]},
		"list":{"type":"array","items":{"$ref":"#/$defs/n"}}},"required":["name","age","kind","list"],"$defs":{"n":{"type":["number","null"]}}}`
	quoted, _ := json.Marshal(schema)
	isObject := func(answer string) bool {
		var v struct {
			Name string
			Age  int
			Kind string
			List []float64
		}
		return json.Unmarshal([]byte(answer), &v) == nil && v.Name != "" && v.Age >= 5 && v.Age <= 9 &&
			len(v.Kind) == 1 && len(v.List) == 1
	}
	bubble(t, round(), func(c *client) {
		ask := func(path, body string) (text, reason string) {
			t.Helper()
			status, answer := c.do("POST", path, body)
			if status != 200 {
				return answer, "error"
			}
			v, _ := field(c.parse(answer), "choices", 0)
			return textAt(v, "message", "content") + textAt(v, "text"), textAt(v, "finish_reason")
		}
		for name, x := range map[string]struct {
			field string
			right func(string) bool
		}{
			"json":         {`"structured_outputs":{"json":` + schema + `}`, isObject},
			"json as text": {`"structured_outputs":{"json":` + string(quoted) + `}`, isObject},
			"response_format": {`"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":` + schema +
				`}}`, isObject},
			"json_object": {`"response_format":{"type":"json_object"}`, func(s string) bool { return s == "{}" }},
			"regex": {`"structured_outputs":{"regex":"\\w+@\\w+\\.com\\n"}`,
				regexp.MustCompile(`\A\w+@\w+\.com\n\z`).MatchString},
			"regex, rare": {`"structured_outputs":{"regex":"^(?:a|[^a-z]{2}|x?y*.)$"}`,
				regexp.MustCompile(`\A(?:a|[^a-z]{2}|x?y*.)\z`).MatchString},
			"choice": {`"structured_outputs":{"choice":["yes","no"]}`,
				func(s string) bool { return slices.Contains([]string{"yes", "no"}, s) }},
			"grammar": {`"structured_outputs":{"grammar":"root ::= \"a\" other | \"b\"\nother ::= \"c\" | \"d\"\n"}`,
				func(s string) bool { return slices.Contains([]string{"ac", "ad", "b"}, s) }},
		} {
			for seed := range 5 {
				extra := x.field + `,"seed":` + string(rune('0'+seed))
				text, reason := ask("/v1/completions", `{"prompt":[5,6,7],"max_tokens":100,`+extra+`}`)
				if !x.right(text) || reason != "stop" {
					t.Errorf("%s: %q, %s", name, text, reason)
				}
				text, _ = ask("/v1/chat/completions",
					`{"messages":[{"role":"user","content":"hi"}],"max_tokens":100,`+extra+`}`)
				if !x.right(text) {
					t.Errorf("%s, chat: %q", name, text)
				}
			}
		}
		if text, reason := ask("/v1/completions",
			`{"prompt":[5],"max_tokens":3,"structured_outputs":{"json":`+schema+`}}`); reason != "length" ||
			isObject(text) {
			t.Errorf("%q, %s", text, reason)
		}
		for _, bad := range []string{
			`{"json":"{"}`, `{"regex":"("}`, `{"grammar":"root = 1"}`, `{"grammar":"root ::= other"}`,
			`{"grammar":"root ::= root"}`, `{"grammar":"root ::= [a]"}`, `{}`,
			`{"json":{"$ref":"#/a","a":{"$ref":"#/a"}}}`,
		} {
			if text, reason := ask("/v1/completions",
				`{"prompt":[5],"max_tokens":3,"structured_outputs":`+bad+`}`); reason != "error" {
				t.Errorf("%s: %q", bad, text)
			}
		}
		took := func() time.Duration {
			from := time.Now()
			ask("/v1/completions", `{"prompt":[5],"max_tokens":1,"structured_outputs":{"choice":["new"]}}`)
			return time.Since(from)
		}
		if first, second := took(), took(); first-second != grammarCompile {
			t.Errorf("%s, then %s", first, second)
		}
	})
}
