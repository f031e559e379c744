package numpy

import "math/bits"

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
