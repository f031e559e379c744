package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"benchtop/internal/pyjson"
	"benchtop/internal/usage"
)

// refusal is what Python's reader would take and no server would, or what cannot be kept as it is: an error where other
// bad JSON would be a text.
type refusal struct{ error }

// nonFinite makes JSON of what is JSON but for Python's names of numbers that are not finite.
var nonFinite = strings.NewReplacer("-Infinity", "null", "Infinity", "null", "NaN", "null")

// readJSON reads a value. Of several members of one name the last counts, and twice tells of it as the doubt of a jsonPart.
// Errors say where the text stops being JSON.
func readJSON(text string) (v any, twice string, err error) {
	if !utf8.ValidString(text) {
		return nil, "", refusal{errors.New("it is not UTF-8 text")}
	}
	if err := json.Unmarshal([]byte(text), new(json.RawMessage)); err != nil {
		at := 0
		if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
			at = max(0, int(syntax.Offset)-1)
		}
		if json.Valid([]byte(nonFinite.Replace(text))) {
			return nil, "", refusal{fmt.Errorf("%s: NaN and Infinity are numbers in Python but not in JSON; "+
				`write a finite number, null, or "NaN" with double quotes for the text`, place(text, at))}
		}
		const shown = 12
		found := []rune(text[at:min(len(text), at+utf8.UTFMax*shown)])
		return nil, "", fmt.Errorf("%s, at %q: %w", place(text, at), string(found[:min(shown, len(found))]), err)
	}
	r := &jsonReader{text: text, tokens: json.NewDecoder(strings.NewReader(text))}
	r.tokens.UseNumber()
	v = r.value()
	return v, r.twice, r.refused
}

// place is a position for a person: characters count from 1.
func place(text string, at int) string {
	return fmt.Sprintf("character %d", utf8.RuneCountInString(text[:at])+1)
}

// jsonReader builds a value from the tokens of a text that is known to be JSON.
type jsonReader struct {
	text    string
	tokens  *json.Decoder
	twice   string // tells of a name that an object has more than once
	refused error  // the first refusal
}

// next returns the next token, how it is written, and where it begins.
func (r *jsonReader) next() (token json.Token, written string, at int) {
	before := r.tokens.InputOffset()
	token, _ = r.tokens.Token()
	after := r.tokens.InputOffset()
	written = strings.TrimLeft(r.text[before:after], " \t\r\n,:")
	return token, written, int(after) - len(written)
}

func (r *jsonReader) refuse(at int, format string, a ...any) {
	if r.refused == nil {
		r.refused = refusal{fmt.Errorf("%s: %s", place(r.text, at), fmt.Sprintf(format, a...))}
	}
}

// value reads the next value. How deep it is has been checked.
func (r *jsonReader) value() any {
	token, written, at := r.next()
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return r.object()
		}
		list := []any{}
		for r.tokens.More() {
			list = append(list, r.value())
		}
		r.next()
		return list
	case json.Number:
		_, err := strconv.ParseFloat(written, 64)
		if err != nil && strings.ContainsAny(written, ".eE") { // whole numbers may have any length
			r.refuse(at, "%s is too large for a number with a point or an exponent", usage.Quote(written))
		}
	}
	return json.RawMessage(written)
}

// object reads the members of an object whose brace has been read.
func (r *jsonReader) object() *jsonObject {
	o := newObject()
	for r.tokens.More() {
		token, written, at := r.next()
		name, _ := token.(string)
		// Half a surrogate pair has no form in UTF-8 and has become U+FFFD. Within a value it stays as it is written.
		if string(pyjson.Append(nil, []byte(written))) != string(jsonText(name)) {
			r.refuse(at, "the name %s is not text: it has half a surrogate pair", usage.Quote(written))
		}
		if o.members[name] != nil && r.twice == "" {
			r.twice = fmt.Sprintf(": the name %s comes more than once; the last one counts", usage.Shorten(strconv.Quote(name)))
		}
		o.set(name, r.value())
	}
	r.next()
	return o
}
