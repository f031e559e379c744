package tokenizer

import (
	"cmp"
	"slices"
)

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

// step goes from a node to its child with this label; 0, which is the root and nobody's child, if there is none.
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
