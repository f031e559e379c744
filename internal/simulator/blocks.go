package simulator

// blockPool is the key-value cache, cut into blocks. Sequences with the same prefix hold the same blocks. A block without a holder is
// free, but its content can be found until the block is taken for another; the block that has been free for longest is taken first.
type blockPool struct {
	size   int // tokens per block
	total  int
	free   int
	blocks []block          // one more than there are: the last is the head of the ring of free ones
	found  map[uint64]int32 // blocks by the name of their content
}

// block is a place in the cache. Free blocks form a ring in the order in which they are taken.
type block struct {
	holders    int32
	prev, next int32
	name       uint64 // of its tokens and all before them; 0 if it cannot be found
}

func newBlockPool(size, total int) blockPool {
	b := blockPool{size: size, total: total, blocks: make([]block, total+1), found: map[uint64]int32{}}
	for i := range b.blocks {
		b.blocks[i].prev, b.blocks[i].next = int32(i-1), int32(i+1)
	}
	head := int32(total)
	b.blocks[0].prev, b.blocks[head].next = head, 0
	b.free = total
	return b
}

// hold gives seq the blocks for that many tokens, on top of those it has, and reports whether there were enough.
// If not, nothing changes.
func (b *blockPool) hold(seq *sequence, tokens int) bool {
	more := blocksFor(tokens, b.size) - len(seq.blocks)
	if more > b.free {
		return false
	}
	for range more {
		seq.blocks = append(seq.blocks, b.take())
	}
	return true
}

// enter gives seq the blocks for all its known tokens, of which those with its prefix count as computed. At least one token is left to
// compute, since it produces the next. It reports whether there was room; if not, nothing changes.
func (b *blockPool) enter(seq *sequence) bool {
	shared := b.beginning(seq)
	idle := 0 // of the shared ones, those that would no longer be free
	for _, i := range shared {
		if b.blocks[i].holders == 0 {
			idle++
		}
	}
	if blocksFor(seq.known, b.size)-len(shared) > b.free-idle {
		return false
	}
	for _, i := range shared {
		if b.blocks[i].holders == 0 {
			b.unlink(i)
		}
		b.blocks[i].holders++
	}
	seq.blocks = append(seq.blocks[:0], shared...)
	seq.named = len(shared)
	seq.computed = len(shared) * b.size
	return b.hold(seq, seq.known)
}

// beginning returns the blocks that hold a prefix of seq.
func (b *blockPool) beginning(seq *sequence) (shared []int32) {
	if seq.names == nil {
		return nil
	}
	for _, name := range seq.names.of(seq.known - 1) {
		i, ok := b.found[name]
		if !ok {
			break
		}
		shared = append(shared, i)
	}
	return shared
}

// publish lets others find the full blocks of the first tokens of seq, except where another block has the same content.
func (b *blockPool) publish(seq *sequence, tokens int) {
	if seq.names == nil || tokens/b.size <= seq.named {
		return
	}
	names := seq.names.of(tokens)
	for ; seq.named < len(names); seq.named++ {
		name := names[seq.named]
		if _, ok := b.found[name]; !ok {
			i := seq.blocks[seq.named]
			b.found[name], b.blocks[i].name = i, name
		}
	}
}

// release takes all blocks from seq. Its last blocks are reused before its first, which others may share.
func (b *blockPool) release(seq *sequence) {
	for n := len(seq.blocks) - 1; n >= 0; n-- {
		i := seq.blocks[n]
		if b.blocks[i].holders--; b.blocks[i].holders == 0 {
			b.link(i)
		}
	}
	seq.blocks, seq.named = seq.blocks[:0], 0
}

// forget drops the content of all blocks. As in vLLM, it fails while a block is held.
func (b *blockPool) forget() bool {
	if b.free < b.total {
		return false
	}
	clear(b.found)
	for i := range b.blocks {
		b.blocks[i].name = 0
	}
	return true
}

// take removes the block that was free for longest from the ring, which must not be empty.
func (b *blockPool) take() int32 {
	i := b.blocks[b.total].next
	b.unlink(i)
	if name := b.blocks[i].name; name != 0 {
		delete(b.found, name)
		b.blocks[i].name = 0
	}
	b.blocks[i].holders = 1
	return i
}

func (b *blockPool) unlink(i int32) {
	x := b.blocks[i]
	b.blocks[x.prev].next, b.blocks[x.next].prev = x.next, x.prev
	b.free--
}

// link puts a block at the end of the ring.
func (b *blockPool) link(i int32) {
	head := int32(b.total)
	last := b.blocks[head].prev
	b.blocks[i].prev, b.blocks[i].next = last, head
	b.blocks[last].next, b.blocks[head].prev = i, i
	b.free++
}

// usage is the share of blocks that are held, 0 to 1.
func (b *blockPool) usage() float64 { return float64(b.total-b.free) / float64(b.total) }

// blocksFor rounds up without an overflow. There is at least one token.
func blocksFor(tokens, size int) int { return (tokens-1)/size + 1 }

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
