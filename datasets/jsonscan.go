package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"unicode"
	"unicode/utf16"
)

// Big files are walked without decoding what is not wanted. Everything in this file expects JSON that has been checked
// already; other bytes give wrong values but neither panic nor loop.

// members yields the keys and values of a JSON object.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		i := skipTo(object, 1)
		for i < len(object) && object[i] == '"' {
			end := valueEnd(object, i)
			key := object[i:end]
			i = skipTo(object, end) // the colon counts as space
			end = valueEnd(object, i)
			if !yield(unquote(key), object[i:end]) {
				return
			}
			i = skipTo(object, end)
		}
	}
}

// elements yields the values of a JSON array.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := skipTo(array, 1)
		for i < len(array) && array[i] != ']' {
			end := valueEnd(array, i)
			if end == i || !yield(array[i:end]) {
				return
			}
			i = skipTo(array, end)
		}
	}
}

// skipTo is where the next value, key or closing bracket begins: separators mean nothing in checked JSON.
func skipTo(b []byte, i int) int {
	for i < len(b) && bytes.IndexByte([]byte(" \t\r\n,:"), b[i]) >= 0 {
		i++
	}
	return i
}

// valueEnd is the place behind the value that begins at i.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
			continue
		default:
			i = literalEnd(b, i)
		}
		if depth == 0 {
			return i
		}
	}
	return len(b)
}

// stringEnd is the place behind the string that begins at i: behind the first quote that no odd number of backslashes
// escapes.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		quote, slashes := i+n, 0
		for quote-slashes > i && b[quote-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return quote + 1
		}
		i = quote + 1
	}
	return len(b)
}

func literalEnd(b []byte, i int) int {
	if n := bytes.IndexAny(b[i:], " \t\r\n,:]}"); n > 0 {
		return i + n
	}
	return len(b)
}

// unquote is the text of a JSON string.
func unquote(raw []byte) string {
	if len(raw) >= 2 && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // checked already
	return s
}

// wholeText is the text of a JSON string, or an error if it has half of a character: what tokenizers refuse and JSON cannot
// carry on.
func wholeText(raw []byte) (string, error) {
	if half := halfCharacter(raw); half != "" {
		return "", fmt.Errorf("the text has half of a character, %s without its other half; was it cut off in the midst?", half)
	}
	return unquote(raw), nil
}

// halfCharacter is the first escape of a JSON string that is one half of a surrogate pair without the other, "" for none.
func halfCharacter(raw []byte) string {
	const escape = len(`\uffff`)
	unit := func(at int) rune {
		if at+escape > len(raw) || raw[at] != '\\' || raw[at+1] != 'u' {
			return 0
		}
		n, _ := strconv.ParseUint(string(raw[at+2:at+escape]), 16, 16)
		return rune(n)
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		first := unit(i)
		switch {
		case first == 0:
			i++ // what is escaped
		case !utf16.IsSurrogate(first):
			i += escape - 1
		case utf16.DecodeRune(first, unit(i+escape)) != unicode.ReplacementChar:
			i += 2*escape - 1
		default:
			return string(raw[i : i+escape])
		}
	}
	return ""
}

// truthy is what Python's if makes of a value: nothing, zero and empty are false.
func truthy(raw []byte) bool {
	if len(raw) == 0 {
		return false
	}
	switch raw[0] {
	case '{', '[':
		return skipTo(raw, 1) < len(raw)-1
	case '"':
		return len(raw) > 2
	case 't', 'f', 'n':
		return raw[0] == 't'
	}
	value, err := strconv.ParseFloat(string(raw), 64)
	return err != nil || value != 0 // what is too large is an infinity
}

// depth is how many objects and arrays stand inside each other at the deepest place.
func depth(raw []byte) int {
	deepest, level := 0, 0
	for i := 0; i < len(raw); {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i)
			continue
		case '{', '[':
			level++
			deepest = max(deepest, level)
		case '}', ']':
			level--
		}
		i++
	}
	return deepest
}

// jsonKind names the kind of a JSON value, for errors.
func jsonKind(raw []byte) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// member is a name and a value of a JSON object.
type member struct {
	key   string
	value []byte
}

// orderedMembers are the members of a JSON object the way a Python dict holds them: a repeated name keeps its first place
// and its last value.
func orderedMembers(object []byte) []member {
	var list []member
	at := map[string]int{}
	for key, value := range members(object) {
		if i, seen := at[key]; seen {
			list[i].value = value
			continue
		}
		at[key] = len(list)
		list = append(list, member{key, value})
	}
	return list
}
