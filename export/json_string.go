package export

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// appendString appends s as a JSON string. With ascii everything outside printable ASCII is escaped, as Python does;
// without, only what would not be safe to print on a terminal. Bytes that are no UTF-8 become U+FFFD.
func appendString(b []byte, s string, ascii bool) []byte {
	b = append(b, '"')
	plain := 0 // s[plain:i] needs no escaping
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		broken := r == utf8.RuneError && size == 1
		if ascii || broken || !printable(r) {
			b = append(b, s[plain:i]...)
			b = appendEscaped(b, r, ascii)
			plain = i + size
		}
		i += size
	}
	b = append(b, s[plain:]...)
	return append(b, '"')
}

// appendPrintable appends JSON whose texts may hold characters that are not safe to print on a terminal, and escapes
// those.
func appendPrintable(b []byte, json string) []byte {
	for _, r := range json {
		if r < 0x7f || printable(r) {
			b = utf8.AppendRune(b, r)
		} else {
			b = appendEscaped(b, r, false)
		}
	}
	return b
}

// printable tells which runes other than plain ASCII may stand in a journal as they are.
func printable(r rune) bool {
	return r > 0x9f && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

func appendEscaped(b []byte, r rune, ascii bool) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	}
	if !ascii && r == utf8.RuneError {
		return append(b, string(utf8.RuneError)...)
	}
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return appendHex(appendHex(b, high), low)
	}
	return appendHex(b, r)
}

func appendHex(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
