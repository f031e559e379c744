package simulator

// blockNames names the blocks of a sequence. The name of a full block is a hash of its tokens and of all before them,
// so that equal names mean equal prefixes. Of a long prompt it keeps the names alone. The engine owns it after the
// sequence is submitted.
type blockNames struct {
	size   int // tokens per block
	hashed []uint64
	chain  uint64 // over the tokens so far
	tokens int    // so far
	answer prose  // behind the prompt
}

// newBlockNames is for a sequence with that prompt and that answer. Sequences with another salt share nothing with it.
func newBlockNames(size int, salt string, prompt []int, answer prose) *blockNames {
	n := &blockNames{size: size, chain: mixText(fnvOffset, salt), tokens: len(prompt), answer: answer}
	n.hashed = make([]uint64, 0, len(prompt)/size+1)
	for len(prompt) >= size {
		for _, id := range prompt[:size] {
			n.chain = mix(n.chain, uint64(id))
		}
		n.close()
		prompt = prompt[size:]
	}
	for _, id := range prompt {
		n.chain = mix(n.chain, uint64(id))
	}
	return n
}

// of returns the names of the full blocks of the first tokens of the sequence, which must be known.
func (n *blockNames) of(tokens int) []uint64 {
	blocks := tokens / n.size
	for len(n.hashed) < blocks {
		n.chain = mix(n.chain, uint64(n.answer.next()))
		if n.tokens++; n.tokens%n.size == 0 {
			n.close()
		}
	}
	return n.hashed[:blocks]
}

// close names the block that is full.
func (n *blockNames) close() {
	n.hashed = append(n.hashed, max(n.chain, 1)) // 0 is no name
}

// FNV-1a, over whole numbers in place of bytes.
const fnvOffset, fnvPrime = 14695981039346656037, 1099511628211

func mix(h, v uint64) uint64 { return (h ^ v) * fnvPrime }

// mixText mixes a text whose bytes look like no token.
func mixText(h uint64, text string) uint64 {
	for _, b := range []byte(text) {
		h = mix(h, uint64(b)+vocabulary)
	}
	return h
}
