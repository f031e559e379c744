package numpy

import (
	"math/bits"
	"sort"
)

// Integers returns a number in [lo, hi). A range of one value draws nothing.
func (g *Generator) Integers(lo, hi int64) int64 {
	if lo >= hi {
		panic("numpy: Integers with an empty range")
	}
	return lo + int64(g.upTo(uint64(hi-1)-uint64(lo)))
}

// IntegersArray returns n numbers in [lo, hi), the same ones as n calls of Integers.
func (g *Generator) IntegersArray(lo, hi int64, n int) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = g.Integers(lo, hi)
	}
	return values
}

// upTo returns a number in [0, last] by Lemire's method, on half words while the range fits one.
func (g *Generator) upTo(last uint64) uint64 {
	switch {
	case last == 0:
		return 0
	case last < 1<<32-1:
		return uint64(g.below32(uint32(last) + 1))
	case last == 1<<32-1:
		return uint64(g.Uint32())
	case last == 1<<64-1:
		return g.Uint64()
	default:
		return g.below64(last + 1)
	}
}

func (g *Generator) below32(n uint32) uint32 {
	m := uint64(g.Uint32()) * uint64(n)
	if uint32(m) < n {
		for threshold := -n % n; uint32(m) < threshold; {
			m = uint64(g.Uint32()) * uint64(n)
		}
	}
	return uint32(m >> 32)
}

func (g *Generator) below64(n uint64) uint64 {
	hi, lo := bits.Mul64(g.Uint64(), n)
	if lo < n {
		for threshold := -n % n; lo < threshold; {
			hi, lo = bits.Mul64(g.Uint64(), n)
		}
	}
	return hi
}

// Bytes returns n numbers in [0, 256): the bytes of half words, lowest first. What is left of the last half word is
// lost, as numpy loses it at the end of each call.
func (g *Generator) Bytes(n int) []byte {
	values := make([]byte, n)
	var word uint32
	for i := range values {
		if i%4 == 0 {
			word = g.Uint32()
		}
		values[i] = byte(word)
		word >>= 8
	}
	return values
}

// Permutation returns 0 … n-1 in random order.
func (g *Generator) Permutation(n int) []int { return permutation(n, g.Shuffle) }

// Shuffle puts n things in random order by calling swap(i, j). Unlike Integers it rejects masked words, as numpy does.
func (g *Generator) Shuffle(n int, swap func(i, j int)) { shuffleMasked(g, n, swap) }

// Choice returns an index in [0, n), all equally likely.
func (g *Generator) Choice(n int) int { return int(g.Integers(0, int64(n))) }

// ChoiceWeighted returns an index of p with probability p[i]. The weights are divided by their sum, and one double is
// drawn whatever they are.
func (g *Generator) ChoiceWeighted(p []float64) int {
	if len(p) == 0 {
		panic("numpy: ChoiceWeighted of nothing")
	}
	sums := make([]float64, len(p))
	total := 0.0
	for i, weight := range p {
		total += weight
		sums[i] = total
	}
	u := g.Float64()
	return sort.Search(len(sums)-1, func(i int) bool { return sums[i]/total > u })
}
