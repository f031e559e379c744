package tokenizer

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"benchtop/internal/jsonscan"
)

const (
	// maxID bounds token ids, some eight times above the largest vocabularies, so that a file of a few bytes cannot ask
	// for gigabytes, and two ids and a rank fit in 64 bits.
	maxID  = 1<<idBits - 2
	idBits = 21
	// maxTokenBytes bounds the text of a token, whose length is a factor in the time that finding tokens takes.
	maxTokenBytes = 4096
)

// vocabulary is the tokens of a model: text to id and back. It never changes once built.
//
// A Go map from string would hold three times the memory and take twice as long to build.
type vocabulary struct {
	texts []string // by id, all of them parts of one string; "" also where there is no token
	has   []bool   // by id
	size  int      // how many tokens there are
	seed  maphash.Seed
	slots []uint32 // open addressing: upper bits of the hash, then id+1 in idBits; 0 is a free slot
}

// find returns the id of the token with this text; -1 if there is none.
func (v *vocabulary) find(text string) int32 { return v.findHashed(v.hash(text), text) }

func (v *vocabulary) hash(text string) uint64 { return maphash.String(v.seed, text) }

// findHashed is find for a text whose hash is known.
func (v *vocabulary) findHashed(hash uint64, text string) int32 {
	return idIn(v.slots[v.slot(hash, text)])
}

// slot is where a text is, or the free slot where it would be.
func (v *vocabulary) slot(hash uint64, text string) uint64 {
	mask, tag := uint64(len(v.slots)-1), tagOf(hash)
	for at := hash & mask; ; at = (at + 1) & mask {
		if s := v.slots[at]; s == 0 || s&^idMask == tag && v.texts[idIn(s)] == text {
			return at
		}
	}
}

// idMask is where a slot has the id. Half a word a slot, and not many slots empty: most of the time that finding takes
// is waiting for memory.
const idMask = 1<<idBits - 1

func tagOf(hash uint64) uint32 { return uint32(hash>>32) &^ idMask }

func idIn(slot uint32) int32 { return int32(slot&idMask) - 1 }

// byteTokens returns the ids of the tokens <0x00> … <0xFF>; -1 for one that is missing.
func (v *vocabulary) byteTokens() *[256]int32 {
	var ids [256]int32
	for b := range ids {
		ids[b] = v.find(fmt.Sprintf("<0x%02X>", b))
	}
	return &ids
}

// vocabularyBuilder collects tokens.
type vocabularyBuilder struct {
	arena strings.Builder
	ends  []int // of the texts, in arena
	ids   []int32
}

// add takes a token; the text is copied.
func (b *vocabularyBuilder) add(text []byte, id int) error {
	if len(text) > maxTokenBytes {
		return fmt.Errorf("the token %.40q… has %d bytes, more than the %d that are taken", text, len(text),
			maxTokenBytes)
	}
	b.arena.Write(text)
	b.ends = append(b.ends, b.arena.Len())
	b.ids = append(b.ids, int32(id))
	return nil
}

// build returns the vocabulary of what was added. Two tokens of one text or of one id are an error.
func (b *vocabularyBuilder) build() (*vocabulary, error) {
	top := slices.Max(append(b.ids, -1))
	v := &vocabulary{
		texts: make([]string, top+1),
		has:   make([]bool, top+1),
		size:  len(b.ids),
		seed:  maphash.MakeSeed(),
		slots: make([]uint32, 1<<bits.Len(uint(len(b.ids)*3/2))), // half of them stay free, a third at least
	}
	arena, start := b.arena.String(), 0
	for i, id := range b.ids {
		text := arena[start:b.ends[i]]
		start = b.ends[i]
		if v.has[id] {
			return nil, fmt.Errorf("the tokens %.40q and %.40q have the same id %d", v.texts[id], text, id)
		}
		v.texts[id], v.has[id] = text, true
		hash := v.hash(text)
		at := v.slot(hash, text)
		if other := idIn(v.slots[at]); other >= 0 {
			return nil, fmt.Errorf("the token %.40q stands there twice, with the ids %d and %d", text, other, id)
		}
		v.slots[at] = tagOf(hash) | uint32(id+1)
	}
	return v, nil
}

// readVocabulary reads the vocab object of a model, {"token": id, …}.
func readVocabulary(raw []byte) (*vocabulary, error) {
	if raw[0] != '{' {
		return nil, errors.New("is not an object")
	}
	var b vocabularyBuilder
	b.arena.Grow(len(raw) / 2) // quotes, ids and commas are the other half
	var text []byte
	for token, value := range jsonscan.Members(raw) {
		var err error
		if text, err = appendText(text[:0], token); err != nil {
			return nil, err
		}
		id, err := wholeOf(value, maxID)
		if err != nil {
			return nil, fmt.Errorf("the id of token %.40q: %w", text, err)
		}
		if err := b.add(text, id); err != nil {
			return nil, err
		}
	}
	return b.build()
}

// noMerge is the rank of a pair that does not merge. Ranks and ids have 21 bits.
const noMerge = 1<<21 - 1

// merges says which pairs of tokens merge, into what and how early. Encoding asks it some fifteen times for every
// token, so the answer should lie in the processor's caches: in a table small enough, in a filter smaller
// still that knows nearly all pairs that do not merge, or beside those of the other single bytes.
type merges struct {
	slots  []uint64 // open addressing: left<<42 | right<<21 | rank
	filter []uint64 // a bit is set for every pair
	first  []uint32 // ranks of the pairs of the first ids, left*firstIDs + right
	into   []int32  // by rank
	ahead  int32    // how far the token that a merge makes is ahead of its rank, if all are as far; else -1
	seed   uint64   // so that no file can be made whose pairs all fall together
}

