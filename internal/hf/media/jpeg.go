package media

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// jpegEncoder writes baseline JPEG files of quality 75 with the colours at half the resolution in both directions,
// several times as fast as image/jpeg. One goroutine uses it.
//
//	red, green, blue ──▶ brightness and colours ──▶ DCT ──▶ whole steps ──▶ Huffman codes ──▶ 0 behind each 0xff
//
// Two blocks of 8 by 8 samples go through the first steps at once, as lanes of 32 bits: sample a of one and b of the
// other are the number a + b<<32, which sums, differences and products with a constant keep right, also below 0.
type jpegEncoder struct {
	blocks [2][64]int64 // the brightness of an upper and a lower pair of blocks
	colour [64]int64    // and their two colours
	edge   [mcu * mcu * 3]byte
	steps  [2]coefficients

	raw   []byte // codes
	at    int    // whole bytes of them
	codes codes  // behind these
	dc    [3]int // of the blocks before
}

const (
	lanes = 1 + 1<<32 // a number in both lanes
	mcu   = 16        // pixels of a side of four blocks of brightness and two of colour
	// mostBlock is twice as many bytes as a block can take.
	mostBlock = 512
	// dctBits are the binary places of the constants in a pass of the DCT. Two passes leave the lanes a bit to spare.
	dctBits = 8
)

// appendJPEG appends the file of a picture, whose samples are rows of red, green and blue.
func (e *jpegEncoder) appendJPEG(dst, samples []byte, width, height int) []byte {
	t := tables()
	e.at, e.codes, e.dc = 0, codes{}, [3]int{}
	for y := 0; y < height; y += mcu {
		for x := 0; x < width; x += mcu {
			if len(e.raw)-e.at < 7*mostBlock {
				e.raw = slices.Grow(e.raw, len(e.raw)+7*mostBlock)
				e.raw = e.raw[:cap(e.raw)]
			}
			if x+mcu <= width && y+mcu <= height {
				e.convert(samples[3*(y*width+x):], 3*width)
			} else {
				e.pad(samples, width, height, x, y)
				e.convert(e.edge[:], 3*mcu)
			}
			for i := range e.blocks {
				transform(&e.blocks[i])
				e.quantize(&e.blocks[i], &t.luma)
				e.code(&e.steps[0], &t.luma, 0)
				e.code(&e.steps[1], &t.luma, 0)
			}
			transform(&e.colour)
			e.quantize(&e.colour, &t.chroma)
			e.code(&e.steps[0], &t.chroma, 1)
			e.code(&e.steps[1], &t.chroma, 2)
		}
	}
	start := len(dst)
	dst = append(dst, t.header...)
	binary.BigEndian.PutUint16(dst[start+t.size:], uint16(height))
	binary.BigEndian.PutUint16(dst[start+t.size+2:], uint16(width))
	last := e.codes.put((*[mostBlock]byte)(e.raw[e.at:]), 0x7f<<5|7) // ones up to the end of the last byte
	dst = appendStuffed(dst, e.raw[:e.at+int(last.at)])
	return append(dst, 0xff, 0xd9)
}

// pad copies pixels of which some lie beyond the edge of the picture, where its last ones go on.
func (e *jpegEncoder) pad(samples []byte, width, height, x, y int) {
	for i := range mcu {
		row := samples[3*width*min(y+i, height-1):]
		for j := range mcu {
			copy(e.edge[3*(mcu*i+j):3*(mcu*i+j)+3], row[3*min(x+j, width-1):])
		}
	}
}

// convert turns pixels into brightness and colours, from -128 to 127. Colours are those of four pixels together.
func (e *jpegEncoder) convert(pixels []byte, stride int) {
	const (
		half   = 1 << 15 * lanes
		low    = 0xff * lanes
		middle = 128 * lanes
	)
	for i := range 8 { // pairs of rows
		block := &e.blocks[i/4]
		var red, green, blue [4]uint64 // of two by two pixels
		for j := range 2 {
			p := (*[48]byte)(pixels[(2*i+j)*stride:])
			out := (*[8]int64)(block[16*(i%4)+8*j:])
			for k := range 8 {
				r := uint64(p[3*k]) | uint64(p[3*k+24])<<32
				g := uint64(p[3*k+1]) | uint64(p[3*k+25])<<32
				b := uint64(p[3*k+2]) | uint64(p[3*k+26])<<32
				red[k/2] += r
				green[k/2] += g
				blue[k/2] += b
				out[k] = int64((19595*r+38470*g+7471*b+half)>>16&low) - middle
			}
		}
		out := (*[8]int64)(e.colour[8*i:])
		for k := range 4 {
			r, g, b := red[k], green[k], blue[k]
			out[k] = colours(int64(uint32(r)), int64(uint32(g)), int64(uint32(b)))
			out[k+4] = colours(int64(r>>32), int64(g>>32), int64(b>>32))
		}
	}
}

// colours are how much bluer than bright and how much redder than bright four pixels are, in a lane each.
func colours(r, g, b int64) int64 {
	const (
		half   = (1<<17 + 128<<18) * lanes
		low    = 0x1ff * lanes
		middle = 128 * lanes
	)
	return (r*(-11058+32768<<32)+g*(-21710-27439<<32)+b*(32768-5329<<32)+half)>>18&low - middle
}

