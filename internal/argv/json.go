package argv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"benchtop/internal/jsonscan"
	"benchtop/internal/pyjson"
	"benchtop/internal/secret"
	"benchtop/internal/usage"
)

// JSON is a flag of a JSON object. It is given as a whole, --extra-body '{"a": {"b": 3}}', or member by member,
// --extra-body.a.b 3; all parts are merged in the order of the command line. Of several whole objects the last counts.
// The zero value is an empty object.
type JSON struct {
	parts []jsonPart
	whole int // place of the whole object in parts, counted from 1
}

// jsonPart is the value of one argument.
type jsonPart struct {
	value *jsonObject
	add   bool // its list is appended to an earlier one
	// doubt is a warning about a likely mistake, "" for none; it continues the flag's name.
	doubt string
}

// deepest limits the nesting of keys. The nesting of values is limited by encoding/json.
const deepest = 500

const jsonExample = `; expected an object such as '{"top_k": 20}', in single quotes for the shell`

func (v *JSON) Type() string { return "JSON" }

// String is the object as JSON, or nothing if none was given.
func (v *JSON) String() string {
	if len(v.parts) == 0 {
		return ""
	}
	object, _ := v.merged("")
	return string(appendJSON(nil, object))
}

// Set takes a whole object and forgets an earlier whole.
func (v *JSON) Set(s string) error {
	n, twice, err := readJSON(s)
	if err != nil {
		return fmt.Errorf("%w%s", err, jsonExample)
	}
	object, ok := n.(*jsonObject)
	if !ok {
		return fmt.Errorf("it is %s%s", kindOfJSON(n), jsonExample)
	}
	if v.whole > 0 {
		v.parts[v.whole-1] = jsonPart{value: newObject()}
	}
	v.parts = append(v.parts, jsonPart{value: object, doubt: twice})
	v.whole = len(v.parts)
	return nil
}

// SetKey takes one member. The value is JSON, or else a text as it stands; with add it is a list of texts separated by
// commas.
func (v *JSON) SetKey(path []string, value string, add bool) error {
	if slices.Contains(path, "") {
		return errors.New("a dot without a key after it; keys are written as in .a.b")
	}
	if len(path) > deepest {
		return fmt.Errorf("%d nested keys; the maximum is %d", len(path), deepest)
	}
	keys := strings.Join(path, ".")
	if !utf8.ValidString(keys + value) {
		return errors.New("not UTF-8 text")
	}
	n, twice, err := readJSON(value)
	doubt := ""
	switch {
	case add:
		list := []any{}
		for item := range strings.SplitSeq(value, ",") {
			list = append(list, jsonText(item))
		}
		n = list
	case errors.As(err, new(refusal)):
		return err
	case err != nil:
		n = jsonText(value)
		doubt = doubtText(value, err)
	default:
		doubt = twice
	}
	object := newObject()
	object.set(path[len(path)-1], n)
	for _, key := range slices.Backward(path[:len(path)-1]) {
		outer := newObject()
		outer.set(key, object)
		object = outer
	}
	if doubt != "" {
		doubt = "." + usage.Shorten(keys) + doubt
	}
	v.parts = append(v.parts, jsonPart{value: object, add: add, doubt: doubt})
	return nil
}

var likeJSON = regexp.MustCompile(`^\s*(\{\s*"|\[\s*["{])`)

// doubtText is the warning about a text that was probably meant as JSON.
func doubtText(text string, err error) string {
	switch text {
	case "True", "False":
		return fmt.Sprintf(": %s is sent as a string; in JSON it is %s", text, strings.ToLower(text))
	case "None":
		return ": None is sent as a string; in JSON it is null"
	}
	if likeJSON.MatchString(text) {
		return fmt.Sprintf(": sent as a string, since it is not JSON (%s)", err)
	}
	return ""
}

// Members are the names and values of the object, in order.
func (v *JSON) Members() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		object, _ := v.merged("")
		for _, name := range object.names {
			if !yield(name, string(appendJSON(nil, object.members[name]))) {
				return
			}
		}
	}
}

// Has reports whether the object has a member of a name.
func (v *JSON) Has(name string) bool {
	object, _ := v.merged("")
	return object.members[name] != nil
}

// Warnings are about members that were given more than once and texts that look like broken JSON.
func (v *JSON) Warnings(flag string) []string {
	_, warnings := v.merged(flag)
	return warnings
}

// merged joins the parts.
func (v *JSON) merged(flag string) (object *jsonObject, warnings []string) {
	warned := map[string]bool{}
	warn := func(text string) {
		if !warned[text] {
			warned[text] = true
			warnings = append(warnings, text)
		}
	}
	object = newObject()
	for _, p := range v.parts {
		if p.doubt != "" {
			warn(flag + p.doubt)
		}
		object.merge(p.value, p.add, flag, warn)
	}
	return object, warnings
}

// merge adds the members of another object: objects are merged, lists are joined if add is set, and any other value
// replaces the earlier one, with a warning that names its place. Objects and lists are copied.
func (o *jsonObject) merge(from *jsonObject, add bool, place string, warn func(string)) {
	for _, name := range from.names {
		here := place + "." + name
		there, joined := o.members[name], false
		v := from.members[name]
		switch n := v.(type) {
		case *jsonObject:
			var object *jsonObject
			if object, joined = there.(*jsonObject); !joined {
				object = newObject()
			}
			object.merge(n, add, here, warn)
			v = object
		case []any:
			var list []any
			if add {
				list, joined = there.([]any)
			}
			v = append(list, n...)
		}
		if there != nil && !joined {
			warn(usage.Quote(here) + " is given more than once; the last one applies")
		}
		o.set(name, v)
	}
}

