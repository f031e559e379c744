package preview

import (
	"encoding/binary"
	"maps"
	"slices"

	"benchtop/datasets"
)

const (
	// mostNames bounds the names of prefixes, of 16 bytes or two.
	mostNames = 1 << 21
	// mostShared bounds the prefixes whose hits are added up.
	mostShared = 1 << 18
	// unitBytes are the bytes of a text that stand for a token where they are compared.
	unitBytes = 4
)

// prefixes tells what share of the prompt tokens a prefix cache without limits answers: each prompt finds the longest
// beginning that it has in common with one before it, in whole blocks, and at least its last token is computed. Texts
// are compared by their bytes, and a common beginning counts as the same share of their tokens.
type prefixes struct {
	seen    *datasets.Prefixes
	prompts int
	unit    int         // tokens compared at once
	texts   bool        // some are texts
	sizes   []blockHits // by block size, ascending
	whole   int         // the index of the size that working set and shared prefixes are of
	total   int         // tokens of prompts
	cached  int         // tokens in blocks that no earlier prompt had
	reused  float64     // tokens of those that a later prompt had, too
	shared  map[uint64]int
	others  int // hits of more prefixes than shared holds
}

// blockHits are the tokens found with blocks of so many tokens.
type blockHits struct{ tokens, hits int }

func newPrefixes(most int) prefixes {
	return prefixes{seen: datasets.NewPrefixes(most), shared: map[uint64]int{}}
}

// setSizes chooses block sizes: of tokens one by one those of common servers, else multiples of the trace's own.
func (p *prefixes) setSizes(unit int) {
	p.unit = unit
	if unit == 1 {
		p.sizes, p.whole = []blockHits{{tokens: 1}}, 1
		unit = 16
	}
	for size := unit; size <= max(512, 8*unit); size *= 2 {
		p.sizes = append(p.sizes, blockHits{tokens: size})
	}
}

func (p *prefixes) add(t *Prompt) {
	units, unit, kind, next := t.units()
	if units == 0 && t.Tokens == 0 {
		return
	}
	if p.sizes == nil {
		p.setSizes(max(1, t.BlockTokens))
	}
	p.prompts++
	p.texts = p.texts || kind == kindText
	block := p.sizes[p.whole].tokens
	m := p.seen.Add(kind, units, max(1, int(float64(block)/unit)), next)
	common := int(unit * float64(m.Units))
	found := min(common, max(0, t.Tokens-1))
	for i := range p.sizes {
		size := &p.sizes[i]
		size.hits += found / size.tokens * size.tokens
	}
	p.total += t.Tokens
	p.cached += t.Tokens/block*block - min(common, t.Tokens)/block*block
	p.reused += unit * float64(m.Again)
	hits := found / block * block
	if _, known := p.shared[m.Name]; m.Name != 0 && (known || len(p.shared) < mostShared) {
		p.shared[m.Name] += hits
	} else {
		p.others += hits
	}
}

// The kinds of prompts, which have nothing in common.
const (
	kindIDs uint64 = iota + 1
	kindBlocks
	kindText
)

// units is how many units a prompt consists of, the tokens of one, and a function that names its beginnings.
func (t *Prompt) units() (n int, tokens float64, kind uint64, next func(h uint64, i int) uint64) {
	switch {
	case t.IDs != nil:
		return len(t.IDs), 1, kindIDs, func(h uint64, i int) uint64 { return datasets.NextName(h, uint64(t.IDs[i])) }
	case t.Blocks != nil:
		return len(t.Blocks), float64(t.BlockTokens), kindBlocks,
			func(h uint64, i int) uint64 { return datasets.NextName(h, t.Blocks[i]) }
	}
	tokens = max(1, float64(t.Tokens)) * unitBytes / float64(max(1, len(t.Text)))
	return len(t.Text) / unitBytes, tokens, kindText, func(h uint64, i int) uint64 {
		var word [unitBytes]byte
		copy(word[:], t.Text[i*unitBytes:])
		return datasets.NextName(h, uint64(binary.LittleEndian.Uint32(word[:])))
	}
}

// atLeast reports whether the hits with blocks of so many tokens may be too few, for want of names.
func (p *prefixes) atLeast(size int) bool { return p.seen.Stride()*p.unit > size }

// main is how many prefixes make up a share of the hits, and how many there are. Where there are more than are kept,
// all is a lower bound, and some may be 0, for unknown.
func (p *prefixes) main(share float64) (some, all int) {
	each := slices.Sorted(maps.Values(p.shared))
	left := float64(p.others)
	for _, n := range each {
		left += float64(n)
	}
	left *= share
	for ; left > 0; some++ {
		if some == len(each) {
			return 0, len(each)
		}
		left -= float64(each[len(each)-1-some])
	}
	return some, len(each)
}
