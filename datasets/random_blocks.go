package datasets

import (
	"errors"
	"io"
	"math"

	"benchtop/internal/hf/tokenizer"
)

// blockPrompts is how many prompts one seed gives in an endless run.
const blockPrompts = 1000

// randomBlocks is random prompts without end: blocks of 1000, each what NewRandom gives for the seed plus the number of
// the block. Request ids number on from block to block.
type randomBlocks struct {
	block *randomPrompts
	miss  int // of earlier blocks
}

// NewBlocks makes random prompts without end, for runs that a clock ends. o.Prompts does not count.
func NewBlocks(o RandomOptions, tok tokenizer.Tokenizer) (Flow, error) {
	o.Prompts = blockPrompts
	first, err := startRandom(o, tok)
	if err != nil {
		return Flow{}, err
	}
	b := &randomBlocks{block: first}
	miss := func() int { return b.miss + b.block.miss }
	return Flow{Next: b.next, Miss: miss, About: first.description() + ", in blocks of 1000"}, nil
}

// next makes the next request.
func (b *randomBlocks) next() (Conversation, error) {
	c, err := b.block.next()
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
	return next.next()
}
