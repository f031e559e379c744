package cli

import (
	"encoding/json"

	"benchtop/internal/pyjson"
)

// A JSON value is a json.RawMessage for a text, number, true, false or null, as its writer wrote it; a []any for a list;
// or a *jsonObject. encoding/json would read objects into maps, and the order of the names would be lost.

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

// kindOfJSON names the kind of a value other than an object for a person.
func kindOfJSON(v any) string {
	switch written, _ := v.(json.RawMessage); {
	case written == nil:
		return "a list"
	case written[0] == '"':
		return "a text"
	case written[0] >= 'a':
		return string(written) // true, false or null
	}
	return "a number"
}