// transform is the DCT of two blocks by Arai, Agui and Nakajima, which leaves each coefficient too large by a factor of
// its own.
func transform(b *[64]int64) {
	for i := 0; i < 64; i += 8 {
		r := (*[8]int64)(b[i:])
		r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7] = pass(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7])
	}
	for i := range 8 {
		c := (*[57]int64)(b[i:])
		c[0], c[8], c[16], c[24], c[32], c[40], c[48],
			c[56] = pass(c[0], c[8], c[16], c[24], c[32], c[40], c[48], c[56])
	}
}

// pass is the DCT of rows or columns. Its result has dctBits more binary places.
func pass(a, b, c, d, e, f, g, h int64) (_, _, _, _, _, _, _, _ int64) {
	const (
		c4  = 181 // cos π/4
		c6  = 98  // cos 3π/8
		c26 = 139 // cos π/8 - cos 3π/8
		c2  = 334 // cos π/8 + cos 3π/8
	)
	a, h = a+h, a-h
	b, g = b+g, b-g
	c, f = c+f, c-f
	d, e = d+e, d-e

	a, d = a+d, a-d
	b, c = b+c, b-c
	c = (c + d) * c4
	d <<= dctBits

	e, f, g = e+f, f+g, g+h
	h <<= dctBits
	f *= c4
	both := (e - g) * c6
	e, g = e*c26+both, g*c2+both
	f, h = h+f, h-f

	return (a + b) << dctBits, f + g, d + c, h - e, (a - b) << dctBits, h + e, d - c, f - g
}

// coefficients are those of a block that are not 0, behind each other in zigzag order: the place above the value in 16
// bits. The first is there in any case.
type coefficients struct {
	list [65]uint32
	n    uint
}

// quantize rounds the coefficients of two blocks to whole steps.
func (e *jpegEncoder) quantize(b *[64]int64, t *jpegTable) {
	first, second := &e.steps[0], &e.steps[1]
	v, w := t.steps(b[0], 0)
	first.list[0], second.list[0] = uint32(uint16(v)), uint32(uint16(w))
	n, m := uint(1), uint(1)
	for k := 1; k < len(zigzag); k++ {
		v, w := t.steps(b[zigzag[k]%64], k)
		first.list[n%64] = uint32(k)<<16 | uint32(uint16(v))
		second.list[m%64] = uint32(k)<<16 | uint32(uint16(w))
		n += nonzero(v)
		m += nonzero(w)
	}
	first.n, second.n = n, m
}

// steps are how many whole steps the coefficients at place k make, rounded.
func (t *jpegTable) steps(both int64, k int) (v, w int64) {
	const half = 1 << (quantBits - 1)
	return (int64(int32(both))*t.reciprocals[k] + half) >> quantBits,
		((both+1<<31)>>32*t.reciprocals[k] + half) >> quantBits
}

// nonzero is 1 or 0.
func nonzero(v int64) (n uint) {
	if v != 0 {
		n = 1
	}
	return n
}

// code appends the codes of a block. Its first coefficient is told by the difference to that of the block before.
func (e *jpegEncoder) code(c *coefficients, t *jpegTable, component int) {
	out, w := (*[mostBlock]byte)(e.raw[e.at:]), e.codes
	dc := int(int16(c.list[0]))
	diff := dc - e.dc[component]
	e.dc[component] = dc
	w = w.put(out, t.dc[size(diff)].with(diff))
	next := uint(1)
	for _, step := range c.list[1:c.n] {
		run, v := uint(step>>16)-next, int(int16(step))
		next += run + 1
		if i := uint(v + commonValues/2); run <= 15 && i < commonValues {
			w = w.put(out, t.common[(i<<4|run)%uint(len(t.common))])
			continue
		}
		for ; run > 15; run -= 16 {
			w = w.put(out, t.ac[0xf0])
		}
		w = w.put(out, t.ac[run<<4|size(v)].with(v))
	}
	if next < 64 {
		w = w.put(out, t.ac[0]) // no more
	}
	e.at += int(w.at)
	e.codes = codes{last: w.last, held: w.held}
}

// codes are Huffman codes behind each other.
type codes struct {
	last uint64 // the last ones in the lowest bits
	held uint   // bits of them that are no whole byte yet
	at   uint   // bytes that are
}

// put writes a code, and 0 behind it up to the next code.
func (c codes) put(out *[mostBlock]byte, code huffman) codes {
	last, held := c.last<<(code&31)|uint64(code>>5), c.held+uint(code&31)
	binary.BigEndian.PutUint64(out[c.at%(mostBlock/2):], last<<(-held&63))
	return codes{last, held & 7, c.at + held>>3}
}

// appendStuffed appends codes with a 0 behind each byte that would begin a marker.
func appendStuffed(dst, codes []byte) []byte {
	for {
		i := bytes.IndexByte(codes, 0xff)
		if i < 0 {
			return append(dst, codes...)
		}
		dst = append(append(dst, codes[:i+1]...), 0)
		codes = codes[i+1:]
	}
}
