package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// runeKind is a kind of character that words are told by. Every character is of one.
type runeKind uint8

const (
	sign runeKind = iota // none of the others: punctuation, symbols, marks, controls
	letter
	number
	space
)

// runeKinds knows the kinds of the first 65,536 characters, four in a byte, so that all of them stay in the processor's
// first cache.
type runeKinds [1 << 16 / 4]uint8

func newRuneKinds() runeKinds {
	var k runeKinds
	for _, t := range []struct {
		table *unicode.RangeTable
		kind  runeKind
	}{{unicode.L, letter}, {unicode.N, number}, {unicode.White_Space, space}} {
		for _, r := range t.table.R16 {
			for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
				k[c/4] |= uint8(t.kind) << (c % 4 * 2)
			}
		}
	}
	return k
}

// kind returns the kind of the character at at, and where the next begins. A broken byte is a sign, as U+FFFD is.
func (w *wordFinder) kind(text string, at int) (kind runeKind, next int) {
	r, size := rune(text[at]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRuneInString(text[at:])
	}
	if r < 1<<16 {
		return runeKind(w.kinds[r/4] >> (r % 4 * 2) & 3), at + size
	}
	switch {
	case unicode.Is(unicode.L, r):
		kind = letter
	case unicode.Is(unicode.N, r):
		kind = number
	}
	return kind, at + size
}
