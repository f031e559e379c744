package imports

import (
	"encoding/binary"
	"hash/maphash"
	"sort"

	"benchtop/datasets/agents"
)

const (
	// pieceLen is how many bytes of a text are compared at once: about a quarter of a block of 64 tokens.
	pieceLen = 64
	// mostKnown bounds the beginnings of texts that are remembered, and with them memory: to about 200 MiB.
	mostKnown = 1 << 22
)

// digest is a prompt without its text: the hashes of its beginnings, one for each piece. A piece ends where a message
// does.
type digest struct {
	beginnings []uint64
	ends       []int32 // of the beginnings, in bytes
	length     int     // bytes of the text
	marks      []mark  // where tokens are known, ascending; the last is the end
}

// mark is a place in a text, in bytes and in tokens from its start.
type mark struct{ bytes, tokens int }

// at is the number of tokens before the end of a beginning, by the marks around it and in proportion between them.
func (d *digest) at(beginning int) int {
	place := int(d.ends[beginning])
	before := mark{}
	i := sort.Search(len(d.marks), func(i int) bool { return d.marks[i].bytes >= place })
	if i == len(d.marks) {
		return d.marks[i-1].tokens
	}
	if i > 0 {
		before = d.marks[i-1]
	}
	after := d.marks[i]
	share := float64(place-before.bytes) / float64(max(after.bytes-before.bytes, 1))
	return before.tokens + int(share*float64(after.tokens-before.tokens))
}

// digester makes the digest of a text that is written to it.
type digester struct {
	seed  maphash.Seed
	piece []byte // with the hash of the beginning before it in front
	digest
}

func newDigester(seed maphash.Seed) *digester {
	return &digester{seed: seed, piece: make([]byte, 8, 8+pieceLen)}
}

// write adds a message, or another part that ends a piece.
func (d *digester) write(text string) {
	for len(text) > 0 {
		n := min(len(text), cap(d.piece)-len(d.piece))
		d.piece = append(d.piece, text[:n]...)
		d.length += n
		text = text[n:]
		d.end()
	}
}

// end ends a piece.
func (d *digester) end() {
	hash := maphash.Bytes(d.seed, d.piece)
	d.beginnings, d.ends = append(d.beginnings, hash), append(d.ends, int32(d.length))
	d.piece = binary.LittleEndian.AppendUint64(d.piece[:0], hash)
}

// mark says how many tokens there are so far.
func (d *digester) mark(tokens int) { d.marks = append(d.marks, mark{d.length, tokens}) }

// prefixes numbers the blocks of prompts, so that prompts that begin alike begin with the same blocks.
type prefixes struct {
	seed  maphash.Seed
	known map[uint64]promptPrefix
	held  [][]agents.Run // the blocks of prompts that beginnings are of
	next  uint64         // the number of a block that no prompt has
}

// promptPrefix is one of a prompt, with its length in tokens.
type promptPrefix struct{ prompt, tokens int32 }

func newPrefixes() *prefixes {
	return &prefixes{seed: maphash.MakeSeed(), known: map[uint64]promptPrefix{}}
}

// blocks are those of a prompt of some length in tokens. It shares those of the earlier prompt that it has the longest
// beginning in common with, as far as both count the same tokens in it.
func (p *prefixes) blocks(d *digest, input, blockSize int) []agents.Run {
	n := sort.Search(len(d.beginnings), func(i int) bool { _, ok := p.known[d.beginnings[i]]; return !ok })
	var runs []agents.Run
	if n > 0 {
		common := p.known[d.beginnings[n-1]]
		runs = first(p.held[common.prompt], min(d.at(n-1), int(common.tokens), input)/blockSize)
	}
	runs = p.fresh(runs, input/blockSize)
	if n < len(d.beginnings) && len(p.known) < mostKnown {
		for i := n; i < len(d.beginnings); i++ {
			p.known[d.beginnings[i]] = promptPrefix{int32(len(p.held)), int32(d.at(i))}
		}
		p.held = append(p.held, runs)
	}
	return runs
}

// tooManyTexts says what is missing once the table is full.
const tooManyTexts = "tokens that prompts share with late ones are left out, as there are too many different texts"

// full reports whether further beginnings are not remembered.
func (p *prefixes) full() bool { return len(p.known) >= mostKnown }

// fresh fills up to so many blocks with new ones.
func (p *prefixes) fresh(runs []agents.Run, blocks int) []agents.Run {
	for _, run := range runs {
		blocks -= run.Count
	}
	if blocks <= 0 {
		return runs
	}
	runs = agents.AppendBlocks(runs, p.next, blocks)
	p.next += uint64(blocks)
	return runs
}

// first are the first blocks of some.
func first(runs []agents.Run, blocks int) (some []agents.Run) {
	for _, run := range runs {
		if blocks <= 0 {
			break
		}
		run.Count = min(run.Count, blocks)
		blocks -= run.Count
		some = append(some, run)
	}
	return some
}
