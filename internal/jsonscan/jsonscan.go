// Package jsonscan walks through JSON and decodes only the values that are wanted: data sets and tokenizers are files
// of many megabytes, of which a program needs some fields.
//
// It expects JSON that has been checked already, by json.Valid or a decoder. Other bytes give wrong values but neither
// panic nor loop. Values are parts of the JSON that they are in, and keep it in memory.
package jsonscan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Members yields the names and values of an object, the names with their quotes.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := skipTo(object, 1); i < len(object) && object[i] == '"'; {
			end := valueEnd(object, i)
			from := skipTo(object, end) // the colon counts as space
			to := valueEnd(object, from)
			if !yield(object[i:end], object[from:to]) {
				return
			}
			i = skipTo(object, to)
		}
	}
}

// Fields are the values of the members of those names, in the order of the names, nil for a name that the object does
// not have. Of a repeated name the last value counts.
func Fields(object []byte, names ...string) [][]byte {
	values := make([][]byte, len(names))
	for quoted, value := range Members(object) {
		name := bare(quoted)
		if bytes.IndexByte(name, '\\') >= 0 {
			name, _ = AppendText(nil, quoted)
		}
		for i, n := range names {
			if n == string(name) {
				values[i] = value
			}
		}
	}
	return values
}

// Elements yields the values of an array.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := skipTo(array, 1); i < len(array) && array[i] != ']'; {
			end := valueEnd(array, i)
			if end == i || !yield(array[i:end]) {
				return
			}
			i = skipTo(array, end)
		}
	}
}

// skipTo is where the next value, name or closing bracket begins: separators mean nothing in checked JSON.
func skipTo(b []byte, i int) int {
	for ; i < len(b); i++ {
		switch b[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return i
		}
	}
	return len(b)
}

// valueEnd is the place behind the value that begins at i.
func valueEnd(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = StringEnd(b, i)
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

// StringEnd is the place behind the string that begins at i: behind the first quote that no odd number of backslashes
// escapes.
func StringEnd(b []byte, i int) int {
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
	for i++; i < len(b); i++ {
		switch b[i] {
		case ' ', '\t', '\r', '\n', ',', ':', ']', '}':
			return i
		}
	}
	return len(b)
}

// IsString reports whether a value is a string.
func IsString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

// Text is the text of a string, with U+FFFD for half of a character.
func Text(raw []byte) string {
	text, _ := text(raw)
	return text
}

// WholeText is the text of a value that has to be a string. The error may be its first HalfCharacter.
func WholeText(raw []byte) (string, error) {
	if !IsString(raw) {
		return "", fmt.Errorf("expected a string: got %s", Kind(raw))
	}
	return text(raw)
}

func text(raw []byte) (string, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(bare(raw)), nil
	}
	text, err := AppendText(make([]byte, 0, len(raw)), raw)
	return string(text), err
}

// bare is a string without its quotes.
func bare(raw []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte{'"'}), []byte{'"'})
}

// HalfCharacter is the error for a string in which one half of a surrogate pair stands without the other, which
// tokenizers refuse and UTF-8 cannot say. It is the escape of that half.
type HalfCharacter string

func (h HalfCharacter) Error() string {
	return fmt.Sprintf("unpaired surrogate %s; was the text cut off?", string(h))
}

// AppendText appends the text of a string, with U+FFFD for half of a character. The error is the first HalfCharacter,
// if there is one.
func AppendText(dst, raw []byte) ([]byte, error) {
	const escape = len(`\uffff`)
	var err error
	for raw = bare(raw); ; {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 || n+1 == len(raw) {
			return append(dst, raw...), err
		}
		dst, raw = append(dst, raw[:n]...), raw[n:]
		r, ok := codeUnit(raw)
		if !ok {
			dst, raw = append(dst, unescaped(raw[1])), raw[2:]
			continue
		}
		half := raw[:escape]
		raw = raw[escape:]
		if utf16.IsSurrogate(r) {
			other, _ := codeUnit(raw)
			if r = utf16.DecodeRune(r, other); r != unicode.ReplacementChar {
				raw = raw[escape:]
			} else if err == nil {
				err = HalfCharacter(half)
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// codeUnit reads an escape of the form \uffff.
func codeUnit(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(unit), err == nil
}

// unescaped is the byte that a letter behind a backslash stands for.
func unescaped(letter byte) byte {
	if i := strings.IndexByte("bfnrt", letter); i >= 0 {
		return "\b\f\n\r\t"[i]
	}
	return letter
}

// Truthy is what Python's if makes of a value: nothing, zero and empty are false.
func Truthy(raw []byte) bool {
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
	return err != nil || value != 0 // a number that is too large is an infinity
}

// Depth is how many objects and arrays stand inside each other at the deepest place.
func Depth(raw []byte) int {
	deepest, level := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = StringEnd(raw, i) - 1
		case '{', '[':
			level++
			deepest = max(deepest, level)
		case '}', ']':
			level--
		}
	}
	return deepest
}

// kinds are the kinds of values but numbers, by their first byte.
var kinds = map[byte]string{'{': "an object", '[': "an array", '"': "a string", 't': "true or false",
	'f': "true or false", 'n': "null"}

// Kind names the kind of a value, for errors.
func Kind(raw []byte) string {
	if len(raw) == 0 {
		return "nothing"
	}
	return cmp.Or(kinds[raw[0]], "a number")
}

// Member is a name, without quotes, and a value of an object.
type Member struct {
	Name  string
	Value []byte
}

// Dict are the members of an object the way a Python dict holds them: a repeated name keeps its first place and its
// last value.
func Dict(object []byte) []Member {
	var list []Member
	at := map[string]int{}
	for quoted, value := range Members(object) {
		name := Text(quoted)
		if i, seen := at[name]; seen {
			list[i].Value = value
			continue
		}
		at[name] = len(list)
		list = append(list, Member{name, value})
	}
	return list
}

// Quote is a string with <, > and & left as they are.
func Quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // strings always encode, and buffers always take them
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// AppendQuoted appends a text as a string, in which only the characters that JSON forbids are escaped.
func AppendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[from:i]...)
		from = i + 1
		if letter := strings.IndexByte("\b\f\n\r\t", c); letter >= 0 {
			dst = append(dst, '\\', "bfnrt"[letter])
		} else if c < ' ' {
			dst = fmt.Appendf(dst, `\u%04x`, c)
		} else {
			dst = append(dst, '\\', c)
		}
	}
	return append(append(dst, text[from:]...), '"')
}
