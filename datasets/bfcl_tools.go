package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// openAIType is what the chat API calls a type that the leaderboard has by its Python name.
func openAIType(name string) string {
	switch name {
	case "dict":
		return "object"
	case "float":
		return "number"
	case "tuple":
		return "array"
	case "any":
		return "string"
	}
	return name
}

// appendPython appends a value the way Python holds it: without repeated names, everything else in its order. With types,
// every "type" that is a string is put into the chat API's words.
func appendPython(dst, raw []byte, types bool) []byte {
	switch raw[0] {
	case '{':
		dst = append(dst, '{')
		for i, m := range orderedMembers(raw) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, quoteJSON(m.key)...), ':')
			if types && m.key == "type" && m.value[0] == '"' {
				dst = append(dst, quoteJSON(openAIType(unquote(m.value)))...)
				continue
			}
			dst = appendPython(dst, m.value, types)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		first := true
		for element := range elements(raw) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = appendPython(dst, element, types)
		}
		return append(dst, ']')
	}
	return append(dst, raw...)
}

// tools are the functions of a row as the chat API takes them; nil where it has none. A single function may stand alone.
func tools(function []byte) (json.RawMessage, error) {
	if !truthy(function) {
		return nil, nil
	}
	if function[0] == '{' {
		function = fmt.Appendf(nil, "[%s]", function)
	}
	if function[0] != '[' {
		return nil, fmt.Errorf(`expected "function" to be an object or an array of them: got %s`, jsonKind(function))
	}
	var list []byte
	for f := range elements(function) {
		if f[0] != '{' {
			return nil, fmt.Errorf(`expected each "function" to be an object: got %s`, jsonKind(f))
		}
		list = appendPart(list, append(appendPython([]byte(`{"type":"function","function":`), f, true), '}'))
	}
	return fmt.Appendf(nil, "[%s]", list), nil
}

// firstTurn is the message list of a question's first turn; nil where there is none.
func firstTurn(question []byte) (json.RawMessage, error) {
	if !truthy(question) {
		return nil, nil
	}
	if question[0] != '[' {
		return nil, fmt.Errorf(`expected "question" to be an array: got %s`, jsonKind(question))
	}
	for turn := range elements(question) {
		if turn[0] != '[' || !truthy(turn) {
			return nil, nil
		}
		for message := range elements(turn) {
			if message[0] != '{' {
				return nil, fmt.Errorf("expected each message to be an object: got %s", jsonKind(message))
			}
		}
		return appendPython(nil, turn, false), nil
	}
	return nil, errors.New(`"question" is empty`) // not reached: an empty one is not truthy
}

// contents is what the messages say, those left out that say it in another form than as a string.
func contents(messages json.RawMessage) []string {
	var all []string
	for message := range elements(messages) {
		text := ""
		if said := content(message); len(bytes.TrimSpace(said)) > 0 && said[0] == '"' {
			text = unquote(said)
		}
		all = append(all, text)
	}
	return all
}
