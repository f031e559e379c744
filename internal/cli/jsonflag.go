package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"benchtop/loadgen"
)

// jsonValue is a flag of a JSON object. It is given as a whole, --extra-body '{"a": {"b": 3}}', or member by member,
// --extra-body.a.b 3; whatever is given is merged in the order of the command line. Of several wholes the last counts.
// The zero value is an empty object.
type jsonValue struct{ parts []jsonPart }

// jsonPart is what one argument gave.
type jsonPart struct {
	value *jsonNode // an object
	whole bool
	add   bool // its list goes behind the one that is there
	// doubt is what its writer may not have meant, "" for nothing; it goes on from the flag's name.
	doubt string
}

const jsonExample = `; expected an object such as '{"top_k": 20}', in single quotes for the shell`

func (v *jsonValue) Type() string { return "JSON" }

// String is the object as Python's json.dumps writes it, or nothing if none was given.
func (v *jsonValue) String() string {
	if len(v.parts) == 0 {
		return ""
	}
	object, _ := v.merged("")
	return string(object.appendTo(nil))
}

// Set takes a whole object and forgets an earlier whole.
func (v *jsonValue) Set(s string) error {
	n, twice, err := readJSON(s)
	switch {
	case err != nil:
		return fmt.Errorf("%w%s", err, jsonExample)
	case n.object == nil:
		return fmt.Errorf("it is %s%s", n.what(), jsonExample)
	}
	v.parts = slices.DeleteFunc(v.parts, func(p jsonPart) bool { return p.whole })
	v.parts = append(v.parts, jsonPart{value: n, whole: true, doubt: doubtTwice(twice)})
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
	if !utf8.ValidString(value) || slices.ContainsFunc(path, func(key string) bool { return !utf8.ValidString(key) }) {
		return errors.New("it is not UTF-8 text")
	}
	n, twice, err := readJSON(value)
	doubt := doubtTwice(twice)
	switch {
	case add:
		doubt = ""
		list := []*jsonNode{}
		for item := range strings.SplitSeq(value, ",") {
			list = append(list, &jsonNode{scalar: pythonText(item)})
		}
		n = &jsonNode{list: &list}
	case errors.As(err, new(refusal)):
		return err
	case err != nil:
		n = &jsonNode{scalar: pythonText(value)}
		doubt = doubtText(value, err)
	}
	for _, key := range slices.Backward(path) {
		outer := newObject()
		outer.object.set(pythonText(key), n)
		n = outer
	}
	if doubt != "" {
		doubt = "." + shortened(strings.Join(path, ".")) + doubt
	}
	v.parts = append(v.parts, jsonPart{value: n, add: add, doubt: doubt})
	return nil
}

// doubtTwice tells of names that came twice in one text.
func doubtTwice(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(": the name %s comes more than once; the last one counts", shortened(names[0]))
}

// doubtText tells of a text that was most likely meant as JSON.
func doubtText(text string, err error) string {
	switch text {
	case "True", "False":
		return fmt.Sprintf(": %s is sent as a text; JSON writes %s", text, strings.ToLower(text))
	case "None":
		return ": None is sent as a text; JSON writes null"
	}
	start := strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(text[:min(len(text), 20)])
	if strings.HasPrefix(start, `{"`) || strings.HasPrefix(start, `["`) || strings.HasPrefix(start, "[{") {
		return fmt.Sprintf(": sent as a text, as it is not JSON (%s)", err)
	}
	return ""
}

// Fields are the members of the object in order, with their values as Python's json.dumps writes them.
func (v *jsonValue) Fields() (fields []loadgen.Field) {
	object, _ := v.merged("")
	for _, name := range object.object.names {
		value := object.object.members[name].appendTo(nil)
		fields = append(fields, loadgen.Field{Name: goText(name), JSON: string(value)})
	}
	return fields
}

// Warnings tells of members that were given more than once, and of texts that look like JSON gone wrong.
func (v *jsonValue) Warnings(flag string) []string {
	_, warnings := v.merged(flag)
	return warnings
}

// merged joins the parts.
func (v *jsonValue) merged(flag string) (object *jsonNode, warnings []string) {
	m := jsonMerger{warned: map[string]bool{}}
	object = newObject()
	for _, p := range v.parts {
		if p.doubt != "" {
			m.warn(flag + p.doubt)
		}
		m.merge(object.object, p, p.value.object, flag)
	}
	return object, m.warnings
}

// jsonMerger merges parts and remembers what they replaced.
type jsonMerger struct {
	warnings []string
	warned   map[string]bool
}

func (m *jsonMerger) warn(text string) {
	if !m.warned[text] {
		m.warned[text] = true
		m.warnings = append(m.warnings, text)
	}
}

// merge puts members of a part into an object: objects into each other, lists to be added behind each other, and all
// else in place of what is there.
func (m *jsonMerger) merge(to *jsonObject, part jsonPart, from *jsonObject, place string) {
	for _, name := range from.names {
		there, n := to.members[name], from.members[name]
		here := place + "." + goText(name)
		switch {
		case there != nil && there.object != nil && n.object != nil:
			m.merge(there.object, part, n.object, here)
		case there != nil && there.list != nil && n.list != nil && part.add:
			*there.list = append(*there.list, *n.list...)
		default:
			if to.set(name, n.clone()) != nil {
				m.warn(quoted(here) + " is given more than once; the last one counts")
			}
		}
	}
}
