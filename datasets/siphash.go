package datasets

import (
	"encoding/binary"
	"math/bits"
)

// sipHash is a keyed hash of short inputs, by Aumasson and Bernstein ("SipHash: a fast short-input PRF", 2012). It makes
// the given number of rounds for each word of data and at the end; the paper's are 2 and 4, Python's 1 and 3.
func sipHash(k0, k1 uint64, rounds, finalRounds int, data []byte) uint64 {
	s := sipState{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
	var last [8]byte // the remaining bytes, and the length modulo 256
	last[7] = byte(len(data))
	for ; len(data) >= 8; data = data[8:] {
		s.word(binary.LittleEndian.Uint64(data), rounds)
	}
	copy(last[:7], data)
	s.word(binary.LittleEndian.Uint64(last[:]), rounds)
	s[2] ^= 0xff
	s.stir(finalRounds)
	return s[0] ^ s[1] ^ s[2] ^ s[3]
}

type sipState [4]uint64

func (s *sipState) word(w uint64, rounds int) {
	s[3] ^= w
	s.stir(rounds)
	s[0] ^= w
}

func (s *sipState) stir(rounds int) {
	v0, v1, v2, v3 := s[0], s[1], s[2], s[3]
	for range rounds {
		v0 += v1
		v1 = bits.RotateLeft64(v1, 13) ^ v0
		v0 = bits.RotateLeft64(v0, 32)
		v2 += v3
		v3 = bits.RotateLeft64(v3, 16) ^ v2
		v0 += v3
		v3 = bits.RotateLeft64(v3, 21) ^ v0
		v2 += v1
		v1 = bits.RotateLeft64(v1, 17) ^ v2
		v2 = bits.RotateLeft64(v2, 32)
	}
	*s = sipState{v0, v1, v2, v3}
}

// pythonHash is hash(text) of CPython 3.11 and later under PYTHONHASHSEED=0.
func pythonHash(text string) int64 {
	if text == "" {
		return 0
	}
	h := int64(sipHash(0, 0, 1, 3, pythonBytes(text)))
	if h == -1 {
		return -2 // -1 is how hash functions report errors in C
	}
	return h
}

// pythonBytes is how CPython keeps a text in memory: with one, two or four bytes a character, the fewest that hold the
// largest one.
func pythonBytes(text string) []byte {
	largest := rune(0)
	for _, r := range text {
		largest = max(largest, r)
	}
	data := make([]byte, 0, len(text))
	for _, r := range text {
		switch {
		case largest <= 0xff:
			data = append(data, byte(r))
		case largest <= 0xffff:
			data = binary.LittleEndian.AppendUint16(data, uint16(r))
		default:
			data = binary.LittleEndian.AppendUint32(data, uint32(r))
		}
	}
	return data
}
