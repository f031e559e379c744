package simulator

import "math"

// blockPool is the key-value cache, cut into blocks. Sequences with the same prefix hold the same blocks. A block
// without a holder is free, but its content can be found until the block is taken for another; the block that has been
// free for longest is taken first. Memory grows with the blocks that were ever held.
type blockPool struct {
	size      int  // tokens per block
	total     int  // blocks
	unbounded bool // content is never given up
	free      int  // blocks, those that were never held among them
	gains     int  // how often a block became free or could be found; see wanting
	blocks    []block
	found     map[uint64]int32 // blocks by the name of their content
}

// block is a place in the cache. Free blocks that were held before form a ring in the order in which they are taken;
// its head is block 0, which is no place.
type block struct {
	holders    int32
	prev, next int32
	name       uint64 // of its tokens and all before them; 0 if it cannot be found
}

// newBlockPool makes a pool of that many blocks, 0 for no bound.
func newBlockPool(size, total int) blockPool {
	b := blockPool{size: size, total: total, blocks: make([]block, 1), found: map[uint64]int32{}}
	if total == 0 {
		b.total, b.unbounded = maxBlocks, true
	}
	b.free = b.total
	return b
}

// maxBlocks is what the numbers of blocks have room for.
const maxBlocks = math.MaxInt32

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

// enter gives seq the blocks for all its known tokens, of which those with its prefix count as computed. At least one
// token is left to compute, since it produces the next. It reports whether there was room; if not, nothing changes.
func (b *blockPool) enter(seq *sequence) bool {
	if seq.want.pending(b) {
		return false
	}
	shared := b.beginning(seq)
	idle := 0 // of the shared ones, those that would no longer be free
	for _, i := range shared {
		if b.blocks[i].holders == 0 {
			idle++
		}
	}
	if lacking := blocksFor(seq.known, b.size) - len(shared) - (b.free - idle); lacking > 0 {
		seq.want = b.wanting(seq, len(shared), lacking)
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
	seq.want = blockShortage{}
	return b.hold(seq, seq.known)
}

// blockShortage is the reason why a sequence did not get its blocks. It saves the search for its prefix in each step in
// which it waits, which costs much for a long prompt. The zero value is of a sequence that was not refused.
type blockShortage struct {
	gains   int    // of the pool, below which it cannot have enough
	missing uint64 // the name at which its prefix ended in the cache, 0 for none
}

// wanting describes a sequence that shares so many blocks and lacks so many more. Each block that becomes free, or can
// be found, makes up for at most one of them, unless it goes on with the prefix where that ended.
func (b *blockPool) wanting(seq *sequence, shared, lacking int) blockShortage {
	w := blockShortage{gains: b.gains + lacking}
	if seq.names != nil {
		if names := seq.names.of(seq.known - 1); shared < len(names) {
			w.missing = names[shared]
		}
	}
	return w
}

// pending reports whether the sequence certainly lacks blocks still.
func (w blockShortage) pending(b *blockPool) bool {
	_, ok := b.found[w.missing] // 0 is not in it
	return b.gains < w.gains && !ok
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
			b.gains++
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
	b.found, b.blocks, b.free = map[uint64]int32{}, make([]block, 1), b.total
	return true
}

// take returns a block that was never held, else the one that was free for longest. There must be one. Without a bound
// it reuses only blocks whose content nobody can find.
func (b *blockPool) take() int32 {
	i := b.blocks[0].next
	reusable := i != 0 && b.blocks[i].name == 0
	if fresh := len(b.blocks) <= b.total; fresh && !(b.unbounded && reusable) {
		b.free--
		b.blocks = append(b.blocks, block{holders: 1})
		return int32(len(b.blocks) - 1)
	}
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

// link puts a block at the end of the ring, or at its beginning where only such blocks are reused.
func (b *blockPool) link(i int32) {
	before := b.blocks[0].prev
	if b.unbounded && b.blocks[i].name == 0 {
		before = 0
	}
	after := b.blocks[before].next
	b.blocks[i].prev, b.blocks[i].next = before, after
	b.blocks[before].next, b.blocks[after].prev = i, i
	b.free++
	b.gains++
}

// usage is the share of blocks that are held, 0 to 1; 0 where there is no bound.
func (b *blockPool) usage() float64 {
	if b.unbounded {
		return 0
	}
	return float64(b.total-b.free) / float64(b.total)
}

// blocksFor rounds up without an overflow. There is at least one token.
func blocksFor(tokens, size int) int { return (tokens-1)/size + 1 }