const (
	// firstIDs are the single bytes in nearly all byte-level vocabularies, whose pairs are two lookups in five.
	firstIDs = 256
	// freeSlot holds ids that no token has.
	freeSlot = math.MaxUint64
)

// newMerges makes room for up to count merges.
func newMerges(count int) *merges {
	m := &merges{
		slots:  make([]uint64, 2<<bits.Len(uint(count*2/3))),
		filter: make([]uint64, 1<<bits.Len(uint(count/8))),
		first:  make([]uint32, firstIDs*firstIDs),
		into:   make([]int32, 0, count),
		seed:   rand.Uint64(),
	}
	for i := range m.slots {
		m.slots[i] = freeSlot
	}
	for i := range m.first {
		m.first[i] = noMerge
	}
	return m
}

// rank returns how early a pair merges, noMerge if it does not.
func (m *merges) rank(left, right int32) uint32 {
	if uint32(left)|uint32(right) < firstIDs {
		return m.first[left*firstIDs+right]
	}
	pair := pairOf(left, right)
	hash := m.hash(pair)
	if word, bit := m.filterBit(hash); m.filter[word]&bit == 0 {
		return noMerge
	}
	return uint32(m.slots[m.slot(hash, pair)] & noMerge)
}

// result returns the token that the merge of a rank makes. Training numbers tokens as it makes them, so in most models
// it need not be looked up.
func (m *merges) result(rank uint32) int32 {
	if m.ahead >= 0 {
		return int32(rank) + m.ahead
	}
	return m.into[rank]
}

// add gives a pair the next rank. Of two merges of one pair the later counts.
func (m *merges) add(left, right, into int32) {
	pair, rank := pairOf(left, right), len(m.into)
	hash := m.hash(pair)
	m.slots[m.slot(hash, pair)] = pair<<21 | uint64(rank)
	word, bit := m.filterBit(hash)
	m.filter[word] |= bit
	if left < firstIDs && right < firstIDs {
		m.first[left*firstIDs+right] = uint32(rank)
	}
	if rank == 0 {
		m.ahead = into
	} else if into-int32(rank) != m.ahead {
		m.ahead = -1
	}
	m.into = append(m.into, into)
}

func pairOf(left, right int32) uint64 { return uint64(left)<<21 | uint64(right) }

func (m *merges) hash(pair uint64) uint64 {
	high, low := bits.Mul64(pair^m.seed, 0x9E3779B97F4A7C15) // 2^64 by the golden ratio: odd, and without a pattern
	return high ^ low
}

// slot is where pair is, or the free slot where it would be.
func (m *merges) slot(hash, pair uint64) uint64 {
	mask := uint64(len(m.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		if s := m.slots[at]; s>>21 == pair || s == freeSlot {
			return at
		}
	}
}

// filterBit takes bits of the hash that slot leaves alone.
func (m *merges) filterBit(hash uint64) (word, bit uint64) {
	return hash >> 40 & uint64(len(m.filter)-1), 1 << (hash >> 34 & 63)
}

// readMerges reads the merges of a BPE model: "a b" or ["a", "b"], the earliest first. All of them and what they merge
// into must be in the vocabulary. prefix is the continuing_subword_prefix, which a right half loses.
func readMerges(raw []byte, v *vocabulary, prefix string) (*merges, error) {
	count := 0
	for range jsonscan.Elements(raw) {
		count++
	}
	m := newMerges(count)
	var pair []byte
	err := eachElement(raw, func(value []byte) error {
		cut := 0
		var err error
		pair, cut, err = readPair(pair[:0], value)
		if err != nil || cut < 0 {
			return err
		}
		text := string(pair)
		left, right := text[:cut], text[cut:]
		a, b := v.find(left), v.find(right)
		if !strings.HasPrefix(right, prefix) {
			return fmt.Errorf("merge %d: %.40q does not begin with the prefix %.40q", len(m.into)+1, right, prefix)
		}
		if prefix != "" {
			text = left + right[len(prefix):]
		}
		into := v.find(text)
		if a < 0 || b < 0 || into < 0 {
			return fmt.Errorf("merge %d: %.40q, %.40q or the two together are not in the vocabulary", len(m.into)+1,
				left, right)
		}
		if len(m.into) == noMerge {
			return fmt.Errorf("there are more than %d", noMerge)
		}
		m.add(a, b, into)
		return nil
	})
	return m, err
}

// readPair appends the two halves of a merge to buffer and returns where the second begins; -1 for a line to pass over.
func readPair(buffer, value []byte) (pair []byte, cut int, err error) {
	if jsonscan.IsString(value) {
		line, err := appendText(buffer, value)
		if err != nil || bytes.HasPrefix(line, []byte("#version")) {
			return line, -1, err
		}
		cut = bytes.IndexByte(line, ' ')
		if cut < 0 || bytes.IndexByte(line[cut+1:], ' ') >= 0 {
			return line, 0, fmt.Errorf("the merge %.40q is not two tokens with a blank between them", line)
		}
		return append(line[:cut], line[cut+1:]...), cut, nil
	}
	left, right, n, err := two(value)
	if err == nil && n != 2 {
		err = fmt.Errorf("a merge of %d tokens instead of 2", n)
	}
	if err == nil {
		pair, err = appendText(buffer, left)
	}
	if err != nil {
		return buffer, 0, err
	}
	cut = len(pair)
	pair, err = appendText(pair, right)
	return pair, cut, err
}
