package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// skim calls each with the members of a JSON object as they are written, names in their quotes. It keeps nothing and does not parse
// the values.
func skim(body []byte, each func(name, value []byte)) error {
	if !json.Valid(body) {
		if body = unlike(body, map[string]string{"NaN": "0", infinity: "0"}); !json.Valid(body) {
			return fmt.Errorf("%w: %s", ErrNotJSON, Excerpt(body))
		}
	}
	body = bytes.TrimLeft(body, blanks)
	if body[0] != '{' {
		return fmt.Errorf("expected a JSON object: %s", Excerpt(body))
	}
	for body = bytes.TrimLeft(body[1:], blanks+","); body[0] != '}'; body = bytes.TrimLeft(body, blanks+",") {
		n := valueLength(body)
		name := body[:n]
		body = bytes.TrimLeft(body[n:], blanks+":")
		n = valueLength(body)
		each(name, body[:n])
		body = body[n:]
	}
	return nil
}

const blanks = " \t\r\n"

// valueLength is how many bytes the first value of valid JSON has.
func valueLength(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(b)
}

func emptyList(b []byte) bool { return bytes.TrimLeft(b[1:], blanks)[0] == ']' }
