package imports

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/jsonscan"
)

// mostValues bounds how deep values of attributes stand in each other.
const mostValues = 32

// attributes are those of a span that matter, by their keys, as plain JSON.
type attributes struct {
	values  map[string][]byte
	numbers map[int]*message // of gen_ai.prompt.N.role and .content
}

// read reads a list of attributes of OTLP, or a plain object. The first of several values counts.
func (a *attributes) read(raw []byte) {
	if absent(raw) {
		return
	}
	switch raw[0] {
	case '{':
		for key, value := range jsonscan.Members(raw) {
			a.add(jsonscan.Text(key), value)
		}
	case '[':
		for pair := range jsonscan.Elements(raw) {
			if pair[0] != '{' {
				continue
			}
			if fields := jsonscan.Fields(pair, "key", "value"); jsonscan.IsString(fields[0]) {
				a.add(jsonscan.Text(fields[0]), fields[1])
			}
		}
	}
}

// add keeps an attribute of the conventions.
func (a *attributes) add(key string, value []byte) {
	if absent(value) || !strings.HasPrefix(key, "gen_ai.") && key != "llm.request.type" {
		return
	}
	if _, there := a.values[key]; there {
		return
	}
	if rest, ok := strings.CutPrefix(key, "gen_ai.prompt."); ok {
		a.numbered(rest, plain(value, 0))
		return
	}
	a.values[key] = plain(value, 0)
}

// numbered keeps a part of a message whose place stands in the key.
func (a *attributes) numbered(key string, value []byte) {
	number, field, _ := strings.Cut(key, ".")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || !jsonscan.IsString(value) {
		return
	}
	if a.numbers[n] == nil {
		a.numbers[n] = &message{role: "user"}
	}
	switch field {
	case "role":
		a.numbers[n].role = jsonscan.Text(value)
	case "content":
		a.numbers[n].text = jsonscan.Text(value)
	}
}

// plain is a value of OTLP as plain JSON, and other JSON as it is.
func plain(value []byte, depth int) []byte {
	if len(value) == 0 || value[0] != '{' || depth > mostValues {
		return value
	}
	fields := jsonscan.Fields(value, "stringValue", "intValue", "doubleValue", "boolValue", "arrayValue", "kvlistValue")
	if raw := some(fields[:4]...); raw != nil {
		return raw
	}
	if array := fields[4]; len(array) > 0 && array[0] == '{' {
		out := []byte{'['}
		for element := range jsonscan.Elements(jsonscan.Fields(array, "values")[0]) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, plain(element, depth+1)...)
		}
		return append(out, ']')
	}
	if list := fields[5]; len(list) > 0 && list[0] == '{' {
		return plainObject(list, depth+1)
	}
	return value
}

// plainObject is a list of keys with their values as an object.
func plainObject(list []byte, depth int) []byte {
	out := []byte{'{'}
	for pair := range jsonscan.Elements(jsonscan.Fields(list, "values")[0]) {
		if pair[0] != '{' {
			continue
		}
		member := jsonscan.Fields(pair, "key", "value")
		if !jsonscan.IsString(member[0]) || len(member[1]) == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, member[0]...), ':'), plain(member[1], depth)...)
	}
	return append(out, '}')
}

// value is the first that there is of some keys, nil for none.
func (a *attributes) value(keys ...string) []byte {
	for _, key := range keys {
		if raw := a.values[key]; !absent(raw) {
			return raw
		}
	}
	return nil
}

// text is a value that is a text.
func (a *attributes) text(keys ...string) string {
	for _, key := range keys {
		if raw := a.values[key]; jsonscan.IsString(raw) {
			return jsonscan.Text(raw)
		}
	}
	return ""
}

// messages are those of the prompt, none where it was not recorded.
func (a *attributes) messages() (list []message) {
	if raw := a.value("gen_ai.system_instructions"); raw != nil {
		var text strings.Builder
		for _, m := range messagesOf(raw) {
			text.WriteString(m.text)
		}
		list = append(list, message{"system", text.String()})
	}
	prompt := messagesOf(a.value("gen_ai.input.messages", "gen_ai.prompt"))
	if len(prompt) == 0 {
		places := make([]int, 0, len(a.numbers))
		for n := range a.numbers {
			places = append(places, n)
		}
		slices.SortFunc(places, cmp.Compare[int])
		for _, n := range places {
			prompt = append(prompt, *a.numbers[n])
		}
	}
	if len(prompt) == 0 {
		return nil
	}
	return append(list, prompt...)
}
