package numpy

import (
	"encoding/binary"
	"math/bits"
	"sort"
)

// The multiplier of PCG's 128-bit linear congruential step.
const (
	pcgMulHi = 2549297995355413924
	pcgMulLo = 4865540595714422341
)

// Generator is numpy's default_rng: PCG64 (XSL-RR 128/64) and the operations of numpy.random.Generator. Copying the
// value copies the stream: both go on from the same point, independently.
type Generator struct {
	hi, lo       uint64 // state
	incHi, incLo uint64 // stream, always odd

	// Draws of 32 bits take a word's low half and leave the high one here for the next such draw; 64-bit draws in
	// between do not disturb it.
	spare    uint32
	hasSpare bool
}

// NewGenerator is numpy.random.default_rng(seed).
func NewGenerator(seed uint64) *Generator { return newGenerator(splitWords(seed)) }

func newGenerator(entropy []uint32) *Generator {
	w := newSeedSequence(entropy).words64(4)
	g := &Generator{incHi: w[2]<<1 | w[3]>>63, incLo: w[3]<<1 | 1}
	g.step()
	var carry uint64
	g.lo, carry = bits.Add64(g.lo, w[1], 0)
	g.hi, _ = bits.Add64(g.hi, w[0], carry)
	g.step()
	return g
}

func (g *Generator) step() {
	hi, lo := bits.Mul64(g.lo, pcgMulLo)
	hi += g.hi*pcgMulLo + g.lo*pcgMulHi
	var carry uint64
	g.lo, carry = bits.Add64(lo, g.incLo, 0)
	g.hi, _ = bits.Add64(hi, g.incHi, carry)
}

// Uint64 returns the next 64 random bits.
func (g *Generator) Uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.hi^g.lo, -int(g.hi>>58))
}

// Uint32 returns 32 random bits: the spare half of an earlier word if there is one, else the low half of a new one.
func (g *Generator) Uint32() uint32 {
	if g.hasSpare {
		g.hasSpare = false
		return g.spare
	}
	w := g.Uint64()
	g.spare, g.hasSpare = uint32(w>>32), true
	return uint32(w)
}

// Float64 returns a number in [0, 1) with 53 random bits.
func (g *Generator) Float64() float64 { return float64(g.Uint64()>>11) * 0x1p-53 }

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

// Bytes returns n numbers in [0, 256): the bytes of half words, lowest first. The rest of the last half word is
// lost, as numpy loses it at the end of each call.
func (g *Generator) Bytes(n int) []byte {
	values := make([]byte, n)
	g.Fill(values)
	return values
}

// Fill is Bytes into values.
func (g *Generator) Fill(values []byte) {
	if g.hasSpare && len(values) > 0 {
		values = values[copy(values, binary.LittleEndian.AppendUint32(nil, g.Uint32())):]
	}
	for ; len(values) >= 8; values = values[8:] {
		binary.LittleEndian.PutUint64(values, g.Uint64())
	}
	for len(values) > 0 {
		values = values[copy(values, binary.LittleEndian.AppendUint32(nil, g.Uint32())):]
	}
}

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

// seedSequence is numpy's SeedSequence: it stirs a seed of any size into a pool from which generators fill their
// state, so that neighbouring seeds give unrelated streams.
type seedSequence struct {
	pool [4]uint32
}

// newSeedSequence mixes entropy, the seed's 32-bit words with the least significant first.
func newSeedSequence(entropy []uint32) seedSequence {
	var s seedSequence
	h := uint32(0x43b0d7e5) // runs on through every call of hash
	hash := func(v uint32) uint32 {
		v ^= h
		h *= 0x931e8875
		v *= h
		return v ^ v>>16
	}
	for i := range s.pool {
		word := uint32(0)
		if i < len(entropy) {
			word = entropy[i]
		}
		s.pool[i] = hash(word)
	}
	for from := range s.pool {
		for to := range s.pool {
			if from != to {
				s.pool[to] = mix(s.pool[to], hash(s.pool[from]))
			}
		}
	}
	for i := len(s.pool); i < len(entropy); i++ {
		for to := range s.pool {
			s.pool[to] = mix(s.pool[to], hash(entropy[i]))
		}
	}
	return s
}

func mix(x, y uint32) uint32 {
	r := x*0xca01f9dd - y*0x4973f715
	return r ^ r>>16
}

// words32 returns the first n words of state; every call starts over.
func (s seedSequence) words32(n int) []uint32 {
	words := make([]uint32, n)
	g := uint32(0x8b51f9dd)
	for i := range words {
		v := s.pool[i%len(s.pool)] ^ g
		g *= 0x58f38ded
		v *= g
		words[i] = v ^ v>>16
	}
	return words
}

// words64 is words32 in pairs, low half first.
func (s seedSequence) words64(n int) []uint64 {
	halves := s.words32(2 * n)
	words := make([]uint64, n)
	for i := range words {
		words[i] = uint64(halves[2*i+1])<<32 | uint64(halves[2*i])
	}
	return words
}

// splitWords cuts a seed into 32-bit words, least significant first; zero is one word.
func splitWords(seed uint64) []uint32 {
	if seed>>32 == 0 {
		return []uint32{uint32(seed)}
	}
	return []uint32{uint32(seed), uint32(seed >> 32)}
}
