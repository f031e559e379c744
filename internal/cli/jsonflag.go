package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"benchtop/internal/usage"
	"benchtop/loadgen/protocol"
)

// jsonValue is a flag of a JSON object. It is given as a whole, --extra-body '{"a": {"b": 3}}', or member by member,
// --extra-body.a.b 3; whatever is given is merged in the order of the command line. Of several wholes the last counts.
// The zero value is an empty object.
type jsonValue struct {
	parts []jsonPart
	whole int // where in parts the whole is, counted from 1
}

// jsonPart is what one argument gave.
type jsonPart struct {
	value *jsonObject
	add   bool // its list goes behind the one that is there
	// doubt is what its writer may not have meant, "" for nothing; it goes on from the flag's name.
	doubt string
}

// deepest is how many keys may lie in each other. What lies in values is limited by encoding/json.
const deepest = 500

const jsonExample = `; expected an object such as '{"top_k": 20}', in single quotes for the shell`

func (v *jsonValue) Type() string { return "JSON" }

// String is the object as JSON, or nothing if none was given.
func (v *jsonValue) String() string {
	if len(v.parts) == 0 {
		return ""
	}
	object, _ := v.merged("")
	return string(appendJSON(nil, object))
}

// Set takes a whole object and forgets an earlier whole.
func (v *jsonValue) Set(s string) error {
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
func (v *jsonValue) SetKey(path []string, value string, add bool) error {
	if slices.Contains(path, "") {
		return errors.New("there is a dot without a key behind it; keys are written as in .a.b")
	}
	if len(path) > deepest {
		return fmt.Errorf("%d keys within each other are too many; at most %d", len(path), deepest)
	}
	keys := strings.Join(path, ".")
	if !utf8.ValidString(keys + value) {
		return errors.New("it is not UTF-8 text")
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

// doubtText tells of a text that was most likely meant as JSON.
func doubtText(text string, err error) string {
	switch text {
	case "True", "False":
		return fmt.Sprintf(": %s is sent as a text; JSON writes %s", text, strings.ToLower(text))
	case "None":
		return ": None is sent as a text; JSON writes null"
	}
	if likeJSON.MatchString(text) {
		return fmt.Sprintf(": sent as a text, as it is not JSON (%s)", err)
	}
	return ""
}

// Fields are the members of the object in order.
func (v *jsonValue) Fields() (fields []protocol.Field) {
	object, _ := v.merged("")
	for _, name := range object.names {
		fields = append(fields, protocol.Field{Name: name, JSON: string(appendJSON(nil, object.members[name]))})
	}
	return fields
}

// Warnings tells of members that were given more than once, and of texts that look like JSON gone wrong.
func (v *jsonValue) Warnings(flag string) []string {
	_, warnings := v.merged(flag)
	return warnings
}

// merged joins the parts.
func (v *jsonValue) merged(flag string) (object *jsonObject, warnings []string) {
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

// merge takes over members of another object: objects into each other, lists to be added behind each other, and all else
// in place of what is there, with a warning that names the place. What can be changed later is copied.
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
			warn(usage.Quote(here) + " is given more than once; the last one counts")
		}
		o.set(name, v)
	}
}
