package tokenizer

import "strings"

// byteLetters is the alphabet that byte-level models spell bytes in: printable Latin-1 characters stand for themselves,
// the other bytes, in ascending order, are U+0100 and up. It is only read.
var byteLetters = makeByteLetters()

// byteLetter is one letter in UTF-8.
type byteLetter struct {
	utf8 [2]byte
	size uint8
}

func makeByteLetters() (letters [256]byteLetter) {
	next := rune(0x100)
	for b := range letters {
		r := rune(b)
		if !('!' <= b && b <= '~' || 0xA1 <= b && b <= 0xAC || 0xAE <= b) {
			r = next
			next++
		}
		letters[b].size = uint8(copy(letters[b].utf8[:], string(r)))
	}
	return letters
}

// byteLevelLen is the length of text in the byte alphabet.
func byteLevelLen(text string) int {
	n := 0
	for i := range len(text) {
		n += int(byteLetters[text[i]].size)
	}
	return n
}

// writeLetters spells text in the byte alphabet.
func writeLetters(to *strings.Builder, text string) {
	for i := range len(text) {
		letter := &byteLetters[text[i]]
		to.WriteByte(letter.utf8[0])
		if letter.size > 1 {
			to.WriteByte(letter.utf8[1])
		}
	}
}

func byteLevel(text string) string {
	var letters strings.Builder
	letters.Grow(byteLevelLen(text))
	writeLetters(&letters, text)
	return letters.String()
}
