package tokenizer

import (
	"math/rand/v2"
	"strings"
	"unicode"
)

// Estimate counts without any tokenizer: a token for every four bytes of UTF-8, begun ones included, but at least one
// for every word, a word being what white space separates. English prose comes out within about a fifth of common
// vocabularies, code and languages outside the Latin alphabet worse. Show it as an estimate.
type Estimate struct{}

const bytesPerToken = 4

// Count estimates the tokens of text; it never fails. An empty text has none.
func (Estimate) Count(text string) (int, error) {
	words, inside := 0, false
	for _, r := range text {
		space := unicode.IsSpace(r)
		if !space && !inside {
			words++
		}
		inside = !space
	}
	return max(words, (len(text)+bytesPerToken-1)/bytesPerToken), nil
}

// Words makes text of about as many tokens as there are ids, without any tokenizer: a word for each, of the English ones that
// common vocabularies hold as one token with the blank before it. It stands to text as Estimate stands to counting. A word
// follows from its id by chance, so that rows of ids that begin differently share no beginning as text.
type Words struct{}

// VocabSize is the number of ids, 0 … VocabSize-1. Several share a word.
func (Words) VocabSize() int { return 1 << 17 }

// Decode never fails.
func (Words) Decode(ids []int) (string, error) {
	words := make([]string, len(ids))
	for i, id := range ids {
		draws := rand.NewPCG(uint64(id), 0)
		words[i] = commonWords[draws.Uint64()%uint64(len(commonWords))]
	}
	return strings.Join(words, " "), nil
}

var commonWords = strings.Fields(`
the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one you
were all her she there would their we him been has when who will no more if out so up said what its about than into them
can only other time new some could these two may first then do any like my now over such our man me even most made after
also did many off before must well back through years where much your way down should because long each just state those
people too mr how little good world make year very still see own work men day get here old life both`)
