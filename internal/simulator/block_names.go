package simulator

// blockNames names the blocks of a sequence. The name of a full block is a hash of its tokens and of all before them, so that equal
// names mean equal prefixes. The engine owns it after the sequence is submitted.
type blockNames struct {
	size   int // tokens per block
	hashed []uint64
	chain  uint64 // over the tokens so far
	tokens int    // so far
	prompt []int
	answer prose // behind the prompt
}

// newBlockNames is for a sequence with that prompt and that answer. Sequences with another salt share nothing with it.
func newBlockNames(size int, salt string, prompt []int, answer prose) *blockNames {
	return &blockNames{size: size, chain: mixText(fnvOffset, salt), prompt: prompt, answer: answer}
}

// of returns the names of the full blocks of the first tokens of the sequence, which must be known.
func (n *blockNames) of(tokens int) []uint64 {
	blocks := tokens / n.size
	for len(n.hashed) < blocks {
		for range n.size {
			n.chain = mix(n.chain, uint64(n.next()))
		}
		n.hashed = append(n.hashed, max(n.chain, 1)) // 0 is no name
	}
	return n.hashed[:blocks]
}

func (n *blockNames) next() int {
	n.tokens++
	if n.tokens <= len(n.prompt) {
		return n.prompt[n.tokens-1]
	}
	return n.answer.next()
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
