package datasets

import (
	"strconv"

	"benchtop/datasets/numpy"
)

const (
	// maxHeldBlocks bounds the blocks kept for reuse, in tokens: 16 MiB.
	maxHeldBlocks = 1 << 21
	// blockOverhead is what a block costs besides its tokens, in tokens.
	blockOverhead = 16
)

// traceBlocks makes the tokens behind the hash ids of a trace. Equal hash ids give equal tokens, so that a server's
// prefix cache meets what it met when the trace was recorded.
type traceBlocks struct {
	vocabulary []int // ids to choose from, ascending
	py         *numpy.Python
	made       map[string][]int // by key; all of them can be made again
	held       int              // tokens in made, with what each block costs besides
}

func newTraceBlocks(vocabulary []int) *traceBlocks {
	return &traceBlocks{vocabulary: vocabulary, py: numpy.NewPython(0), made: map[string][]int{}}
}

// block returns the tokens of a hash id, in a block of that size. The caller must not change them. They are drawn by a
// generator that Python's hash of both seeds, with the salt that PYTHONHASHSEED=0 makes: without that variable vLLM
// salts each run anew, and the tokens differ between runs.
func (b *traceBlocks) block(hashID []byte, size int) []int {
	key := append(hashID[:len(hashID):len(hashID)], ':')
	key = strconv.AppendInt(key, int64(size), 10)
	if tokens, ok := b.made[string(key)]; ok {
		return tokens
	}
	b.py.Seed(int64(uint32(pythonHash(string(key)))))
	tokens := b.py.Choices(len(b.vocabulary), size)
	for i, index := range tokens {
		tokens[i] = b.vocabulary[index]
	}
	if b.held += size + blockOverhead; b.held > maxHeldBlocks {
		clear(b.made)
		b.held = size + blockOverhead
	}
	b.made[string(key)] = tokens
	return tokens
}
