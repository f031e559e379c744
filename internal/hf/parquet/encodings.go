package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Encodings of values.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingDelta           = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingDictionary      = 8
	encodingSplit           = 9
)

var errValues = errors.New("its values break off")

// decoder reads the values of a page.
type decoder interface {
	// next is the next value; its bytes are good until the value after it.
	next() (datum, error)
	// skip passes over n values.
	skip(n int) error
}

// newDecoder reads values of an encoding, at most so many. The dictionary is that of the chunk, nil for none.
func newDecoder(l *leaf, encoding int64, b []byte, values words, most int) (decoder, error) {
	integer, text := l.kind == int32s || l.kind == int64s, l.kind == byteArray
	switch {
	case encoding == encodingPlain:
		return newPlain(l, b), nil
	case encoding == encodingPlainDictionary, encoding == encodingDictionary:
		if values == nil {
			return nil, errors.New("missing dictionary")
		}
		if len(b) == 0 {
			return &dictionaryValues{words: values}, nil // all values are null
		}
		if b[0] > 32 {
			return nil, fmt.Errorf("numbers of its dictionary have %d bits", b[0])
		}
		return &dictionaryValues{words: values, indices: hybrid{b: b[1:], width: int(b[0])}}, nil
	case encoding == encodingRLE && l.kind == boolean:
		if len(b) < 4 {
			return nil, errValues
		}
		return &truths{hybrid{b: b[4:], width: 1}}, nil
	case encoding == encodingDelta && integer:
		d, err := newDelta(b, most)
		return &deltas{d}, err
	case encoding == encodingDeltaLength && text:
		return newDeltaLength(b, most)
	case encoding == encodingDeltaBytes && (text || l.kind == fixedBytes):
		return newDeltaBytes(l, b, most)
	case encoding == encodingSplit && l.width() > 0 && l.kind != int96s:
		return &split{leaf: l, b: b, count: len(b) / l.width(), value: make([]byte, min(len(b), l.width()))}, nil
	}
	return nil, fmt.Errorf("its values have encoding %d, which is not known here", encoding)
}

// width is the bytes of a value, 0 where they differ or are not whole.
func (l *leaf) width() int {
	switch l.kind {
	case int32s, floats:
		return 4
	case int64s, doubles:
		return 8
	case int96s:
		return 12
	case fixedBytes:
		return l.length
	}
	return 0
}

// datum is a value of fixed width.
func (l *leaf) datum(b []byte) datum {
	switch l.kind {
	case int32s, floats:
		return datum{bits: uint64(binary.LittleEndian.Uint32(b))}
	case int64s, doubles:
		return datum{bits: binary.LittleEndian.Uint64(b)}
	}
	return datum{bytes: b}
}

// newPlain reads values one behind the other.
func newPlain(l *leaf, b []byte) decoder {
	switch l.kind {
	case boolean:
		return &bitmap{b: b}
	case byteArray:
		return &plainBytes{b}
	}
	return &plainValues{l, l.width(), b}
}

// plainValues are values of fixed width.
type plainValues struct {
	leaf  *leaf
	width int
	b     []byte
}

func (p *plainValues) next() (datum, error) {
	if len(p.b) < p.width {
		return datum{}, errValues
	}
	d := p.leaf.datum(p.b[:p.width])
	p.b = p.b[p.width:]
	return d, nil
}

func (p *plainValues) skip(n int) error {
	if n > len(p.b)/p.width {
		return errValues
	}
	p.b = p.b[n*p.width:]
	return nil
}

// plainBytes are values behind their lengths.
type plainBytes struct{ b []byte }

func (p *plainBytes) next() (datum, error) {
	if len(p.b) < 4 {
		return datum{}, errValues
	}
	n := binary.LittleEndian.Uint32(p.b)
	if uint64(n) > uint64(len(p.b)-4) {
		return datum{}, errValues
	}
	d := datum{bytes: p.b[4 : 4+n]}
	p.b = p.b[4+n:]
	return d, nil
}

func (p *plainBytes) skip(n int) error { return skipEach(p, n) }

func skipEach(d decoder, n int) error {
	for range n {
		if _, err := d.next(); err != nil {
			return err
		}
	}
	return nil
}

// bitmap are truth values of a bit.
type bitmap struct {
	b  []byte
	at int
}

func (m *bitmap) next() (datum, error) {
	if m.at/8 >= len(m.b) {
		return datum{}, errValues
	}
	bit := m.b[m.at/8] >> (m.at % 8) & 1
	m.at++
	return datum{bits: uint64(bit)}, nil
}

func (m *bitmap) skip(n int) error {
	m.at += n
	return nil // the next value tells whether it is there
}

// truths are truth values in runs.
type truths struct{ runs hybrid }

func (t *truths) next() (datum, error) {
	v, err := t.runs.next()
	return datum{bits: uint64(v)}, err
}

func (t *truths) skip(n int) error {
	_, err := t.runs.skip(n, 0)
	return err
}

// words are the values that pages of a chunk refer to by number.
type words interface {
	at(i uint32) (datum, error)
}

func errWord(i uint32, count int) error {
	return fmt.Errorf("value %d of its dictionary of %d is asked for", i, count)
}

// dictionary are words that are kept.
type dictionary struct {
	leaf   *leaf
	b      []byte
	starts []uint32 // of values of different lengths
	count  int
}

// newDictionary reads a page of plain values.
func newDictionary(l *leaf, b []byte, count int64) (*dictionary, error) {
	d := &dictionary{leaf: l, b: b, count: int(count)}
	switch width := l.width(); {
	case l.kind == boolean:
		return nil, errors.New("its dictionary has truth values")
	case width > 0 && count > int64(len(b)/width), width == 0 && count > int64(len(b)/4):
		return nil, errors.New("its dictionary breaks off")
	case width > 0:
		return d, nil
	}
	d.starts = make([]uint32, 0, count)
	values := &plainBytes{b}
	for range count {
		d.starts = append(d.starts, uint32(len(b)-len(values.b)))
		if _, err := values.next(); err != nil {
			return nil, errors.New("its dictionary breaks off")
		}
	}
	return d, nil
}

func (d *dictionary) at(i uint32) (datum, error) {
	if int64(i) >= int64(d.count) {
		return datum{}, errWord(i, d.count)
	}
	if width := d.leaf.width(); width > 0 {
		return d.leaf.datum(d.b[int(i)*width:][:width]), nil
	}
	values := plainBytes{d.b[d.starts[i]:]}
	return values.next()
}

// dictionaryValues are values of a dictionary.
type dictionaryValues struct {
	words   words
	indices hybrid
}

func (x *dictionaryValues) next() (datum, error) {
	i, err := x.indices.next()
	if err != nil {
		return datum{}, err
	}
	return x.words.at(i)
}

func (x *dictionaryValues) skip(n int) error {
	_, err := x.indices.skip(n, 0)
	return err
}

// split are values of which the first bytes of all stand first, then the second ones.
type split struct {
	leaf  *leaf
	b     []byte
	count int
	at    int
	value []byte
}

func (s *split) next() (datum, error) {
	if s.at >= s.count {
		return datum{}, errValues
	}
	for i := range s.value {
		s.value[i] = s.b[i*s.count+s.at]
	}
	s.at++
	return s.leaf.datum(s.value), nil
}

func (s *split) skip(n int) error {
	s.at += n
	return nil // the next value tells whether it is there
}
