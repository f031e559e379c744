package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"math"
	"math/bits"
	"sync"
)

// jpegTables are those of all files: the header, in which the size of the picture is left to be filled in, and the
// tables in it made ready for the encoder.
type jpegTables struct {
	header       []byte
	size         int // where the height and behind it the width stand in the header
	luma, chroma jpegTable
}

// jpegTable is what the encoder needs for brightness, or for the colours.
type jpegTable struct {
	// of the steps and the DCT's factors together, in zigzag order, times 2 to the power of quantBits
	reciprocals [64]int64
	dc          [256]huffman
	ac          [256]huffman               // by run and size
	common      [commonValues << 4]huffman // by value, from -commonValues/2, and run: with the value's own bits
}

// huffman is a code above its length, which takes 5 bits.
type huffman uint32

// with is the code of a value's size together with the bits of the value, which follow it.
func (h huffman) with(v int) huffman {
	n := size(v)
	bits := huffman(v+v>>63) & (1<<n - 1)
	return (h>>5<<n|bits)<<5 | (h&31 + huffman(n))
}

// size is how many bits a value takes.
func size(v int) uint { return uint(bits.Len(uint(max(v, -v)))) }

const (
	commonValues = 128
	quantBits    = 42
	// jpegQuality is that of the imaging library that vLLM's client uses, where no quality is given.
	jpegQuality = 75
)

// zigzag is the order of the coefficients in a file.
var zigzag = [64]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
	28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47,
	55, 62, 63,
}

// tables takes the header and the tables of the JPEG standard from a file that image/jpeg writes.
var tables = sync.OnceValue(func() *jpegTables {
	var file bytes.Buffer
	if err := jpeg.Encode(&file, image.NewRGBA(image.Rect(0, 0, 1, 1)), &jpeg.Options{Quality: jpegQuality}); err !=
		nil {
		panic(err) // it has room, and the picture has a size
	}
	const (
		sizeMarker    = 0xc0
		huffmanMarker = 0xc4
		scanMarker    = 0xda
		stepsMarker   = 0xdb
	)
	t, data := &jpegTables{}, file.Bytes()
	table := func(number byte) *jpegTable { return []*jpegTable{&t.luma, &t.chroma}[number&0xf] }
	for at := 2; t.header == nil; {
		end := at + 2 + int(binary.BigEndian.Uint16(data[at+2:]))
		content := data[at+4 : end]
		switch data[at+1] {
		case sizeMarker:
			t.size = at + 5
		case stepsMarker:
			for ; len(content) > 64; content = content[65:] {
				table(content[0]).setSteps(content[1:65])
			}
		case huffmanMarker:
			for len(content) > 0 {
				codes := &table(content[0]).dc
				if content[0]>>4 == 1 {
					codes = &table(content[0]).ac
				}
				content = setCodes(codes, content[1:])
			}
		case scanMarker:
			t.header = data[:end]
		}
		at = end
	}
	t.luma.setCommon()
	t.chroma.setCommon()
	return t
})

// setSteps takes the sizes of the steps of the coefficients, in zigzag order.
func (t *jpegTable) setSteps(steps []byte) {
	factor := func(i uint8) float64 { // of a row or a column of coefficients
		if i == 0 {
			return 1
		}
		return math.Sqrt2 * math.Cos(float64(i)*math.Pi/16)
	}
	for k, at := range zigzag {
		t.reciprocals[k] = int64(
			math.Round(math.Ldexp(1, quantBits-2*dctBits-3) / (factor(at/8) * factor(at%8) * float64(steps[k]))))
	}
}

// setCodes reads a table of codes, which says how many there are of each length from 1 to 16, and then their symbols.
// It returns the rest.
func setCodes(codes *[256]huffman, table []byte) (rest []byte) {
	code, symbols := huffman(0), table[16:]
	for i, n := range table[:16] {
		for range n {
			codes[symbols[0]] = code<<5 | huffman(i+1)
			code++
			symbols = symbols[1:]
		}
		code <<= 1
	}
	return symbols
}

func (t *jpegTable) setCommon() {
	for i := range t.common {
		v := i>>4 - commonValues/2
		t.common[i] = t.ac[uint(i&0xf<<4)|size(v)].with(v)
	}
}
