// Package tokenizer counts tokens and makes text of a given token length.
//
// It has the interfaces that data sets need and their implementations: Local reads the tokenizer.json of the Hugging
// Face libraries, which Find looks for on this machine and on the hub; Server asks the inference server; Estimate goes
// by the length of the text.
package tokenizer

import (
	"context"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"benchtop/internal/parallel"
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
	// VocabSize is the number of ids of the base vocabulary, 0 … VocabSize-1, without added tokens; 0 where that is not
	// known.
	VocabSize() int
	// IDs lists all ids, ascending, those of added tokens among them. The caller must not change it.
	IDs() []int
	// SpecialIDs are the ids that no synthetic prompt may hold; they may lie outside the base vocabulary.
	SpecialIDs() []int
	// AddedSpecialIDs are the ids of the added tokens that are flagged as special; SpecialIDs where these are not
	// known.
	AddedSpecialIDs() []int
	// SpecialTokensToAdd is how many tokens the tokenizer adds by itself to a single text.
	SpecialTokensToAdd() int
	// Concurrency is how many calls may be in flight, where they wait for a server; 0 where the work is done on this
	// machine.
	Concurrency() int
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

// Words makes text of about as many tokens as there are ids, without any tokenizer: a word for each, of the English
// ones that common vocabularies hold as one token with the blank before it. It stands to text as Estimate stands to
// counting. A word follows from its id at random, so that rows of ids that begin differently share no beginning as
// text.
type Words struct {
	// Even words have four letters each: texts of as many are as many tokens by more tokenizers.
	Even bool
}

// VocabSize is the number of ids, 0 … VocabSize-1. Several share a word.
func (Words) VocabSize() int { return 1 << 17 }

// Decode never fails.
func (w Words) Decode(ids []int) (string, error) {
	words, among := make([]string, len(ids)), commonWords
	if w.Even {
		among = evenWords
	}
	for i, id := range ids {
		draws := rand.NewPCG(uint64(id), 0)
		words[i] = among[draws.Uint64()%uint64(len(among))]
	}
	return strings.Join(words, " "), nil
}

// Encode gives an id for each word; they stand for as many words, but not for these. It never fails.
func (Words) Encode(text string) ([]int, error) {
	words := strings.Fields(text)
	ids := make([]int, len(words))
	for i, word := range words {
		ids[i] = int(crc32.ChecksumIEEE([]byte(word))) % Words{}.VocabSize()
	}
	return ids, nil
}

// IDs is nil, as of a tokenizer that does not tell: they are all below VocabSize.
func (Words) IDs() []int { return nil }

// SpecialIDs are none.
func (Words) SpecialIDs() []int { return nil }

// AddedSpecialIDs are none.
func (Words) AddedSpecialIDs() []int { return nil }

// Concurrency is 0: words are made here.
func (Words) Concurrency() int { return 0 }

// SpecialTokensToAdd is 0, since what the model's tokenizer adds is not known.
func (Words) SpecialTokensToAdd() int { return 0 }

var commonWords = strings.Fields(`
the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one you
were all her she there would their we him been has when who will no more if out so up said what its about than into them
can only other time new some could these two may first then do any like my now over such our man me even most made after
also did many off before must well back through years where much your way down should because long each just state those
people too mr how little good world make year very still see own work men day get here old life both`)

var evenWords = slices.DeleteFunc(slices.Clone(commonWords), func(word string) bool { return len(word) != 4 })

// wordCache remembers the ids of words, the latest of those that share a slot. A prompt of a given length is encoded
// several times until the length is right, and hardly differs from one time to the next. Words that are tokens need no
// remembering.
type wordCache struct {
	words []cachedWord
}

// cachedWord holds a word by value: a string of it would keep the text that it is from.
type cachedWord struct {
	hash  uint64
	size  uint8
	count uint8 // 0 in a free slot
	text  [cachedBytes]byte
	ids   [cachedIDs]int32
}

const (
	cachedWords = 1 << cachedBits
	cachedBits  = 12
	cachedBytes = 32
	cachedIDs   = 8
)

// get returns the ids of a word, good until the next put; nil if it is not remembered.
func (c *wordCache) get(hash uint64, word string) []int32 {
	if c.words == nil || len(word) > cachedBytes {
		return nil
	}
	w := &c.words[hash>>(64-cachedBits)]
	if w.count == 0 || w.hash != hash || string(w.text[:w.size]) != word {
		return nil
	}
	return w.ids[:w.count]
}

// put remembers a word if it is short.
func (c *wordCache) put(hash uint64, word string, ids []int32) {
	if len(word) > cachedBytes || len(ids) > cachedIDs {
		return
	}
	if c.words == nil {
		c.words = make([]cachedWord, cachedWords)
	}
	w := &c.words[hash>>(64-cachedBits)]
	w.hash, w.size, w.count = hash, uint8(copy(w.text[:], word)), uint8(copy(w.ids[:], ids))
}

// lastText remembers the ids of the pieces of the previous text. A prompt of a given length is cut and encoded again
// until the length is right, so that nearly all of its pieces come again, in the same order: those need no search and
// no model. The ids of a piece depend on the piece alone, whichever text it is from.
type lastText struct {
	before, now encoding
	at          int  // the next piece of before
	off         bool // the text is too long to be remembered
}

// encoding is the pieces of a text and their ids.
type encoding struct {
	pieces []encodedPiece
	ids    []int32
}

// encodedPiece keeps the text that it is from.
type encodedPiece struct {
	text string
	end  int32 // of its ids, among those of the text
}

// Bounds on the text that is remembered: more than 100,000 tokens.
const (
	rememberedText   = 1 << 20 // bytes of the longest one
	rememberedPieces = 1 << 17
)

// begin forgets the text before the last. size is the length of the text that comes.
func (l *lastText) begin(size int) {
	l.before, l.now = l.now, l.before
	l.now = encoding{l.now.pieces[:0], l.now.ids[:0]}
	l.at, l.off = 0, size > rememberedText
	if l.off {
		l.before, l.now = encoding{}, encoding{}
	}
}

// next returns the piece of the text before that stands where the next piece of this text does, and its ids, good until
// begin; no ids if there is none.
func (l *lastText) next() (piece string, ids []int32) {
	if l.at >= len(l.before.pieces) {
		return "", nil
	}
	start := int32(0)
	if l.at > 0 {
		start = l.before.pieces[l.at-1].end
	}
	p := l.before.pieces[l.at]
	l.at++
	return p.text, l.before.ids[start:p.end]
}

// put remembers the next piece of this text.
func (l *lastText) put(piece string, ids []int) {
	if l.off || len(l.now.pieces) == rememberedPieces {
		return
	}
	for _, id := range ids {
		l.now.ids = append(l.now.ids, int32(id))
	}
	l.now.pieces = append(l.now.pieces, encodedPiece{piece, int32(len(l.now.ids))})
}

// again returns the ids of a piece that stands in the previous text too, or begins one there; nil otherwise.
func (l *Local) again(piece string, last *lastText) []int32 {
	known, ids := last.next()
	switch {
	case piece == known:
		return ids
	case l.bpe != nil && len(ids) > 1 && strings.HasPrefix(known, piece):
		return l.bpe.begins(piece, ids)
	}
	return nil
}

// begins returns those of a word's ids that make the piece that the word begins with, if it ends where one of them
// does; else nil.
//
// They are the ids of the piece alone. No merge of the word went across the place where the piece ends. So each merge
// on its left was the earliest there, whatever was done on its right, and merging the piece alone does the same ones.
func (m *bpe) begins(piece string, ids []int32) []int32 {
	if !m.plain || m.ignoreMerges && m.vocab.find(piece) >= 0 {
		return nil
	}
	rest := piece
	for i, id := range ids {
		var found bool
		if rest, found = strings.CutPrefix(rest, m.vocab.texts[id]); !found {
			return nil
		}
		if rest == "" {
			return ids[:i+1]
		}
	}
	return nil
}
