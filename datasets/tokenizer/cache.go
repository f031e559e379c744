package tokenizer

import "strings"

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
	before, now encoded
	at          int  // the next piece of before
	off         bool // the text is too long to be remembered
}

// encoded is the pieces of a text and their ids.
type encoded struct {
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
	l.now = encoded{l.now.pieces[:0], l.now.ids[:0]}
	l.at, l.off = 0, size > rememberedText
	if l.off {
		l.before, l.now = encoded{}, encoded{}
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

// begins returns those of a word's ids that make the piece that the word begins with, if it ends where one of them does;
// else nil.
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
