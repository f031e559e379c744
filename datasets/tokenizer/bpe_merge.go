package tokenizer

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

// link is a symbol of a long word.
type link struct {
	id           int32 // -1 once it has gone into its left neighbour
	before, next int32 // the neighbours' indices, -1 for none
}

// candidate is a merge that was possible when it was queued.
type candidate struct {
	rank        uint32
	at          int32 // index of the left symbol
	left, right int32 // the two ids then
}

// mergeLong merges s.symbols with a queue of candidates, in time n log n: without a pre-tokenizer a whole text is one word.
func (m *bpe) mergeLong(s *scratch) {
	s.links, s.queue = s.links[:0], s.queue[:0]
	for i, id := range s.symbols {
		s.links = append(s.links, link{id, int32(i - 1), int32(i + 1)})
	}
	s.links[len(s.links)-1].next = -1
	for i := range len(s.links) - 1 {
		m.queue(s, int32(i))
	}
	for len(s.queue) > 0 {
		c := s.queue.pop()
		left := &s.links[c.at]
		if left.id != c.left || left.next < 0 || s.links[left.next].id != c.right {
			continue // one of the two has merged since
		}
		right := &s.links[left.next]
		left.id, right.id = m.merges.result(c.rank), -1
		left.next = right.next
		if left.next >= 0 {
			s.links[left.next].before = c.at
			m.queue(s, c.at)
		}
		if left.before >= 0 {
			m.queue(s, left.before)
		}
	}
	s.symbols = s.symbols[:0]
	for i := int32(0); i >= 0; i = s.links[i].next {
		s.symbols = append(s.symbols, s.links[i].id)
	}
}

// queue adds the merge of a symbol with the next, if there is one.
func (m *bpe) queue(s *scratch, at int32) {
	left := s.links[at]
	right := s.links[left.next].id
	if rank := m.merges.rank(left.id, right); rank != noMerge {
		s.queue.push(candidate{rank, at, left.id, right})
	}
}

// mergeHeap has the earliest merge on top, of equal ones the leftmost. container/heap would allocate every candidate.
type mergeHeap []candidate

func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.at < d.at
}

func (h *mergeHeap) push(c candidate) {
	*h = append(*h, c)
	all := *h
	for i := len(all) - 1; i > 0; {
		parent := (i - 1) / 2
		if !all[i].before(all[parent]) {
			return
		}
		all[i], all[parent] = all[parent], all[i]
		i = parent
	}
}

func (h *mergeHeap) pop() candidate {
	all := *h
	top, last := all[0], len(all)-1
	all[0] = all[last]
	all = all[:last]
	*h = all
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(all) {
			return top
		}
		if child+1 < len(all) && all[child+1].before(all[child]) {
			child++
		}
		if !all[child].before(all[i]) {
			return top
		}
		all[i], all[child] = all[child], all[i]
		i = child
	}
}
