package tokenizer

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/rangetable"
)

// The Hugging Face library goes by the tables of Unicode 8 where it tells punctuation and BERT's characters, by those of Unicode 9 where
// it strips accents. Go's tables are of a later version, so characters that have come in since are left out, and those whose
// category has changed since are named.
var unicode8, unicode9 = rangetable.Assigned("8.0.0"), rangetable.Assigned("9.0.0")

// isWord is the \w of the Whitespace pre-tokenizer: Alphabetic, marks, decimal digits, connecting punctuation and the two
// joiners (Unicode TS 18, annex C). In a Split pattern \w is another set, see wordItems.
func isWord(r rune) bool {
	if r < 128 {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}

// isPunctuation is category P, within ASCII the symbols as well, and two signs that have changed category since.
func isPunctuation(r rune) bool {
	if r < 128 {
		return '!' <= r && r <= '~' && !isWord(r) || r == '_'
	}
	return unicode.Is(unicode.P, r) && unicode.Is(unicode8, r) || r == 0x166D || r == 0x111C9
}

// isAccent reports whether StripAccents drops r: all marks.
func isAccent(r rune) bool {
	return unicode.Is(unicode.M, r) && unicode.Is(unicode9, r) && r != 0x111C9 || r == 0x1CF2 || r == 0x1CF3
}

// isNonspacing reports whether BERT drops r: nonspacing marks.
func isNonspacing(r rune) bool {
	return unicode.Is(unicode.Mn, r) && unicode.Is(unicode8, r) && !strings.ContainsRune("\u1885\u1886\uA9BD\U000111C9", r) || r == 0x1734
}

// isControl reports whether BERT removes r: control, format and private use characters, but no tab, line feed or carriage return.
// unicode.C will not do, since it holds unassigned code points.
func isControl(r rune) bool {
	if r == '\t' || r == '\n' || r == '\r' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && unicode.Is(unicode8, r)
}

// isIdeograph says whether BERT sets blanks around r: the CJK blocks that its authors listed, gap included.
func isIdeograph(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4DBF, 0x4E00 <= r && r <= 0x9FFF, 0xF900 <= r && r <= 0xFAFF:
		return true
	case 0x20000 <= r && r <= 0x2A6DF, 0x2A700 <= r && r <= 0x2B81F, 0x2B920 <= r && r <= 0x2CEAF, 0x2F800 <= r && r <= 0x2FA1F:
		return true
	}
	return false
}

// lower makes small letters one character at a time, whatever stands around it (no final sigma). U+0130 alone becomes two.
func lower(text string) string {
	const dottedCapital = '\u0130'
	small := strings.Map(func(r rune) rune {
		if r == dottedCapital {
			return r
		}
		return unicode.ToLower(r)
	}, text)
	return strings.ReplaceAll(small, string(dottedCapital), "i\u0307")
}

// without removes the characters that drop says yes to.
func without(text string, drop func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if drop(r) {
			return -1
		}
		return r
	}, text)
}
