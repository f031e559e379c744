package datasets

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// contentParts turns a line's "content" into the content parts of a chat message, separated by commas, and also returns
// the text in them, without anything between. address gives what a request says of an image's source.
func contentParts(content json.RawMessage, address func(source string) string) (parts []byte, text string, err error) {
	if content[0] != '[' {
		return nil, "", fmt.Errorf(`expected "content" to be an array: got %s`, jsonKind(content))
	}
	var all strings.Builder
	number := 0
	for raw := range elements(content) {
		number++
		part, said, err := contentPart(raw, address)
		if err != nil {
			return nil, "", fmt.Errorf(`part %d of "content": %w`, number, err)
		}
		all.WriteString(said)
		parts = appendPart(parts, part)
	}
	if number == 0 {
		return nil, "", errors.New(`"content" is empty; give it at least one part`)
	}
	return parts, all.String(), nil
}

func contentPart(raw []byte, address func(string) string) (part []byte, text string, err error) {
	if raw[0] != '{' {
		return nil, "", fmt.Errorf("expected an object: got %s", jsonKind(raw))
	}
	fields := map[string][]byte{}
	for key, value := range members(raw) {
		fields[key] = value
	}
	kind := ""
	if t := fields["type"]; len(t) > 0 && t[0] == '"' {
		kind = unquote(t)
	}
	switch kind {
	case "text":
		t := fields["text"]
		if len(t) == 0 || t[0] != '"' {
			return nil, "", fmt.Errorf(`expected "text" to be a string: got %s`, jsonKind(t))
		}
		text, err := wholeText(t)
		if err != nil {
			return nil, "", err
		}
		return fmt.Appendf(nil, `{"type":"text","text":%s}`, quoteJSON(text)), text, nil
	case "image":
		source, err := mediaSource("image", fields["image"])
		if err != nil {
			return nil, "", err
		}
		return urlPart("image", address(source)), "", nil
	case "image_url":
		part, err := imageURLPart(fields["image_url"], address)
		return part, "", err
	}
	return nil, "", fmt.Errorf(`expected "type" to be text, image or image_url: got %s`, shortened(cmp.Or(string(fields["type"]), "nothing")))
}

// imageURLPart keeps what else an object says beside the address, such as the detail wanted.
func imageURLPart(raw []byte, address func(string) string) ([]byte, error) {
	if len(raw) == 0 || raw[0] != '{' {
		source, err := mediaSource("image_url", raw)
		if err != nil {
			return nil, err
		}
		return urlPart("image", address(source)), nil
	}
	var object []byte
	found := false
	for _, m := range orderedMembers(raw) {
		value := m.value
		if m.key == "url" {
			source, err := mediaSource("url", value)
			if err != nil {
				return nil, err
			}
			found = true
			value = quoteJSON(address(source))
		}
		object = appendPart(object, fmt.Appendf(nil, "%s:%s", quoteJSON(m.key), value))
	}
	if !found {
		return nil, errors.New(`"image_url" has no "url"`)
	}
	return fmt.Appendf(nil, `{"type":"image_url","image_url":{%s}}`, object), nil
}
