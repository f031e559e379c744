package simulator

import "math/rand/v2"

// prose invents an answer, token by token: words of one or two pieces that can be pronounced, and a full stop now and
// then. No word of it means anything.
type prose struct {
	draws  *rand.Rand
	inWord bool
}

// next returns the next token's id. Its piece is plain ASCII, and encoding the whole text gives the same ids again.
func (p *prose) next() int {
	if p.inWord && p.draws.IntN(5) < 2 {
		p.inWord = false
		return firstTriple + p.syllables("vcv")
	}
	if p.inWord && p.draws.IntN(10) == 0 {
		p.inWord = false
		return '.'
	}
	p.inWord = true
	return firstBlankTriple + p.syllables("cvc")
}

// syllables draws consonants and vowels by the pattern and returns the triple's index.
func (p *prose) syllables(pattern string) int {
	const consonants, vowels = "bdfgklmnprstvw", "aeiou"
	var text [3]byte
	for i := range text {
		from := consonants
		if pattern[i] == 'v' {
			from = vowels
		}
		text[i] = from[p.draws.IntN(len(from))]
	}
	index, _ := letterIndex(string(text[:]), 3) // always found: none of these begin with z
	return index
}
