package pyjson

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"benchtop/internal/jsonscan"
)

// Str is what Python's str makes of a JSON value after reading it: a text as it is, other values as by [AppendRepr].
func Str(raw []byte) string {
	if jsonscan.IsString(raw) {
		return jsonscan.Text(raw)
	}
	return string(AppendRepr(nil, raw))
}

// AppendRepr appends valid JSON as Python's repr shows it after reading it: True, None, texts in single quotes. Numbers
// too large for a float stay, as with [Append].
func AppendRepr(dst, raw []byte) []byte {
	switch raw[0] {
	case '{':
		dst = append(dst, '{')
		for i, m := range jsonscan.Dict(raw) {
			dst = append(AppendReprString(separate(dst, i), m.Name), ": "...)
			dst = AppendRepr(dst, m.Value)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		i := 0
		for value := range jsonscan.Elements(raw) {
			dst = AppendRepr(separate(dst, i), value)
			i++
		}
		return append(dst, ']')
	case '"':
		return AppendReprString(dst, jsonscan.Text(raw))
	case 't':
		return append(dst, "True"...)
	case 'f':
		return append(dst, "False"...)
	case 'n':
		return append(dst, "None"...)
	}
	return Append(dst, raw)
}

// separate appends a comma behind all but the first element.
func separate(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ", "...)
	}
	return dst
}

// AppendReprString appends a text as Python's repr shows it: in single quotes unless it has some and no double ones,
// with escapes for characters that do not print.
func AppendReprString(dst []byte, s string) []byte {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	dst = append(dst, byte(quote))
	for _, r := range s {
		switch i := strings.IndexRune("\n\r\t", r); {
		case r == quote || r == '\\':
			dst = append(dst, '\\', byte(r))
		case i >= 0:
			dst = append(dst, '\\', "nrt"[i])
		case unicode.IsPrint(r):
			dst = utf8.AppendRune(dst, r)
		case r < 0x100:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		case r < 0x10000:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = fmt.Appendf(dst, `\U%08x`, r)
		}
	}
	return append(dst, byte(quote))
}

// ReprWords is a list of texts as Python's repr shows it.
func ReprWords(words []string) string {
	dst := []byte{'['}
	for i, w := range words {
		dst = AppendReprString(separate(dst, i), w)
	}
	return string(append(dst, ']'))
}

// AppendIndented appends valid JSON as Python's json.dumps writes it with an indent: each member and element on a line
// of its own, at depth times the indent. Of a repeated name the last value is written, at the first place.
func AppendIndented(dst, raw []byte, indent, depth int) []byte {
	switch raw[0] {
	case '{':
		i := 0
		dst = append(dst, '{')
		for _, m := range jsonscan.Dict(raw) {
			dst = append(AppendString(newLine(dst, i, indent, depth+1), m.Name), ": "...)
			dst = AppendIndented(dst, m.Value, indent, depth+1)
			i++
		}
		return closeLine(dst, '}', i, indent, depth)
	case '[':
		i := 0
		dst = append(dst, '[')
		for value := range jsonscan.Elements(raw) {
			dst = AppendIndented(newLine(dst, i, indent, depth+1), value, indent, depth+1)
			i++
		}
		return closeLine(dst, ']', i, indent, depth)
	}
	return Append(dst, raw)
}

// newLine begins the line of an element.
func newLine(dst []byte, i, indent, depth int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return append(append(dst, '\n'), strings.Repeat(" ", indent*depth)...)
}

func closeLine(dst []byte, bracket byte, n, indent, depth int) []byte {
	if n > 0 {
		dst = newLine(dst, 0, indent, depth)
	}
	return append(dst, bracket)
}
