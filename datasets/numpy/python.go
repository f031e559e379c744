package numpy

import (
	"math"
	"math/big"
	"math/bits"
)

// Python is Python's random module: its global generator and the operations on it.
type Python struct {
	mt mt19937
}

// NewPython is random.Random(seed).
func NewPython(seed int64) *Python {
	p := &Python{}
	p.Seed(seed)
	return p
}

// Seed starts the stream over, as random.seed(seed) does. A negative seed gives the stream of its absolute value.
func (p *Python) Seed(seed int64) {
	magnitude := uint64(seed)
	if seed < 0 {
		magnitude = -magnitude
	}
	p.mt.seedWords(splitWords(magnitude))
}

// Random returns a number in [0, 1).
func (p *Python) Random() float64 { return p.mt.Float64() }

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

// bits returns 1 to 64 random bits: the top ones of a word, or a low word and the top ones of the next.
func (p *Python) bits(k int) uint64 {
	if k <= 32 {
		return uint64(p.mt.Uint32() >> (32 - k))
	}
	low := uint64(p.mt.Uint32())
	return uint64(p.mt.Uint32()>>(64-k))<<32 | low
}

// Randbelow returns a number in [0, n). Even n = 1 draws, because Python counts the bits of n and not of n-1.
func (p *Python) Randbelow(n uint64) uint64 {
	if n == 0 {
		panic("numpy: Randbelow(0)")
	}
	k := bits.Len64(n)
	for {
		if v := p.bits(k); v < n {
			return v
		}
	}
}

// Randint returns a number in [a, b], both ends included.
func (p *Python) Randint(a, b int64) int64 {
	if a > b || uint64(b)-uint64(a) == math.MaxUint64 {
		panic("numpy: Randint with an empty or too wide range")
	}
	return a + int64(p.Randbelow(uint64(b)-uint64(a)+1))
}

// Choice returns an index in [0, n).
func (p *Python) Choice(n int) int { return int(p.Randbelow(uint64(n))) }

// Choices returns k indices in [0, n), with repetition.
func (p *Python) Choices(n, k int) []int {
	values := make([]int, k)
	for i := range values {
		values[i] = int(p.Random() * float64(n))
	}
	return values
}

// Shuffle puts n things in random order by calling swap(i, j).
func (p *Python) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i >= 1; i-- {
		swap(i, p.Choice(i+1))
	}
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
