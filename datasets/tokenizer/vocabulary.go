package tokenizer

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"

	"benchtop/datasets/jsonscan"
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
		return fmt.Errorf("the token %.40q… has %d bytes, more than the %d that are taken", text, len(text), maxTokenBytes)
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

// trie finds the keys that a text begins with, byte by byte. It never changes once built.
type trie struct {
	nodes []trieNode
	root  [256]uint32 // the root's children, 0 for none: most texts get no further than them
}

// trieNode has its children side by side, in the order of their labels.
type trieNode struct {
	first uint32 // the first child
	count uint16 // how many children there are
	label byte
	value int32 // of the key that ends here, -1 for none
}

// newTrie builds a trie of keys, each of which stands for its index. Of equal keys the first counts.
func newTrie(keys []string) *trie {
	order := make([]int32, len(keys))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(keys[a], keys[b]) })
	t := &trie{nodes: []trieNode{{value: -1}}}
	type stretch struct{ from, to, depth int } // of the keys below a node
	below := []stretch{{0, len(order), 0}}
	for n := 0; n < len(t.nodes); n++ {
		s := below[n]
		i := s.from
		for ; i < s.to && len(keys[order[i]]) == s.depth; i++ {
			if t.nodes[n].value < 0 {
				t.nodes[n].value = order[i]
			}
		}
		t.nodes[n].first = uint32(len(t.nodes))
		for i < s.to {
			label := keys[order[i]][s.depth]
			from := i
			for i < s.to && keys[order[i]][s.depth] == label {
				i++
			}
			t.nodes = append(t.nodes, trieNode{label: label, value: -1})
			below = append(below, stretch{from, i, s.depth + 1})
			t.nodes[n].count++
		}
	}
	for i := range t.nodes[0].count {
		child := t.nodes[0].first + uint32(i)
		t.root[t.nodes[child].label] = child
	}
	return t
}

// step goes from a node to its child with this label; 0, the root, which is no child, if there is none.
func (t *trie) step(node uint32, label byte) uint32 {
	if node == 0 {
		return t.root[label]
	}
	from := t.nodes[node].first
	to := from + uint32(t.nodes[node].count)
	for from < to {
		middle := (from + to) / 2
		switch n := t.nodes[middle].label; {
		case n == label:
			return middle
		case n < label:
			from = middle + 1
		default:
			to = middle
		}
	}
	return 0
}

// longest returns the value and the length of the longest key that text begins with, below node; -1 if there is none.
func (t *trie) longest(node uint32, text string) (value int32, length int) {
	value = -1
	for i := range len(text) {
		if node = t.step(node, text[i]); node == 0 {
			break
		}
		if v := t.nodes[node].value; v >= 0 {
			value, length = v, i+1
		}
	}
	return value, length
}
