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
	n := 1
	for n < len(text) && !utf8.FullRuneInString(text[:n+1]) {
		n++
	}
	return n
}
