package numpy

import (
	"math"
	"math/bits"
)

// Legacy is numpy's older generator, numpy.random.* or RandomState: a Mersenne Twister with distributions that numpy
// has frozen so that old results stay reproducible.
//
// Products that feed an addition are wrapped in float64(…): that forbids the compiler to fuse them, which would round
// once instead of twice and could change which draws are accepted. Logarithms and powers may differ from numpy's C
// library in the last bits: gammas of shapes below 0.01, which take high powers, by 2e-13 of their value at most,
// others by 1e-14.
type Legacy struct {
	mt mt19937

	// Gaussians come in pairs; the second waits here, also across draws of another kind.
	gauss    float64
	hasGauss bool
}

// NewLegacy is numpy.random.RandomState(seed).
func NewLegacy(seed uint32) *Legacy {
	l := &Legacy{}
	l.Seed(seed)
	return l
}

// Seed starts the stream over, as numpy.random.seed(seed) does.
func (l *Legacy) Seed(seed uint32) {
	l.mt.seedWord(seed)
	l.gauss, l.hasGauss = 0, false
}

// Uint32 returns the next 32 random bits.
func (l *Legacy) Uint32() uint32 { return l.mt.Uint32() }

// Float64 returns a number in [0, 1).
func (l *Legacy) Float64() float64 { return l.mt.Float64() }

// Randint returns a number in [lo, hi). A range of one value draws nothing.
func (l *Legacy) Randint(lo, hi int64) int64 {
	if lo >= hi {
		panic("numpy: Randint with an empty range")
	}
	return lo + int64(maskedUpTo(&l.mt, uint64(hi-1)-uint64(lo)))
}

// Permutation returns 0 … n-1 in random order.
func (l *Legacy) Permutation(n int) []int {
	values := make([]int, n)
	for i := range values {
		values[i] = i
	}
	l.Shuffle(n, func(i, j int) { values[i], values[j] = values[j], values[i] })
	return values
}

// Shuffle puts n things in random order by calling swap(i, j).
func (l *Legacy) Shuffle(n int, swap func(i, j int)) { shuffleMasked(&l.mt, n, swap) }

// Choice returns k indices in [0, n), with repetition.
func (l *Legacy) Choice(n, k int) []int {
	values := make([]int, k)
	for i := range values {
		values[i] = int(l.Randint(0, int64(n)))
	}
	return values
}

// ChoiceDistinct returns k different indices in [0, n), k ≤ n: the first of a whole permutation.
func (l *Legacy) ChoiceDistinct(n, k int) []int { return l.Permutation(n)[:k] }

// Gauss returns a number from the standard normal distribution, by the polar method.
func (l *Legacy) Gauss() float64 {
	if l.hasGauss {
		l.hasGauss = false
		return l.gauss
	}
	for {
		x1 := float64(2*l.Float64()) - 1
		x2 := float64(2*l.Float64()) - 1
		r2 := float64(x1*x1) + float64(x2*x2)
		if r2 >= 1 || r2 == 0 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(r2) / r2)
		l.gauss, l.hasGauss = f*x1, true
		return f * x2
	}
}

// Exponential returns a number from the exponential distribution with mean 1.
func (l *Legacy) Exponential() float64 { return -math.Log(1 - l.Float64()) }

// Gamma returns a number from the gamma distribution with mean shape·scale; shape ≥ 0.
func (l *Legacy) Gamma(shape, scale float64) float64 { return scale * l.standardGamma(shape) }

func (l *Legacy) standardGamma(shape float64) float64 {
	switch {
	case shape == 1:
		return l.Exponential()
	case shape == 0:
		return 0
	case shape < 1:
		return l.smallGamma(shape)
	default:
		return l.largeGamma(shape)
	}
}

// smallGamma is for shapes below 1, where the density has a pole at zero.
func (l *Legacy) smallGamma(shape float64) float64 {
	for {
		u, v := l.Float64(), l.Exponential()
		if u <= 1-shape {
			if x := math.Pow(u, 1/shape); x <= v {
				return x
			}
			continue
		}
		y := -math.Log((1 - u) / shape)
		if x := math.Pow(1-shape+float64(shape*y), 1/shape); x <= v+y {
			return x
		}
	}
}

// largeGamma is for shapes above 1, by Marsaglia and Tsang.
func (l *Legacy) largeGamma(shape float64) float64 {
	b := shape - 1.0/3
	c := 1 / math.Sqrt(9*b)
	for {
		x, v := 0.0, 0.0
		for v <= 0 {
			x = l.Gauss()
			v = 1 + float64(c*x)
		}
		v = v * v * v
		u := l.Float64()
		if u < 1-float64(0.0331*(x*x)*(x*x)) {
			return b * v
		}
		if math.Log(u) < float64(0.5*x*x)+float64(b*(1-v+math.Log(v))) {
			return b * v
		}
	}
}

// source is what masked rejection reads: half words and words of either numpy generator.
type source interface {
	Uint32() uint32
	Uint64() uint64
}

// maskedUpTo returns a number in [0, last]: words cut to last's bit length until one is small enough.
func maskedUpTo(src source, last uint64) uint64 {
	if last == 0 {
		return 0
	}
	mask := uint64(1)<<bits.Len64(last) - 1
	for {
		var v uint64
		if last < 1<<32 {
			v = uint64(src.Uint32()) & mask
		} else {
			v = src.Uint64() & mask
		}
		if v <= last {
			return v
		}
	}
}

// shuffleMasked is the order of draws and swaps that both numpy generators use.
func shuffleMasked(src source, n int, swap func(i, j int)) {
	for i := n - 1; i >= 1; i-- {
		swap(i, int(maskedUpTo(src, uint64(i))))
	}
}
