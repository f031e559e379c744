package datasets

import (
	"errors"
	"io"
	"math"

	"benchtop/internal/hf/tokenizer"
)

// blockPrompts is how many prompts one seed gives in an endless run.
const blockPrompts = 1000

// Blocks is random prompts without end, for runs that a clock ends: blocks of 1000 prompts, each what Random gives for
// the seed plus the number of the block. Request ids number on from block to block.
type Blocks struct {
	block *Random
	miss  int // of earlier blocks
}

// NewBlocks prepares the first block. o.Prompts does not count.
func NewBlocks(o RandomOptions, tok tokenizer.Tokenizer) (*Blocks, error) {
	o.Prompts = blockPrompts
	first, err := NewRandom(o, tok)
	return &Blocks{block: first}, err
}

// More returns a function that gives random prompts without end, other ones than r's, for a load that is steered beyond them. It
// is nil where the tokenizer is a server's, which is not asked while it is measured.
func (r *Random) More() func() (Source, error) {
	if _, remote := r.tok.(*tokenizer.ServerTokenizer); remote {
		return nil
	}
	o := r.o
	o.IDPrefix += "more-"
	o.Seed += 1 << 32 // beyond all that a plan may have
	return func() (Source, error) { return NewBlocks(o, r.tok) }
}

// Next makes the next request. It never returns io.EOF.
func (b *Blocks) Next() (Conversation, error) {
	c, err := b.block.Next()
	if !errors.Is(err, io.EOF) {
		return c, err
	}
	if b.block.o.Seed == math.MaxInt64 {
		return Conversation{}, errors.New("dataset random: no seeds left; start from a smaller one")
	}
	next, err := b.block.another(b.block.o.Seed + 1)
	if err != nil {
		return Conversation{}, err
	}
	b.miss += b.block.miss
	b.block = next
	return next.Next()
}

// Len is 0: there is no end.
func (b *Blocks) Len() int { return 0 }

// Miss is Random's, over all blocks so far.
func (b *Blocks) Miss() int { return b.miss + b.block.miss }

// Description is a line about the prompts, for the head of a report.
func (b *Blocks) Description() string { return b.block.Description() + ", in blocks of 1000" }
