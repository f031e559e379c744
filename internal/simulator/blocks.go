package simulator

// blockPool counts the blocks of the key-value cache. Blocks have no identity: nothing is shared between sequences, so
// only their number matters.
type blockPool struct {
	size  int // tokens per block
	total int
	free  int
}

func newBlockPool(size, total int) blockPool { return blockPool{size: size, total: total, free: total} }

// hold gives seq the blocks for that many tokens, on top of those it has, and reports whether there were enough.
// If not, nothing changes.
func (b *blockPool) hold(seq *sequence, tokens int) bool {
	more := blocksFor(tokens, b.size) - seq.blocks
	if more > b.free {
		return false
	}
	if more > 0 {
		b.free -= more
		seq.blocks += more
	}
	return true
}

// release takes all blocks from seq.
func (b *blockPool) release(seq *sequence) {
	b.free += seq.blocks
	seq.blocks = 0
}

// usage is the share of blocks in use, 0 to 1.
func (b *blockPool) usage() float64 { return float64(b.total-b.free) / float64(b.total) }

func blocksFor(tokens, size int) int {
	blocks := tokens / size
	if tokens%size != 0 {
		blocks++
	}
	return blocks
}
