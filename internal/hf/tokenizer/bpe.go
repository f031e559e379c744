package tokenizer

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unicode/utf8"
)

// bpe merges a word's characters pair by pair, the earliest merge of the training first (byte pair encoding).
type bpe struct {
	vocab        *vocabulary
	merges       *merges
	characters   []int32 // ids of the tokens that are one character, by code point; -1 for none
	bytes        *[256]int32
	unknown      unknownToken
	fuse         bool // unknown characters in a row are one
	ignoreMerges bool // a word that is a token is that token, whatever the merges say
	prefix       string
	suffix       string
	plain        bool            // characters are their tokens or an error: none unknown, none with an affix
	whole        []atomic.Uint32 // two bits a token: see isWhole
}

// firstCharacters is how many code points bpe.characters covers: the byte alphabet and the scripts of most text.
const firstCharacters = 0x800

func readBPE(f modelFields, v *vocabulary) (model, error) {
	if valueOf(f.Dropout, 0) != 0 {
		return nil, fmt.Errorf("dropout %g makes every encoding another one", *f.Dropout)
	}
	if f.Merges == nil {
		return nil, errors.New("has no merges")
	}
	m := &bpe{
		vocab:        v,
		unknown:      newUnknown(f.Unknown, v),
		fuse:         f.Fuse,
		ignoreMerges: f.IgnoreMerges,
		prefix:       valueOf(f.Prefix, ""),
		suffix:       valueOf(f.Suffix, ""),
		whole:        make([]atomic.Uint32, len(v.texts)/16+1),
	}
	if f.ByteFallback {
		m.bytes = v.byteTokens()
	}
	m.plain = m.prefix == "" && m.suffix == "" && m.bytes == nil && f.Unknown == nil
	m.characters = make([]int32, firstCharacters)
	for r := range m.characters {
		m.characters[r] = v.find(string(rune(r)))
	}
	var err error
	if m.merges, err = readMerges(f.Merges, v, m.prefix); err != nil {
		return nil, fmt.Errorf("merges: %w", err)
	}
	return m, nil
}

func (m *bpe) encode(ids []int, piece string, s *scratch) ([]int, error) {
	if len(piece) > maxTokenBytes {
		return m.mergeInto(ids, piece, s)
	}
	hash := m.vocab.hash(piece)
	if id := m.vocab.findHashed(hash, piece); id >= 0 && (m.ignoreMerges || m.isWhole(id, piece, s)) {
		return append(ids, int(id)), nil
	}
	if known := s.words.get(hash, piece); known != nil {
		return appendIDs(ids, known), nil
	}
	ids, err := m.mergeInto(ids, piece, s)
	if err == nil {
		s.words.put(hash, piece, s.symbols)
	}
	return ids, err
}

func (m *bpe) mergeInto(ids []int, piece string, s *scratch) ([]int, error) {
	if err := m.merge(piece, s); err != nil {
		return ids, err
	}
	return appendIDs(ids, s.symbols), nil
}

func appendIDs(ids []int, more []int32) []int {
	for _, id := range more {
		ids = append(ids, int(id))
	}
	return ids
}

// isWhole reports whether merging the text of a token gives the token. It does for most, and looking a word up is
// quicker than merging it; but some tokens are out of reach of the merges. The first answer is kept: 2 for yes, 1 for
// no.
func (m *bpe) isWhole(id int32, text string, s *scratch) bool {
	word, shift := &m.whole[id/16], uint(id%16)*2
	if answer := word.Load() >> shift & 3; answer != 0 {
		return answer == 2
	}
	if m.merge(text, s) == nil && len(s.symbols) == 1 && s.symbols[0] == id {
		word.Or(2 << shift)
		return true
	}
	word.Or(1 << shift)
	return false
}

// merge leaves the tokens of a word in s.symbols.
func (m *bpe) merge(word string, s *scratch) error {
	if err := m.start(word, s); err != nil {
		return err
	}
	if len(s.symbols) <= longWord {
		m.mergeShort(s)
	} else {
		m.mergeLong(s)
	}
	return nil
}

// start puts a word's characters into s.symbols.
func (m *bpe) start(word string, s *scratch) error {
	s.symbols = slices.Grow(s.symbols[:0], len(word))
	pending := false // an unknown token that the next unknown character may join
	for at := 0; at < len(word); {
		r, size := utf8.DecodeRuneInString(word[at:])
		id, text := m.character(r, word[at:at+size], at == 0, at+size == len(word))
		at += size
		switch {
		case id >= 0:
			if pending {
				s.symbols = append(s.symbols, m.unknown.id)
				pending = false
			}
			s.symbols = append(s.symbols, id)
		case m.bytes != nil && allBytes(text, m.bytes):
			for i := range len(text) {
				s.symbols = append(s.symbols, m.bytes[text[i]])
			}
		case m.unknown.id >= 0:
			if pending && !m.fuse {
				s.symbols = append(s.symbols, m.unknown.id)
			}
			pending = true
		case m.unknown.text != "":
			_, err := m.unknown.append(nil, text)
			return err
		} // without an unknown token such characters are passed over
	}
	if pending {
		s.symbols = append(s.symbols, m.unknown.id)
	}
	return nil
}

