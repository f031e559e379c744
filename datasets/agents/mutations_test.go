package agents

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// wrong are values to put in place of others.
var wrong = []string{"null", "true", `"5"`, `"\ud800"`, "[]", "{}", "[[]]", "[[1]]", "[null]", "-1", "0", "0.5",
	"1e308", "-1e308", "1e-400", "1099511627776", "18446744073709551615",
	"18446744073709551616", "[[18446744073709551615,1]]", "[[0,1099511627776]]", "[[1,2,3]]", "[0,0,0]", "[1,0]", "[2]",
	"[-1]", "[1e0]", "NaN", "Infinity", "1 ", "-0", "0e9",
	strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), strings.Repeat("9", 500),
	`"` + strings.Repeat("a", 5000) + `"`}

// mutations calls do for each text of JSON in which a value is another, missing or there twice.
func mutations(text string, do func(string)) {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		before := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			return
		}
		value := strings.TrimLeft(text[before:d.InputOffset()], ":, \n")
		from, to := int(d.InputOffset())-len(value), int(d.InputOffset())
		if delim, is := token.(json.Delim); is {
			if delim == ']' || delim == '}' {
				continue
			}
			var whole json.RawMessage
			if json.NewDecoder(strings.NewReader(text[from:])).Decode(&whole) == nil {
				to = from + len(whole)
			}
		}
		for _, w := range wrong {
			do(text[:from] + w + text[to:])
		}
		do(text[:from] + text[to:])
		do(text[:to] + "," + text[from:to] + text[to:])
	}
}

// A session with a wrong value is an error in a line, or is one that is written and read again as it is.
func TestMutations(t *testing.T) {
	n := 0
	mutations(strings.TrimSpace(example), func(text string) {
		if n++; n%7 != 0 || text == "" {
			return
		}
		var once, twice []byte
		err := Read(t.Context(), strings.NewReader(text),
			func(s *Session) error { once = s.AppendJSON(once); return s.Validate() })
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line 1") {
				t.Errorf("%.300s: %v", text, err)
			}
			return
		}
		err = Read(t.Context(), bytes.NewReader(once),
			func(s *Session) error { twice = s.AppendJSON(twice); return nil })
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%.300s is read as %s, %v", text, once, err)
		}
	})
	if n < 500 {
		t.Errorf("%d mutations", n)
	}
}
