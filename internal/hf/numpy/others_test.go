package numpy

import (
	"math"
)

// The golden files hold streams of more operations than the program needs. They show that generators stay where they
// should, so the other operations are here.

// Permutation returns 0 … n-1 in random order.
func (g *Generator) Permutation(n int) []int { return permutation(n, g.Shuffle) }

// RandintArray returns n numbers in [lo, hi), the same ones as n calls of Randint.
func (l *Legacy) RandintArray(lo, hi int64, n int) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = l.Randint(lo, hi)
	}
	return values
}

// permutation shuffles 0 … n-1.
func permutation(n int, shuffle func(n int, swap func(i, j int))) []int {
	values := make([]int, n)
	for i := range values {
		values[i] = i
	}
	shuffle(n, func(i, j int) { values[i], values[j] = values[j], values[i] })
	return values
}

// Randint returns a number in [a, b], both ends included.
func (p *Python) Randint(a, b int64) int64 {
	if a > b || uint64(b)-uint64(a) == math.MaxUint64 {
		panic("numpy: Randint with an empty or too wide range")
	}
	return a + int64(p.Randbelow(uint64(b)-uint64(a)+1))
}
