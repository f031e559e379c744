package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// validText returns text with U+FFFD for every maximal part that is not UTF-8 (the Unicode standard's "substitution of
// maximal subparts", which Python and Rust follow): the bytes of a character cut short are one part, where
// strings.ToValidUTF8 would also join the bad parts beside it.
func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n <= 1 {
			n = badPart(text)
			b.WriteRune(utf8.RuneError)
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// badPart is how many bytes at the beginning of text, which is not UTF-8 there, begin a character and break off.
func badPart(text string) int {
	more, low, high := 0, byte(0x80), byte(0xBF) // bytes to come, and the range of the next
	switch c := text[0]; {
	case c >= 0xC2 && c <= 0xDF:
		more = 1
	case c >= 0xE0 && c <= 0xEF:
		more = 2
	case c >= 0xF0 && c <= 0xF4:
		more = 3
	}
	switch text[0] {
	case 0xE0:
		low = 0xA0
	case 0xED:
		high = 0x9F
	case 0xF0:
		low = 0x90
	case 0xF4:
		high = 0x8F
	}
	n := 1
	for n <= more && n < len(text) && text[n] >= low && text[n] <= high {
		low, high = 0x80, 0xBF
		n++
	}
	return n
}