// character returns the token of a character of a word, -1 if there is none, and its text there.
func (m *bpe) character(r rune, text string, first, last bool) (int32, string) {
	if plain := (first || m.prefix == "") && (!last || m.suffix == ""); plain && r < firstCharacters {
		return m.characters[r], text
	}
	if !first {
		text = m.prefix + text
	}
	if last {
		text += m.suffix
	}
	return m.vocab.find(text), text
}

// longWord is the number of symbols up to which looking at all pairs for the next merge is quicker than a queue.
const longWord = 1 << longWordBits

const longWordBits = 6

// mergeShort merges s.symbols in place, looking through all pairs for the earliest merge each time.
func (m *bpe) mergeShort(s *scratch) {
	symbols := s.symbols
	n := len(symbols)
	if n < 2 {
		return
	}
	var ranks [longWord]uint32
	for i := range n - 1 {
		ranks[i] = m.merges.rank(symbols[i], symbols[i+1])
	}
	for n > 1 {
		best := uint32(noMerge << longWordBits)
		for i, r := range ranks[:n-1] {
			best = min(best, r<<longWordBits|uint32(i)) // without a branch, which no processor could predict
		}
		at, rank := int(best%longWord), best>>longWordBits
		if rank == noMerge {
			break
		}
		symbols[at] = m.merges.result(rank)
		copy(symbols[at+1:n], symbols[at+2:n])
		n--
		copy(ranks[at:n-1], ranks[at+1:n])
		if at > 0 {
			ranks[at-1] = m.merges.rank(symbols[at-1], symbols[at])
		}
		if at < n-1 {
			ranks[at] = m.merges.rank(symbols[at], symbols[at+1])
		}
	}
	s.symbols = symbols[:n]
}

// mergeLong merges s.symbols with a queue of candidates, in time n log n: without a pre-tokenizer a whole text is one
// word. A symbol stays where its first character is. So that a long word takes few bytes for each character, s.next
// says of a symbol where the next one is, and of the last of several characters, as a complement, where its symbol is.
func (m *bpe) mergeLong(s *scratch) {
	n := int32(len(s.symbols))
	s.next, s.queue = slices.Grow(s.next[:0], int(n))[:n], slices.Grow(s.queue[:0], int(n))
	for i := range n {
		s.next[i] = i + 1
	}
	for i := range n - 1 {
		m.queue(s, i, i+1)
	}
	for len(s.queue) > 0 {
		rank, at := s.queue.pop()
		right := s.next[at]
		if s.symbols[at] < 0 || right == n || m.merges.rank(s.symbols[at], s.symbols[right]) != rank {
			continue // one of the two has merged since
		}
		next := s.next[right]
		s.symbols[at], s.symbols[right] = m.merges.result(rank), -1
		s.next[at], s.next[next-1] = next, ^at
		if next < n {
			m.queue(s, at, next)
		}
		if at > 0 {
			before := at - 1
			if start := ^s.next[before]; start >= 0 {
				before = start
			}
			m.queue(s, before, at)
		}
	}
	count := 0
	for i := int32(0); i < n; i = s.next[i] {
		s.symbols[count] = s.symbols[i]
		count++
	}
	s.symbols = s.symbols[:count]
}

// queue adds the merge of a symbol with the next, if there is one.
func (m *bpe) queue(s *scratch, at, next int32) {
	if rank := m.merges.rank(s.symbols[at], s.symbols[next]); rank != noMerge {
		s.queue.push(rank, at)
	}
}

// mergeHeap has the earliest merge on top, of equal ones the leftmost: the rank, then where the left symbol is. Four
// children of each node keep it flat. container/heap would allocate every candidate.
type mergeHeap []uint64

func (h *mergeHeap) push(rank uint32, at int32) {
	c := uint64(rank)<<32 | uint64(at)
	all := append(*h, c)
	*h = all
	i := len(all) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if all[parent] <= c {
			break
		}
		all[i] = all[parent]
		i = parent
	}
	all[i] = c
}

func (h *mergeHeap) pop() (rank uint32, at int32) {
	all := *h
	top, c := all[0], all[len(all)-1]
	all = all[:len(all)-1]
	*h = all
	i := 0
	for first := 1; first < len(all); first = 4*i + 1 {
		child := first
		for k := first + 1; k < min(first+4, len(all)); k++ {
			if all[k] < all[child] {
				child = k
			}
		}
		if all[child] >= c {
			break
		}
		all[i] = all[child]
		i = child
	}
	if len(all) > 0 {
		all[i] = c
	}
	return uint32(top >> 32), int32(uint32(top))
}
