package tokenizer

// wordCache remembers what words became, the latest of those that share a place. A prompt of a given length is encoded
// several times until the length is right, and hardly differs from one time to the next. Words that are tokens need no
// remembering.
type wordCache struct {
	words []cachedWord
}

// cachedWord holds a word by value: a string of it would keep the text that it is from.
type cachedWord struct {
	hash  uint64
	size  uint8
	count uint8 // 0 in a free place
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
