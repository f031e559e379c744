package numpy

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
