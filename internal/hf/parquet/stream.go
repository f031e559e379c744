package parquet

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/klauspost/compress/zstd"
	"github.com/molecule-man/go-brrr"
)

// largePage is the size in bytes, packed or unpacked, from which on a page is not unpacked as a whole. Pages with
// pictures are as large as a hundred pictures, since writers look at the size of a page only now and then.
const largePage = 8 << 20

// large reports whether a page of byte arrays one behind the other is read piece by piece.
func (c *cursor) large(head pageHead) bool {
	plain := head.encoding == encodingPlain || head.kind == dictionaryPage && head.encoding == encodingPlainDictionary
	return c.leaf.kind == byteArray && plain && max(head.size, head.plainSize) >= c.file.large
}

// stream unpacks bytes of the file piece by piece.
func (c *cursor) stream(offset, size int64, codec int64) (*bufio.Reader, error) {
	const buffer = 1 << 16
	packed := bufio.NewReaderSize(io.NewSectionReader(c.file.r, offset, size), buffer)
	switch codec {
	case codecSnappy:
		return bufio.NewReaderSize(&snappyReader{packed: packed}, buffer), nil
	case codecGzip:
		r, err := gzip.NewReader(packed)
		return bufio.NewReaderSize(r, buffer), err
	case codecBrotli:
		return bufio.NewReaderSize(brrr.NewReader(packed), buffer), nil
	case codecZstd:
		r, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(128<<20))
		return bufio.NewReaderSize(r, buffer), err
	}
	return packed, nil
}

// checkSum reads a page for its checksum.
func (c *cursor) checkSum(head pageHead, offset int64) error {
	if !head.hasCRC {
		return nil
	}
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.NewSectionReader(c.file.r, offset, head.size)); err != nil {
		return err
	}
	if sum.Sum32() != head.crc {
		return errSum
	}
	return nil
}

// openLarge reads the levels of a page; its values are still to come.
func (c *cursor) openLarge(head pageHead, offset int64) error {
	err := c.checkSum(head, offset)
	if err != nil {
		return err
	}
	var r *bufio.Reader
	left := head.plainSize
	if head.kind == dataPage {
		if r, err = c.stream(offset, head.size, c.chunk.codec); err == nil {
			left, err = c.largeLevels(head, r)
		}
	} else {
		var levels int64
		if levels, err = head.levelsSize(); err != nil {
			return err
		}
		codec := c.chunk.codec
		if !head.compressed {
			codec = codecNone
		}
		if c.packed, err = readMost(c.packed[:0], io.NewSectionReader(c.file.r, offset, levels), levels); err != nil {
			return err
		}
		c.levels2(head, c.packed)
		left -= levels
		r, err = c.stream(offset+levels, head.size-levels, codec)
	}
	c.left, c.has, c.values = int(head.values), false, &valueStream{r: r, left: left, most: int64(c.file.most)}
	return err
}

// largeLevels reads the levels of a page of version 1, and returns how many bytes are behind them.
func (c *cursor) largeLevels(head pageHead, r io.Reader) (left int64, err error) {
	if err := c.checkLevels(head); err != nil {
		return 0, err
	}
	c.plain, left = c.plain[:0], head.plainSize
	for _, most := range []int{c.leaf.rep, c.leaf.def} {
		if most > 0 {
			if c.plain, err = appendLevels(c.plain, r, &left); err != nil {
				return 0, err
			}
		}
	}
	_, err = c.levels1(c.plain)
	return left, err
}

// appendLevels reads levels with their length, from so many bytes.
func appendLevels(dst []byte, r io.Reader, left *int64) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, errLevels
	}
	n := int64(binary.LittleEndian.Uint32(size[:]))
	if *left -= 4 + n; *left < 0 {
		return nil, errLevels
	}
	dst, err := readMost(append(dst, size[:]...), r, n)
	if err != nil {
		return nil, errLevels
	}
	return dst, nil
}

// lastRow is the row of the last value of a page of version 1 of lists. It unpacks no more than the levels of
// repetition.
func (c *cursor) lastRow(head pageHead, offset int64) (int, error) {
	if err := c.checkLevels(head); err != nil {
		return 0, err
	}
	r, err := c.stream(offset, head.size, c.chunk.codec)
	if err != nil {
		return 0, err
	}
	left := head.plainSize
	if c.plain, err = appendLevels(c.plain[:0], r, &left); err != nil {
		return 0, err
	}
	levels := hybrid{b: c.plain[4:], width: bits.Len(uint(c.leaf.rep))}
	begun, err := levels.skip(int(head.values), 0)
	if !c.begun {
		begun--
	}
	return c.row + begun, err
}

// readMost appends n bytes. Memory grows with the bytes there are.
func readMost(dst []byte, r io.Reader, n int64) ([]byte, error) {
	const step = 1 << 20
	for n > 0 {
		from, some := len(dst), min(n, step)
		if cap(dst)-from < int(some) {
			dst = append(make([]byte, 0, max(2*from, from+int(some))), dst...)
		}
		dst = dst[:from+int(some)]
		if _, err := io.ReadFull(r, dst[from:]); err != nil {
			return dst[:from], err
		}
		n -= some
	}
	return dst, nil
}

// valueStream are byte arrays behind their lengths, read piece by piece.
type valueStream struct {
	r     *bufio.Reader
	left  int64 // bytes
	most  int64 // bytes of a value
	value []byte
}

// size reads the length of a value.
func (s *valueStream) size() (int64, error) {
	var size [4]byte
	if _, err := io.ReadFull(s.r, size[:]); err != nil {
		return 0, broken(err)
	}
	n := int64(binary.LittleEndian.Uint32(size[:]))
	if s.left -= 4 + n; s.left < 0 {
		return 0, errValues
	}
	return n, nil
}

func (s *valueStream) next() (datum, error) {
	n, err := s.size()
	if err != nil {
		return datum{}, err
	}
	if n > s.most {
		return datum{}, errLarge(s.most)
	}
	if s.value, err = readMost(s.value[:0], s.r, n); err != nil {
		return datum{}, broken(err)
	}
	return datum{bytes: s.value}, nil
}

func (s *valueStream) skip(n int) error {
	for range n {
		size, err := s.size()
		if err != nil {
			return err
		}
		if _, err := s.r.Discard(int(size)); err != nil {
			return broken(err)
		}
	}
	return nil
}

// broken is the error of packed bytes that cannot be read.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errValues
	}
	return fmt.Errorf("its packed data is broken: %w", err)
}

// largeWords is a large dictionary, read from its beginning for a value that stands before the one read last.
type largeWords struct {
	open   func() (*valueStream, error)
	count  int64
	values *valueStream
	read   int64 // values that have been read
	last   datum
}

func (w *largeWords) at(i uint32) (d datum, err error) {
	switch {
	case int64(i) >= w.count:
		return datum{}, errWord(i, int(w.count))
	case int64(i)+1 == w.read:
		return w.last, nil
	case w.values == nil || int64(i) < w.read:
		if w.values, err = w.open(); err != nil {
			return datum{}, err
		}
		w.read = 0
	}
	if err = w.values.skip(int(int64(i) - w.read)); err == nil {
		w.last, err = w.values.next()
	}
	if w.read = int64(i) + 1; err != nil {
		w.values = nil
	}
	return w.last, err
}
