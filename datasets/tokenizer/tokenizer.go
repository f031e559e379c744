// Package tokenizer counts tokens and makes text of a given token length.
//
// It has the interfaces that data sets need and their implementations: Local reads the tokenizer.json of the Hugging Face
// libraries, which Find looks for on this machine and on the hub; Server asks the inference server; Estimate goes by the
// length of the text.
package tokenizer

import (
	"context"
	"math/rand/v2"
	"strings"
	"unicode"

	"benchtop/datasets/parallel"
)

// Counter counts the tokens of a text as a server would on receiving it as a prompt: with the special tokens, such as a
// start marker, that the model's tokenizer adds by itself. Implementations are safe for concurrent use.
type Counter interface {
	Count(text string) (int, error)
}

// Tokenizer turns text into token ids and back. It is what synthetic prompts are made with.
type Tokenizer interface {
	// Encode returns the ids of text, without any special tokens added.
	Encode(text string) ([]int, error)
	// Decode returns the text of ids, special ones included as they are.
	Decode(ids []int) (string, error)
	// VocabSize is the number of ids of the base vocabulary, 0 … VocabSize-1, without added tokens.
	VocabSize() int
	// IDs lists all ids, ascending, those of added tokens among them. The caller must not change it.
	IDs() []int
	// SpecialIDs are the ids that no synthetic prompt may hold; they may lie outside the base vocabulary.
	SpecialIDs() []int
	// SpecialTokensToAdd is how many tokens the tokenizer adds by itself to a single text.
	SpecialTokensToAdd() int
}

// inFlight is how many texts CountAll has counted at once: enough to hide a server's response time, little enough to
// leave it alone.
const inFlight = 64

// contextCounter is a Counter that can be interrupted.
type contextCounter interface {
	CountContext(ctx context.Context, text string) (int, error)
}

// CountAll counts many texts, up to 64 at once, and returns the counts in the order of the texts. The first failure
// stops it; of several, the one of the earliest text is returned. It returns ctx's error when ctx ends first.
func CountAll(ctx context.Context, c Counter, texts []string) ([]int, error) {
	count := func(_ context.Context, text string) (int, error) { return c.Count(text) }
	if c, ok := c.(contextCounter); ok {
		count = c.CountContext
	}
	counts := make([]int, len(texts))
	err := parallel.Each(ctx, inFlight, len(texts), func(i int) (err error) {
		counts[i], err = count(ctx, texts[i])
		return err
	})
	return counts, err
}

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
// follows from its id at random, so that rows of ids that begin differently share no beginning as text.
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
