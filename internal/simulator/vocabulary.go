package simulator

import (
	"strings"
	"unicode/utf8"
)

// vocabulary is the number of token ids: 0 to vocabulary-1. It is larger than that of any model, so that prompts made
// of a model's ids are always valid.
const vocabulary = firstRune + lastRune - leastRune + 1

// The vocabulary follows a rule, without a table or file. Letters are the 25 lower-case ones without q.
//
//	id from   piece   how many
//	      0   byte         256
//	    256   " x"          25
//	    281   "xy"         625
//	    906   "xyz"      15547   of 25³: those that begin with the end of the alphabet below are left out
//	  16453   " xyz"     15547   the same, with a blank
//	  32000   "𠀀"       983040   characters from U+20000 on, which are rare in texts
//
// Encoding takes the longest piece from the left. From 906 on all pieces have three letters or are such a character, so
// any sequence of those ids comes back from its text unchanged, and random prompts keep their length. English takes a
// token for about three letters.
const (
	letters = "etaoinshrdlucmfwypvbgkjxz" // by frequency: the pieces left out are rare

	firstBlankLetter = 256
	firstPair        = firstBlankLetter + len(letters)
	firstTriple      = firstPair + len(letters)*len(letters)
	triples          = (firstRune - firstTriple) / 2
	firstBlankTriple = firstTriple + triples
	firstRune        = 32000
	leastRune        = 0x20000
	lastRune         = 0x10ffff
)

// encode returns the token ids of text. There are no special tokens. decode gives the text back, if it is valid UTF-8.
func encode(text string) []int {
	ids := make([]int, 0, len(text)/3+1)
	for len(text) > 0 {
		id, n := longestPiece(text)
		ids = append(ids, id)
		text = text[n:]
	}
	return ids
}

// longestPiece returns the id and the length in bytes of the longest piece that text begins with.
func longestPiece(text string) (id, length int) {
	if text[0] == ' ' {
		if i, ok := letterIndex(text[1:], 3); ok {
			return firstBlankTriple + i, 4
		}
		if i, ok := letterIndex(text[1:], 1); ok {
			return firstBlankLetter + i, 2
		}
		return ' ', 1
	}
	if i, ok := letterIndex(text, 3); ok {
		return firstTriple + i, 3
	}
	if i, ok := letterIndex(text, 2); ok {
		return firstPair + i, 2
	}
	if r, n := utf8.DecodeRuneInString(text); r >= leastRune {
		return firstRune + int(r) - leastRune, n
	}
	return int(text[0]), 1
}

// letterDigits are the places of bytes in letters, -1 for others.
var letterDigits = func() (digits [256]int8) {
	for b := range digits {
		digits[b] = int8(strings.IndexByte(letters, byte(b)))
	}
	return digits
}()

// letterIndex reads the first n bytes of text as a number with letters for digits. It fails if they are not all
// letters, or spell a triple that the vocabulary lacks.
func letterIndex(text string, n int) (int, bool) {
	if len(text) < n {
		return 0, false
	}
	index := 0
	for i := range n {
		digit := int(letterDigits[text[i]])
		if digit < 0 {
			return 0, false
		}
		index = index*len(letters) + digit
	}
	return index, n < 3 || index < triples
}

// piece returns the bytes of one id, which must be below vocabulary.
func piece(id int) string {
	switch {
	case id < firstBlankLetter:
		return string([]byte{byte(id)})
	case id < firstPair:
		return " " + spell(id-firstBlankLetter, 1)
	case id < firstTriple:
		return spell(id-firstPair, 2)
	case id < firstBlankTriple:
		return spell(id-firstTriple, 3)
	case id < firstRune:
		return " " + spell(id-firstBlankTriple, 3)
	default:
		return string(rune(leastRune + id - firstRune))
	}
}

// spell is the inverse of letterIndex.
func spell(index, n int) string {
	var text [3]byte
	for i := n - 1; i >= 0; i-- {
		text[i] = letters[index%len(letters)]
		index /= len(letters)
	}
	return string(text[:n])
}

// decode returns the text of ids, which must be in the vocabulary. Bytes that are no UTF-8 become U+FFFD.
func decode(ids []int) string {
	var text strings.Builder
	for _, id := range ids {
		text.WriteString(piece(id))
	}
	return strings.ToValidUTF8(text.String(), "\uFFFD")
}

// inVocabulary returns the first id that is not, and false; or true.
func inVocabulary(ids []int) (int, bool) {
	for _, id := range ids {
		if id < 0 || id >= vocabulary {
			return id, false
		}
	}
	return 0, true
}
