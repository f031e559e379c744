package numpy

import (
	"math"
	"math/big"
)

// The golden files hold streams of more operations than the program needs. They show that generators stay where they should, so the
// other operations are here.

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

// Getrandbits returns k random bits, k > 0.
func (p *Python) Getrandbits(k int) *big.Int {
	if k <= 0 {
		panic("numpy: Getrandbits of no bits")
	}
	value := new(big.Int)
	for shift := 0; shift < k; shift += 32 {
		word := new(big.Int).SetUint64(p.bits(min(32, k-shift)))
		value.Or(value, word.Lsh(word, uint(shift)))
	}
	return value
}

// Randint returns a number in [a, b], both ends included.
func (p *Python) Randint(a, b int64) int64 {
	if a > b || uint64(b)-uint64(a) == math.MaxUint64 {
		panic("numpy: Randint with an empty or too wide range")
	}
	return a + int64(p.Randbelow(uint64(b)-uint64(a)+1))
}

// Sample returns k different indices in [0, n), k ≤ n.
func (p *Python) Sample(n, k int) []int {
	if k < 0 || k > n {
		panic("numpy: Sample larger than the population")
	}
	if n <= poolLimit(k) {
		return p.sampleFromPool(n, k)
	}
	values := make([]int, k)
	seen := make(map[int]bool, k)
	for i := range values {
		j := p.Choice(n)
		for seen[j] {
			j = p.Choice(n)
		}
		seen[j] = true
		values[i] = j
	}
	return values
}

// poolLimit is the population up to which Python copies it rather than remember what was drawn. Both ways draw
// differently, so the limit is part of the stream: 21, and from 6 picks on the next power of four above 3k more.
func poolLimit(k int) int {
	limit := 21
	if k > 5 {
		power := 1
		for power < 3*k {
			power *= 4
		}
		limit += power
	}
	return limit
}

func (p *Python) sampleFromPool(n, k int) []int {
	pool := make([]int, n)
	for i := range pool {
		pool[i] = i
	}
	values := make([]int, k)
	for i := range values {
		j := p.Choice(n - i)
		values[i] = pool[j]
		pool[j] = pool[n-i-1]
	}
	return values
}
