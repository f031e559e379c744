package tokenizer

import "slices"

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
			best = min(best, r<<longWordBits|uint32(i)) // without a branch, which no processor could foretell
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

// mergeLong merges s.symbols with a queue of candidates, in time n log n: without a pre-tokenizer a whole text is one word.
// A symbol stays where its first character is. So that a long word takes few bytes for each character, s.next says of a
// symbol where the next one is, and of the last of several characters, as a complement, where its symbol is.
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

// mergeHeap has the earliest merge on top, of equal ones the leftmost: the rank, then where the left symbol is. Four below
// each make it flat. container/heap would allocate every candidate.
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