// refusal is an error for JSON that Python accepts and servers do not, or that cannot be represented. Other bad JSON is
// a text.
type refusal struct{ error }

// nonFinite replaces Python's names of numbers that are not finite.
var nonFinite = strings.NewReplacer("-Infinity", "null", "Infinity", "null", "NaN", "null")

// readJSON reads a value. Of several members of one name the last counts; twice is the warning about it, as the doubt
// of a jsonPart. Errors name the position at which the text stops being JSON.
func readJSON(text string) (v any, twice string, err error) {
	if !utf8.ValidString(text) {
		return nil, "", refusal{errors.New("not UTF-8 text")}
	}
	if err := json.Unmarshal([]byte(text), new(json.RawMessage)); err != nil {
		at := 0
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = max(0, int(syntax.Offset)-1)
		}
		if json.Valid([]byte(nonFinite.Replace(text))) {
			return nil, "", refusal{fmt.Errorf("%s: NaN and Infinity are numbers in Python but not in JSON; "+
				`write a finite number, null, or "NaN" in double quotes for the string`, place(text[:at]))}
		}
		const shown = 12
		rest, clear := strings.CutPrefix(secret.HideBroken(text[:min(len(text), at+100)]), text[:at])
		if !clear {
			rest = secret.Mask
		}
		found := []rune(rest[:min(len(rest), utf8.UTFMax*shown)])
		return nil, "", fmt.Errorf("%s, at %q: %w", place(text[:at]), string(found[:min(shown, len(found))]), err)
	}
	r := jsonReader{text: []byte(text)}
	v = r.value(bytes.TrimSpace(r.text))
	return v, r.twice, r.refused
}

// place is the position after a text in words: characters count from 1.
func place[T string | []byte](before T) string {
	return fmt.Sprintf("character %d", utf8.RuneCountInString(string(before))+1)
}

// jsonReader builds a value from a text that is known to be JSON.
type jsonReader struct {
	text    []byte
	twice   string // warning about a repeated name of an object
	refused error  // the first refusal
}

// refuse refuses a part of the text.
func (r *jsonReader) refuse(part []byte, format string) {
	if r.refused == nil {
		at := cap(r.text) - cap(part)
		r.refused = refusal{fmt.Errorf("%s: "+format, place(r.text[:at]), usage.Quote(string(part)))}
	}
}

// value reads a value, whose depth has been checked.
func (r *jsonReader) value(raw []byte) any {
	switch raw[0] {
	case '{':
		return r.object(raw)
	case '[':
		list := []any{}
		for element := range jsonscan.Elements(raw) {
			list = append(list, r.value(element))
		}
		return list
	case '"', 't', 'f', 'n':
		return json.RawMessage(raw)
	}
	_, err := strconv.ParseFloat(string(raw), 64)
	if err != nil && bytes.ContainsAny(raw, ".eE") { // whole numbers may have any length
		r.refuse(raw, "%s is too large for a floating-point number")
	}
	return json.RawMessage(raw)
}

func (r *jsonReader) object(raw []byte) *jsonObject {
	o := newObject()
	for written, value := range jsonscan.Members(raw) {
		// Half a surrogate pair has no form in UTF-8 and becomes U+FFFD. Within a value it stays as it is written.
		name, err := jsonscan.WholeText(written)
		if err != nil {
			r.refuse(written, "the name %s has an unpaired surrogate")
		}
		if o.members[name] != nil && r.twice == "" {
			r.twice = fmt.Sprintf(": the name %s occurs more than once; the last one applies",
				usage.Shorten(strconv.Quote(name)))
		}
		o.set(name, r.value(value))
	}
	return o
}

// A JSON value is a json.RawMessage for a text, number, true, false or null, as its writer wrote it; a []any for a
// list; or a *jsonObject. encoding/json would read objects into maps, and the order of the names would be lost.

// jsonObject holds members in the order in which their names first came.
type jsonObject struct {
	names   []string
	members map[string]any
}

func newObject() *jsonObject { return &jsonObject{members: map[string]any{}} }

// set gives a name its value; a name that is there already keeps its place.
func (o *jsonObject) set(name string, v any) {
	if _, there := o.members[name]; !there {
		o.names = append(o.names, name)
	}
	o.members[name] = v
}

// jsonText is a text as a value.
func jsonText(s string) json.RawMessage { return pyjson.AppendString(nil, s) }

// appendJSON writes a value.
func appendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case json.RawMessage:
		dst = append(dst, v...)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendJSON(dst, item)
		}
		dst = append(dst, ']')
	case *jsonObject:
		dst = append(dst, '{')
		for i, name := range v.names {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(pyjson.AppendString(dst, name), ": "...)
			dst = appendJSON(dst, v.members[name])
		}
		dst = append(dst, '}')
	}
	return dst
}

// kindOfJSON names the kind of a value other than an object.
func kindOfJSON(v any) string {
	switch written, _ := v.(json.RawMessage); {
	case written == nil:
		return "a list"
	case written[0] == '"':
		return "a string"
	case written[0] >= 'a':
		return string(written) // true, false or null
	}
	return "a number"
}
