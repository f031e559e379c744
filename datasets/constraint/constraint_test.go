package constraint

import (
	"testing"
	"unicode/utf8"

	"benchtop/internal/assert"
)

const profile = `{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, ` +
	`"required": ["name"]}`

func TestJudge(t *testing.T) {
	schema := assert.Must(JSON([]byte(profile)))(t)
	pattern := assert.Must(Pattern(`\w+@\w+\.com\n`))(t)
	choice := Choice("Positive", "Negative")
	for _, c := range []struct {
		c             *Constraint
		answer        string
		cut           bool
		wrong, detail string
		lenient       bool
	}{
		{schema, `{"name": "A", "age": 7}`, false, "", "", true},
		{schema, ` {"name":"A"}` + "\n", false, "", "", true},
		{schema, `{"name": "A", "age": 7.5}`, false, Violation, "at /age: type", true},
		{schema, `{"age": 7}`, false, Violation, "at /: required", true},
		{schema, `[]`, false, Violation, "at /: type", false},
		{schema, `{"name": "A"`, true, CutOff, `"{\"name\": \"A\""`, false},
		{schema, `{"name": "A"`, false, NotJSON, `"{\"name\": \"A\""`, false},
		{schema, `{"name": "A"}`, true, "", "", true}, // the limit ended it where it would have ended
		{schema, "Here: {\"name\": \"A\"}.", false, AmidText, `"Here: {\"name\": \"A\"}."`, true},
		{schema, " \n", true, Empty, "", false},
		{pattern, "alan@enigma.com\n", false, "", "", true},
		{pattern, "alan@enigma.com\nand more", false, NoMatch, `"alan@enigma.com\nand more"`, true},
		{pattern, "alan@eni", true, CutOff, `"alan@eni"`, false},
		{choice, "Positive", false, "", "", true},
		{choice, "positive", false, NoChoice, `"positive"`, false},
		{choice, "", false, Empty, "", false},
	} {
		want := Judgement{c.wrong, c.detail, c.lenient}
		assert.Equal(t, c.c.Judge(c.answer, c.cut), want, "%q, cut %v", c.answer, c.cut)
	}
}

// Bad schemas are refused, and none makes the program fetch anything.
func TestSchemaRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                               "not JSON",
		`{`:                              "not JSON",
		`7`:                              "cannot be used",
		`{"type": 7}`:                    "cannot be used",
		`{"$ref": "https://a.b/c"}`:      "is not loaded",
		`{"$ref": "file:///etc/passwd"}`: "is not loaded",
		`{"pattern": "("}`:               "cannot be used",
	} {
		assert.Fails(t, text, assert.Failure(JSON([]byte(text))), want)
	}
	if _, err := Pattern("("); err == nil {
		t.Error("a bad expression: no error")
	}
}

func FuzzJudge(f *testing.F) {
	f.Add(`{"name": "A"}`, profile)
	f.Add("\xff{", `{"$ref": "#"}`)
	f.Add(`{"a":{"a":{}}}`, `{"properties": {"a": {"$ref": "#"}}}`)
	f.Fuzz(func(t *testing.T, answer, schema string) {
		c, err := JSON([]byte(schema))
		if err != nil {
			return
		}
		for _, cut := range []bool{true, false} {
			j := c.Judge(answer, cut)
			if len(j.Detail) > 5*mostDetail || !utf8.ValidString(j.Detail) || j.Wrong == "" && j.Detail != "" {
				t.Errorf("%+v", j)
			}
		}
	})
}
