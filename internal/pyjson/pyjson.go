// Package pyjson writes JSON byte for byte as Python's json.dumps does: one blank after commas and colons and none
// elsewhere, ASCII only, and floats always recognisable as floats. Request bodies and result files have this form.
package pyjson

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Append appends valid JSON as Python writes it after reading it, with two exceptions: repeated names of an object
// stay, while Python keeps the last, and a number too large for a 64-bit float stays, while Python writes invalid JSON.
// Invalid JSON gives invalid JSON.
func Append(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch b := raw[i]; b {
		case ' ', '\t', '\n', '\r':
			i++
		case ',', ':':
			dst = append(dst, b, ' ')
			i++
		case '"':
			n := 0
			dst, n = appendLiteral(dst, raw[i:])
			i += n
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			n := 1
			for i+n < len(raw) && strings.IndexByte("+-.0123456789eE", raw[i+n]) >= 0 {
				n++
			}
			dst = appendNumber(dst, string(raw[i:i+n]))
			i += n
		default:
			dst = append(dst, b)
			i++
		}
	}
	return dst
}

// AppendString appends s as a JSON string with every character outside printable ASCII escaped. Invalid UTF-8 becomes
// U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		n := Plain(s)
		dst = append(dst, s[:n]...)
		s = s[n:]
		if len(s) > 0 {
			r, n := utf8.DecodeRuneInString(s)
			dst = AppendRune(dst, r)
			s = s[n:]
		}
	}
	return append(dst, '"')
}

// AppendRune appends a character, or half of a surrogate pair, as within a JSON string.
func AppendRune(dst []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r == '\n':
		return append(dst, '\\', 'n')
	case r == '\r':
		return append(dst, '\\', 'r')
	case r == '\t':
		return append(dst, '\\', 't')
	case r == '\b':
		return append(dst, '\\', 'b')
	case r == '\f':
		return append(dst, '\\', 'f')
	case r < ' ' || r >= 0x7f && r < 0x10000:
		return appendUnit(dst, uint16(r))
	case r >= 0x10000:
		r -= 0x10000
		return appendUnit(appendUnit(dst, 0xd800+uint16(r>>10)), 0xdc00+uint16(r&0x3ff))
	}
	return append(dst, byte(r))
}

// appendUnit appends a UTF-16 unit.
func appendUnit(dst []byte, u uint16) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
}

// Plain is the number of leading bytes of a text that need no escape. A picture has millions of them.
func Plain[T string | []byte](s T) int {
	for i := range len(s) {
		if special[s[i]] {
			return i
		}
	}
	return len(s)
}

// special are the bytes that need an escape.
var special = func() (set [256]bool) {
	for b := range set {
		set[b] = b < ' ' || b > '~' || b == '"' || b == '\\'
	}
	return set
}()

// appendLiteral rewrites the string literal at the beginning of raw and returns its length. Escapes are rewritten one
// by one, so that half a surrogate pair stays, as in Python.
func appendLiteral(dst, raw []byte) ([]byte, int) {
	dst = append(dst, '"')
	for i := 1; i < len(raw); {
		n := Plain(raw[i:])
		dst = append(dst, raw[i:i+n]...)
		i += n
		switch {
		case i == len(raw):
		case raw[i] == '"':
			return append(dst, '"'), i + 1
		case raw[i] != '\\':
			r, n := utf8.DecodeRune(raw[i:])
			dst = AppendRune(dst, r)
			i += n
		case i+5 < len(raw) && raw[i+1] == 'u':
			unit, _ := strconv.ParseUint(string(raw[i+2:i+6]), 16, 16)
			dst = AppendRune(dst, rune(unit))
			i += 6
		case i+1 < len(raw) && raw[i+1] == '/':
			dst = append(dst, '/')
			i += 2
		default:
			dst = append(dst, raw[i:min(i+2, len(raw))]...)
			i += 2
		}
	}
	return dst, len(raw)
}

// Float is Python's repr of a float: the shortest text that reads back as the same number, with an exponent below 1e-4
// and from 1e16 on. NaN and infinities, which JSON cannot represent, are nan, inf and -inf.
func Float(v float64) string { return string(AppendFloat(nil, v)) }

// AppendFloat appends the result of Float.
func AppendFloat(dst []byte, v float64) []byte {
	a := math.Abs(v)
	if us := int64(min(a, mostFast)*1e6 + 0.5); a < mostFast && (a == 0 || a >= 1e-4) && float64(us)/1e6 == a {
		return appendMicro(dst, us, math.Signbit(v))
	}
	switch {
	case math.IsNaN(v):
		return append(dst, "nan"...)
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	case a != 0 && (a < 1e-4 || a >= 1e16):
		return strconv.AppendFloat(dst, v, 'e', -1, 64)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
	if bytes.IndexByte(dst[from:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// mostFast bounds the floats whose shortest digits are those of their millionths, of which there are at most 15.
const mostFast = 1e9

// appendMicro appends a number of millionths: most floats of results are times in whole microseconds.
func appendMicro(dst []byte, us int64, negative bool) []byte {
	if negative {
		dst = append(dst, '-')
	}
	dst = append(strconv.AppendInt(dst, us/1e6, 10), '.')
	for rest := us % 1e6; ; {
		dst = append(dst, byte('0'+rest/1e5))
		if rest = rest % 1e5 * 10; rest == 0 {
			return dst
		}
	}
}

// appendNumber appends a number as Python prints it after reading it: whole numbers with all digits, others as floats.
// A number too large for a float stays.
func appendNumber(dst []byte, text string) []byte {
	if !strings.ContainsAny(text, ".eE") {
		if text == "-0" {
			text = "0"
		}
		return append(dst, text...)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return append(dst, text...)
	}
	return AppendFloat(dst, v)
}
