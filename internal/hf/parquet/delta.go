package parquet

import (
	"encoding/binary"
	"errors"
)

var errDeltas = errors.New("its differences break off")

// delta reads integers of which all but the first are stored as differences, in blocks that have a least difference,
// and in each block in miniblocks whose numbers have so many bits.
type delta struct {
	b     []byte // what is left
	block int    // numbers of a block
	minis int    // miniblocks of a block
	left  int    // numbers that are left, the next one included
	value uint64 // the next one
	least uint64 // difference of the block
	width []byte // of the miniblocks that are left in the block
	mini  []byte // the miniblock
	bits  int    // of its numbers
	at    int    // which of its numbers is next
}

// newDelta reads the head, of at most so many integers.
func newDelta(b []byte, most int) (*delta, error) {
	d := &delta{b: b}
	block, minis, count := d.uvarint(), d.uvarint(), d.uvarint()
	d.value = d.zigzag()
	switch {
	case d.b == nil:
		return nil, errDeltas
	case block == 0 || block > 1<<20 || minis == 0 || minis > block || block%minis != 0 || block/minis%8 != 0 ||
		count > uint64(most):
		return nil, errors.New("the head of its differences is wrong")
	}
	d.block, d.minis, d.left = int(block), int(minis), int(count)
	d.at = d.perMini()
	return d, nil
}

func (d *delta) perMini() int { return d.block / d.minis }

// uvarint reads a number. Past the end, b is nil.
func (d *delta) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.b = nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *delta) zigzag() uint64 {
	u := d.uvarint()
	return u>>1 ^ -(u & 1)
}

// next is the next integer.
func (d *delta) next() (int64, error) {
	if d.left == 0 {
		return 0, errValues
	}
	v := d.value
	if d.left--; d.left == 0 {
		return int64(v), nil
	}
	if d.at == d.perMini() {
		if err := d.begin(); err != nil {
			return 0, err
		}
	}
	d.value += d.least
	if d.bits > 0 {
		d.value += bitsAt(d.mini, d.at*d.bits, d.bits)
	}
	d.at++
	return int64(v), nil
}

// begin goes on to the next miniblock, and at the end of a block to the next block.
func (d *delta) begin() error {
	if len(d.width) == 0 {
		if d.least = d.zigzag(); d.b == nil || len(d.b) < d.minis {
			return errDeltas
		}
		d.width, d.b = d.b[:d.minis], d.b[d.minis:]
	}
	d.bits, d.at = int(d.width[0]), 0
	d.width = d.width[1:]
	size := d.perMini() / 8 * d.bits
	if d.bits > 64 || len(d.b) < size {
		return errDeltas
	}
	d.mini, d.b = d.b[:size], d.b[size:]
	return nil
}

// rest are the bytes behind the integers that are left, which it passes over.
func (d *delta) rest() ([]byte, error) {
	for d.left > 0 {
		if _, err := d.next(); err != nil {
			return nil, err
		}
	}
	return d.b, nil
}

// deltas are integers as values.
type deltas struct{ *delta }

func (d *deltas) next() (datum, error) {
	v, err := d.delta.next()
	return datum{bits: uint64(v)}, err
}

func (d *deltas) skip(n int) error { return skipEach(d, n) }

// deltaLength are byte arrays behind all of their lengths.
type deltaLength struct {
	lengths *delta
	b       []byte
}

func newDeltaLength(b []byte, most int) (*deltaLength, error) {
	lengths, err := newDelta(b, most)
	if err != nil {
		return nil, err
	}
	again := *lengths
	rest, err := again.rest()
	return &deltaLength{lengths, rest}, err
}

func (d *deltaLength) next() (datum, error) {
	n, err := d.lengths.next()
	if err != nil {
		return datum{}, err
	}
	if n < 0 || n > int64(len(d.b)) {
		return datum{}, errValues
	}
	v := datum{bytes: d.b[:n]}
	d.b = d.b[n:]
	return v, nil
}

func (d *deltaLength) skip(n int) error { return skipEach(d, n) }

// deltaBytes are byte arrays that each begin like the one before.
type deltaBytes struct {
	leaf     *leaf
	prefixes *delta
	suffixes *deltaLength
	value    []byte
}

func newDeltaBytes(l *leaf, b []byte, most int) (*deltaBytes, error) {
	prefixes, err := newDelta(b, most)
	if err != nil {
		return nil, err
	}
	again := *prefixes
	rest, err := again.rest()
	if err != nil {
		return nil, err
	}
	suffixes, err := newDeltaLength(rest, most)
	return &deltaBytes{leaf: l, prefixes: prefixes, suffixes: suffixes}, err
}

func (d *deltaBytes) next() (datum, error) {
	n, err := d.prefixes.next()
	if err != nil {
		return datum{}, err
	}
	suffix, err := d.suffixes.next()
	if err != nil {
		return datum{}, err
	}
	if n < 0 || n > int64(len(d.value)) || d.leaf.kind == fixedBytes && int(n)+len(suffix.bytes) != d.leaf.length {
		return datum{}, errValues
	}
	d.value = append(d.value[:n], suffix.bytes...)
	return datum{bytes: d.value}, nil
}

func (d *deltaBytes) skip(n int) error { return skipEach(d, n) }
