package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"benchtop/internal/simulator"
	"benchtop/internal/usage"
)

// engineSizes are the flags that put other sizes and another speed into a profile, under vLLM's names where it has
// them.
type engineSizes struct {
	modelLen, blockSize, sequences, batchedTokens int
	blocks                                        blockCount
	speed                                         float64
}

func (s *engineSizes) define(fs *pflag.FlagSet) {
	fs.IntVar(&s.modelLen, "max-model-len", 0, "longest prompt and answer together, in tokens (default: the profile's)")
	fs.Var(&s.blocks, "num-gpu-blocks",
		"blocks of the KV cache; 0 or unbounded for one that grows as needed and neither evicts nor preempts "+
			"(default: the profile's)")
	fs.IntVar(&s.blockSize, "block-size", 0, "tokens in a block of the KV cache (default: the profile's, 16)")
	fs.IntVar(&s.sequences, "max-num-seqs", 0, "requests computed at the same time (default: the profile's)")
	fs.IntVar(&s.batchedTokens, "max-num-batched-tokens", 0, "tokens computed in one step (default: the profile's)")
	fs.Float64Var(&s.speed, "speed", 1, "divide all computing times by this number, to replay a long workload quickly")
}

// apply changes p by the flags that were given. Another block size alone keeps the tokens that the cache holds. The
// error names flags.
func (s *engineSizes) apply(p *simulator.Profile, given *pflag.FlagSet) error {
	var problems usage.Problems
	set := func(name string, to *int, value int) {
		if given.Changed(name) {
			*to = value
			problems.BadIf(value < 1, "--%s %d: must be at least 1", name, value)
		}
	}
	tokens := p.Blocks * p.BlockSize
	set("max-model-len", &p.MaxModelLen, s.modelLen)
	set("block-size", &p.BlockSize, s.blockSize)
	set("max-num-seqs", &p.MaxSequences, s.sequences)
	set("max-num-batched-tokens", &p.MaxBatchedTokens, s.batchedTokens)
	if given.Changed("num-gpu-blocks") {
		p.Blocks = int(s.blocks)
	} else if p.BlockSize > 0 {
		p.Blocks = max(1, tokens/p.BlockSize)
	}
	p.Speed = s.speed
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if blocks := (p.MaxModelLen-1)/p.BlockSize + 1; p.Blocks > 0 && p.Blocks < blocks {
		return fmt.Errorf("the KV cache of %d blocks of %d tokens cannot hold a sequence of --max-model-len %d; "+
			"use --num-gpu-blocks %d or more, or unbounded", p.Blocks, p.BlockSize, p.MaxModelLen, blocks)
	}
	batch := given.Changed("max-num-seqs") || given.Changed("max-num-batched-tokens")
	if each := 1 + p.SpecTokens; batch && p.MaxBatchedTokens < p.MaxSequences*each {
		return fmt.Errorf("%d tokens in a step are too few for --max-num-seqs %d, since each may decode %d; use "+
			"--max-num-batched-tokens %d or more",
			p.MaxBatchedTokens, p.MaxSequences, each, p.MaxSequences*each)
	}
	return nil
}

// blockCount is the flag of a number of blocks, 0 for unbounded.
type blockCount int

func (v *blockCount) String() string { return strconv.Itoa(int(*v)) }

// Type stands for a value in the help.
func (v *blockCount) Type() string { return "number" }

// Set reads a number.
func (v *blockCount) Set(text string) error {
	if text == "unbounded" {
		*v = 0
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return errors.New("expected a number of blocks, or unbounded")
	}
	*v = blockCount(n)
	return nil
}
