package live

import (
	"bytes"
	"iter"
	"slices"
	"unsafe"

	"github.com/klauspost/compress/zstd"
)

// pages is a list of values without pointers that only grows. Its full pages are packed, so that a reader can share it
// without a copy.
type pages[T any] struct {
	past [][]byte
	last []T
	skip int // entries at the start that are not of the list
}

const pageLength = 1024

func (p *pages[T]) add(v T) {
	if len(p.last) == pageLength {
		p.past, p.last = append(p.past, packed(p.last)), nil
	}
	if p.last == nil {
		p.last = make([]T, 0, pageLength)
	}
	p.last = append(p.last, v)
}

// from returns the list but for the first n entries. The reader may keep it.
func (p pages[T]) from(n int) pages[T] {
	whole := min(n/pageLength, len(p.past))
	return pages[T]{slices.Clip(p.past[whole:]), slices.Clip(p.last), n - whole*pageLength}
}

// all ranges over the entries. They are not to be kept.
func (p pages[T]) all() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		page, skip := make([]T, min(len(p.past), 1)*pageLength), p.skip
		columns := make([]byte, 0, len(page)*int(unsafe.Sizeof(*new(T))))
		for i := range len(p.past) + 1 {
			if i == len(p.past) {
				page = p.last
			} else {
				unpack(page, p.past[i], columns)
			}
			for k := min(skip, len(page)); k < len(page); k++ {
				if !yield(&page[k]) {
					return
				}
			}
			skip = 0
		}
	}
}

var (
	packer, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(zstd.MinWindowSize))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
)

// The codecs make their channels when they are used first. Those of a bubble of virtual time would be no others'.
func init() {
	_, _ = unpacker.DecodeAll(packer.EncodeAll(nil, nil), nil)
}

// packed is a page with the bytes of a place together, as steps from entry to entry: most of the higher ones are the
// same or nearly so. Each place is packed for itself, since its bytes are like each other.
func packed[T any](page []T) []byte {
	raw, size := bytesOf(page), int(unsafe.Sizeof(page[0]))
	var out []byte
	column := make([]byte, len(page))
	for place := range size {
		before := byte(0)
		for i := range column {
			b := raw[i*size+place]
			column[i], before = b-before, b
		}
		out = packer.EncodeAll(column, out)
	}
	return slices.Clone(out)
}

// unpack fills a page. memory has room for its columns.
func unpack[T any](page []T, b, memory []byte) {
	columns, err := unpacker.DecodeAll(b, memory)
	if err != nil {
		panic(err) // it was packed here
	}
	raw, size := bytesOf(page), int(unsafe.Sizeof(page[0]))
	clear(raw)
	for place := range size {
		column, before := columns[place*len(page):][:len(page)], byte(0)
		if column[0] == 0 && bytes.Equal(column[1:], column[:len(column)-1]) {
			continue // zeros
		}
		for i, step := range column {
			before += step
			raw[i*size+place] = before
		}
	}
}

func bytesOf[T any](page []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&page[0])), len(page)*int(unsafe.Sizeof(page[0])))
}
