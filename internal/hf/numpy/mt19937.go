package numpy

const (
	mtSize   = 624
	mtMiddle = 397
)

// mt19937 is the Mersenne Twister: 624 words of state, all made anew whenever they have been handed out.
type mt19937 struct {
	key [mtSize]uint32
	pos int // next word of key to hand out; mtSize when none is left
}

// seedWord is init_genrand: the state grows from one 32-bit number. Legacy numpy seeds this way.
func (m *mt19937) seedWord(seed uint32) {
	m.key[0] = seed
	for i := 1; i < mtSize; i++ {
		m.key[i] = 1812433253*(m.key[i-1]^m.key[i-1]>>30) + uint32(i)
	}
	m.pos = mtSize
}

// seedWords is init_by_array: the state grows from a key of any length. Python seeds this way.
func (m *mt19937) seedWords(key []uint32) {
	m.seedWord(19650218)
	i, j := 1, 0
	for range max(mtSize, len(key)) {
		m.key[i] = (m.key[i] ^ m.before(i)*1664525) + key[j] + uint32(j)
		i = m.next(i)
		j = (j + 1) % len(key)
	}
	for range mtSize - 1 {
		m.key[i] = (m.key[i] ^ m.before(i)*1566083941) - uint32(i)
		i = m.next(i)
	}
	m.key[0] = 1 << 31
}

// before is the stirred word in front of word i.
func (m *mt19937) before(i int) uint32 { return m.key[i-1] ^ m.key[i-1]>>30 }

// next goes on to the following word of the seeding passes; past the end the last word also becomes the first.
func (m *mt19937) next(i int) int {
	if i++; i < mtSize {
		return i
	}
	m.key[0] = m.key[mtSize-1]
	return 1
}

// Uint32 returns the next 32 random bits.
func (m *mt19937) Uint32() uint32 {
	if m.pos == mtSize {
		m.twist()
	}
	y := m.key[m.pos]
	m.pos++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (m *mt19937) twist() {
	for i := range m.key {
		y := m.key[i]&(1<<31) | m.key[(i+1)%mtSize]&(1<<31-1)
		m.key[i] = m.key[(i+mtMiddle)%mtSize] ^ y>>1 ^ (y&1)*0x9908b0df
	}
	m.pos = 0
}

// Uint64 returns two words, the first one high.
func (m *mt19937) Uint64() uint64 {
	hi := uint64(m.Uint32())
	return hi<<32 | uint64(m.Uint32())
}

// Float64 returns a number in [0, 1) with 53 random bits, taken from two words.
func (m *mt19937) Float64() float64 {
	a, b := m.Uint32()>>5, m.Uint32()>>6
	return (float64(float64(a)*(1<<26)) + float64(b)) / (1 << 53)
}
