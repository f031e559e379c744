package journal

import (
	"unicode"
	"unicode/utf8"

	"benchtop/internal/pyjson"
)

// appendString appends s as a JSON string in which only what would not be safe to print on a terminal is escaped. Bytes
// that are no UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for s != "" {
		n := pyjson.Plain(s)
		b = append(b, s[:n]...)
		if s = s[n:]; s != "" {
			r, size := utf8.DecodeRuneInString(s)
			b = appendSafe(b, r)
			s = s[size:]
		}
	}
	return append(b, '"')
}

// appendPrintable appends JSON whose texts may hold characters that are not safe to print on a terminal, and escapes
// those.
func appendPrintable(b []byte, json string) []byte {
	for _, r := range json {
		if r < 0x7f {
			b = append(b, byte(r))
		} else {
			b = appendSafe(b, r)
		}
	}
	return b
}

// appendSafe appends a character to a JSON string, and escapes it unless it is safe to print. Plain ASCII is not for it.
func appendSafe(b []byte, r rune) []byte {
	if r > 0x9f && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
		return utf8.AppendRune(b, r)
	}
	return pyjson.AppendRune(b, r)
}
