package numpy

import "math/bits"

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
