package numpy

import "math/bits"

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

// permutation shuffles 0 … n-1.
func permutation(n int, shuffle func(n int, swap func(i, j int))) []int {
	values := make([]int, n)
	for i := range values {
		values[i] = i
	}
	shuffle(n, func(i, j int) { values[i], values[j] = values[j], values[i] })
	return values
}
