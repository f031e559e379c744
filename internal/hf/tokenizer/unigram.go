package tokenizer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// unigram cuts a piece so that the scores of the tokens, logarithms of their probabilities, add up to the most (the
// Viterbi search over a unigram language model that SentencePiece made known).
type unigram struct {
	vocab   *vocabulary
	tokens  *trie // its values are ids: no id is left out
	scores  []float64
	unknown int32 // -1 for none
	penalty float64
	bytes   *[256]int32 // nil without byte fallback
}

// unknownPenalty is how much worse than the worst token an unknown character is.
const unknownPenalty = 10

// arc is the best way to a place found so far: its score and its last token.
type arc struct {
	score float64
	from  int // where the last token begins; -1 for a place that nothing leads to
	id    int32
}

func readUnigram(f modelFields) (model, *vocabulary, error) {
	m := &unigram{unknown: -1}
	var b vocabularyBuilder
	b.arena.Grow(len(f.Vocab) / 2)
	var buffer []byte
	err := eachElement(f.Vocab, func(value []byte) error {
		if len(m.scores) > maxID {
			return fmt.Errorf("more than %d tokens", maxID+1)
		}
		text, score, err := readScored(buffer[:0], value)
		if err != nil {
			return err
		}
		buffer, m.scores = text, append(m.scores, score)
		return b.add(text, len(m.scores)-1)
	})
	if err == nil {
		m.vocab, err = b.build()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("vocab: %w", err)
	}
	if len(m.scores) == 0 {
		return nil, nil, errors.New("vocab: is empty")
	}
	m.tokens = newTrie(m.vocab.texts)
	m.penalty = slices.Min(m.scores) - unknownPenalty
	if f.UnknownID != nil {
		if *f.UnknownID < 0 || *f.UnknownID >= len(m.scores) {
			return nil, nil, fmt.Errorf("unk_id %d is not in the vocabulary of %d tokens", *f.UnknownID, len(m.scores))
		}
		m.unknown = int32(*f.UnknownID)
	}
	if f.ByteFallback {
		m.bytes = m.vocab.byteTokens()
	}
	return m, m.vocab, nil
}

// readScored takes ["token", score].
func readScored(buffer, value []byte) (text []byte, score float64, err error) {
	token, number, n, err := two(value)
	if err == nil && n != 2 {
		err = fmt.Errorf("a token with %d fields instead of text and score", n)
	}
	if err != nil {
		return nil, 0, err
	}
	if text, err = appendText(buffer, token); err != nil {
		return nil, 0, err
	}
	if score, err = strconv.ParseFloat(string(number), 64); err != nil || math.IsInf(score, 0) {
		return nil, 0, fmt.Errorf("%.40q stands where a score should", number)
	}
	return text, score, nil
}

func (m *unigram) encode(ids []int, piece string, s *scratch) ([]int, error) {
	if err := m.search(piece, s); err != nil {
		return ids, err
	}
	s.ends = s.ends[:0]
	for end := len(piece); end > 0; end = s.lattice[end].from {
		s.ends = append(s.ends, end)
	}
	start := 0
	for i := len(s.ends) - 1; i >= 0; i-- {
		end := s.ends[i]
		id := s.lattice[end].id
		if id != m.unknown {
			ids = append(ids, int(id))
			start = end
			continue
		}
		for i > 0 && s.lattice[s.ends[i-1]].id == m.unknown { // unknown characters in a row are one unknown
			i--
			end = s.ends[i]
		}
		ids = m.appendUnknown(ids, piece[start:end])
		start = end
	}
	return ids, nil
}

// search fills the lattice: for every place in piece the best way there.
func (m *unigram) search(piece string, s *scratch) error {
	s.lattice = append(s.lattice[:0], arc{})
	for range len(piece) {
		s.lattice = append(s.lattice, arc{from: -1})
	}
	reach := func(from, to int, score float64, id int32) {
		if a := &s.lattice[to]; a.from < 0 || score > a.score {
			*a = arc{score, from, id}
		}
	}
	for at := 0; at < len(piece); {
		here := s.lattice[at].score
		_, char := utf8.DecodeRuneInString(piece[at:])
		known := false // whether a token is just this character
		node := uint32(0)
		for end := at; end < len(piece); end++ {
			if node = m.tokens.step(node, piece[end]); node == 0 {
				break
			}
			if id := m.tokens.nodes[node].value; id >= 0 {
				reach(at, end+1, here+m.scores[id], id)
				known = known || end+1 == at+char
			}
		}
		if !known {
			if m.unknown < 0 {
				return fmt.Errorf("the vocabulary lacks %q and names no unknown token", piece[at:at+char])
			}
			reach(at, at+char, here+m.penalty, m.unknown)
		}
		at += char
	}
	return nil
}

// appendUnknown appends the tokens of a text that the search found none for.
func (m *unigram) appendUnknown(ids []int, text string) []int {
	if id := m.vocab.find(text); id >= 0 {
		return append(ids, int(id)) // such as "<unk>" written out
	}
	if m.bytes == nil || !allBytes(text, m.bytes) {
		return append(ids, int(m.unknown))
	}
	for i := range len(text) {
		ids = append(ids, int(m.bytes[text[i]]))
	}
	return ids
}

// allBytes reports whether every byte of text has a token.
func allBytes(text string, tokens *[256]int32) bool {
	for i := range len(text) {
		if tokens[text[i]] < 0 {
			return false
		}
	}
	return true
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
