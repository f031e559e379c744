package parquet

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
)

var (
	errLevels = errors.New("its levels break off")
	errSum    = errors.New("its checksum is wrong: the file is damaged")
)

// maxHead bounds the head of a page, which may hold the least and the greatest value.
const maxHead = 16 << 20

// head reads the head of a page, and where the page itself begins.
func (c *cursor) head(offset int64) (head pageHead, body int64, err error) {
	for size := int64(1 << 8); ; size *= 4 {
		size = min(size, c.end()-offset)
		b, err := c.window.Bytes(offset, offset+size)
		if err != nil {
			return head, 0, err
		}
		t := &thrift{b: b}
		head = t.pageHead()
		body = offset + size - int64(len(t.b))
		switch {
		case errors.Is(t.err, errShort) && size < min(maxHead, c.end()-offset):
			continue
		case t.err == nil && len(t.b) == int(size)-1:
			return head, 0, errors.New("its head is empty")
		case t.err != nil:
			return head, 0, fmt.Errorf("its head is broken: %w", t.err)
		case head.size < 0 || head.plainSize < 0 || head.values < 0 || head.defSize < 0 || head.repSize < 0:
			return head, 0, errors.New("its head has negative sizes")
		case head.kind == dataPage2 && (head.rows < 0 || head.rows > int64(c.rows)):
			return head, 0, fmt.Errorf("it claims %d rows, and its row group has %d", head.rows, c.rows)
		case c.leaf.rep == 0 && head.kind != dictionaryPage && head.values > int64(c.rows), head.values > c.file.claims:
			return head, 0, fmt.Errorf("it claims %d values, and its row group has %d rows", head.values, c.rows)
		case head.size > c.end()-body:
			return head, 0, fmt.Errorf("it claims %d bytes, and its column has %d", head.size, c.end()-body)
		case head.size > maxPage || head.plainSize > maxPage:
			return head, 0, fmt.Errorf("it is larger than %d MiB", maxPage>>20)
		}
		return head, body, nil
	}
}

// body reads a page as it is stored.
func (c *cursor) body(head pageHead, offset int64) ([]byte, error) {
	c.packed = grow(c.packed[:0], int(head.size))
	if n, err := c.file.r.ReadAt(c.packed, offset); n < len(c.packed) {
		return nil, err
	}
	if head.hasCRC && crc32.ChecksumIEEE(c.packed) != head.crc {
		return nil, errSum
	}
	return c.packed, nil
}

// open reads a page of data.
func (c *cursor) open(head pageHead, offset int64) error {
	if (head.encoding == encodingDictionary || head.encoding == encodingPlainDictionary) && c.words == nil {
		if err := c.readWords(); err != nil {
			return fmt.Errorf("its dictionary: %w", err)
		}
	}
	if c.large(head) {
		return c.openLarge(head, offset)
	}
	packed, err := c.body(head, offset)
	if err != nil {
		return err
	}
	var values []byte
	if head.kind == dataPage {
		values, err = c.version1(head, packed)
	} else {
		values, err = c.version2(head, packed)
	}
	if err != nil {
		return err
	}
	c.left, c.has = int(head.values), false
	c.values, err = newDecoder(c.leaf, head.encoding, values, c.words, c.left)
	return err
}

// version1 unpacks the levels and the values, which are packed together.
func (c *cursor) version1(head pageHead, packed []byte) ([]byte, error) {
	if err := c.checkLevels(head); err != nil {
		return nil, err
	}
	b, err := c.unpack(packed, head.plainSize)
	if err != nil {
		return nil, err
	}
	return c.levels1(b)
}

// checkLevels refuses levels of an encoding that no writer has used for ten years. Levels that are not there may have
// any.
func (c *cursor) checkLevels(head pageHead) error {
	if c.leaf.def > 0 && head.levels[0] != encodingRLE || c.leaf.rep > 0 && head.levels[1] != encodingRLE {
		return errors.New("unsupported encoding of levels")
	}
	return nil
}

// levels1 takes the levels from the beginning of a page of version 1.
func (c *cursor) levels1(b []byte) (rest []byte, err error) {
	for _, l := range []struct {
		most int
		runs *hybrid
	}{{c.leaf.rep, &c.reps}, {c.leaf.def, &c.defs}} {
		if l.most == 0 {
			continue
		}
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errLevels
		}
		n := 4 + int(binary.LittleEndian.Uint32(b))
		*l.runs = hybrid{b: b[4:n], width: bits.Len(uint(l.most))}
		b = b[n:]
	}
	return b, nil
}

// version2 unpacks the values, which stand behind the levels.
func (c *cursor) version2(head pageHead, packed []byte) ([]byte, error) {
	levels, err := head.levelsSize()
	if err != nil {
		return nil, err
	}
	c.levels2(head, packed)
	values := packed[levels:]
	if !head.compressed || len(values) == 0 {
		return values, nil
	}
	return c.unpack(values, head.plainSize-levels)
}

// levelsSize is that of the levels of a page of version 2, in bytes.
func (h pageHead) levelsSize() (int64, error) {
	if room := min(h.size, h.plainSize); h.repSize > room || h.defSize > room-h.repSize {
		return 0, errLevels
	}
	return h.repSize + h.defSize, nil
}

// levels2 takes the levels from the beginning of a page of version 2.
func (c *cursor) levels2(head pageHead, b []byte) {
	levels := head.repSize + head.defSize
	c.reps = hybrid{b: b[:head.repSize], width: bits.Len(uint(c.leaf.rep))}
	c.defs = hybrid{b: b[head.repSize:levels], width: bits.Len(uint(c.leaf.def))}
}

// unpack unpacks into the buffer of the page. Bytes that are not packed stay where they are.
func (c *cursor) unpack(packed []byte, size int64) (b []byte, err error) {
	if c.chunk.codec == codecNone {
		return packed, nil
	}
	c.plain, err = c.file.unpack.unpack(c.plain[:0], c.chunk.codec, packed, int(size))
	return c.plain, err
}

// readWords reads the dictionary, the first page of the chunk.
func (c *cursor) readWords() error {
	at := cmp.Or(c.wordsAt, c.chunk.start)
	head, body, err := c.head(at)
	if err != nil {
		return err
	}
	if head.kind != dictionaryPage {
		return errors.New("it is missing")
	}
	if c.large(head) {
		c.words = &largeWords{count: head.values, open: func() (*valueStream, error) {
			r, err := c.stream(body, head.size, c.chunk.codec)
			return &valueStream{r: r, left: head.plainSize, most: int64(c.file.most)}, err
		}}
		return c.checkSum(head, body)
	}
	packed, err := c.body(head, body)
	if err != nil {
		return err
	}
	b, err := c.file.unpack.unpack(nil, c.chunk.codec, packed, int(head.plainSize)) // to be kept
	if err != nil {
		return err
	}
	words, err := newDictionary(c.leaf, b, head.values)
	if err == nil {
		c.words = words
	}
	return err
}
