package parquet

import (
	"errors"
	"fmt"
	"math"
)

// metadata is what the footer of a file says, as far as it is needed.
type metadata struct {
	schema []element
	rows   int64 // of all row groups; 0 as well where a writer leaves it out
	groups []group
}

// element is an entry of the schema, which lists its tree from the top, each group before its children.
type element struct {
	name       string
	kind       physicalType
	isLeaf     bool
	length     int64 // in bytes, of a value of fixed length
	repetition repetition
	children   int64
	converted  int64 // the older annotation, -1 for none
	logical    logicalType
	scale      int64
}

// physicalType is the type of stored values.
type physicalType = int64

const (
	boolean physicalType = iota
	int32s
	int64s
	int96s
	floats
	doubles
	byteArray
	fixedBytes
)

type repetition = int64

const (
	required repetition = iota
	optional
	repeated
)

// logicalType is the newer annotation of an element. Its kind is the number of the field of Parquet's union of logical
// types.
type logicalType struct {
	kind  int64 // 0 for none
	scale int64
	sign  bool
	utc   bool
	unit  int64 // 1 for milliseconds, 2 for microseconds, 3 for nanoseconds
}

// group is a row group: rows whose columns stand together.
type group struct {
	rows   int64
	chunks []chunk // of the leaves of the schema, in their order
}

// chunk is a column of a row group.
type chunk struct {
	codec     int64
	values    int64 // of all pages, nulls included
	start     int64 // in the file, of its first page
	size      int64 // in bytes, with the heads of pages
	index     int64 // in the file, of the list of its pages; 0 for none
	indexSize int64
	elsewhere bool // in another file
	encrypted bool
}

// parseMetadata reads the footer.
func parseMetadata(b []byte) (*metadata, error) {
	m := &metadata{}
	t := &thrift{b: b}
	leaves := 0
	t.record(record{
		2: each(func() {
			e := t.element()
			m.schema = append(m.schema, e)
			if e.isLeaf {
				leaves++
			}
		}),
		3: &m.rows,
		4: each(func() { m.groups = append(m.groups, t.group(leaves)) }),
	})
	return m, t.err
}

// element reads an entry of the schema. One that is neither a leaf nor a group is an error, lest a list of zeros takes
// memory.
func (t *thrift) element() element {
	const none = math.MinInt64
	e := element{kind: none, converted: -1}
	t.record(record{1: &e.kind, 2: &e.length, 3: &e.repetition, 4: &e.name, 5: &e.children, 6: &e.converted,
		7:  &e.scale,
		10: nested(func() { e.logical = t.logical() })})
	if e.isLeaf = e.kind != none; e.name == "" && !e.isLeaf && e.children == 0 {
		t.fail(errors.New("an element of its schema is empty"))
	}
	return e
}

// logical reads the union of logical types.
func (t *thrift) logical() logicalType {
	l := logicalType{}
	t.fields(func(id int64, kind byte) bool {
		if kind != thriftStruct {
			return false
		}
		l = logicalType{kind: id}
		settings := record{}
		switch id {
		case logicalDecimal:
			settings = record{1: &l.scale}
		case logicalInteger:
			settings = record{2: &l.sign}
		case logicalTime, logicalTimestamp:
			settings = record{1: &l.utc, 2: nested(func() {
				t.fields(func(unit int64, _ byte) bool {
					l.unit = unit
					return false
				})
			})}
		}
		t.record(settings)
		return true
	})
	return l
}

// group reads a row group of a file with so many leaves.
func (t *thrift) group(leaves int) group {
	g := group{}
	t.record(record{1: each(func() { g.chunks = append(g.chunks, t.chunk()) }), 3: &g.rows})
	if t.err == nil && len(g.chunks) != leaves {
		t.fail(fmt.Errorf("a row group has %d columns, and the schema has %d", len(g.chunks), leaves))
	}
	if g.rows < 0 || g.rows > math.MaxInt32*int64(1<<10) {
		t.fail(fmt.Errorf("a row group claims %d rows", g.rows))
	}
	return g
}

// chunk reads the entry of a column of a row group.
func (t *thrift) chunk() chunk {
	c, incomplete := chunk{}, true
	dictionary, file, encrypted := int64(0), "", ""
	t.record(record{1: &file, 4: &c.index, 5: &c.indexSize, 9: &encrypted,
		3: nested(func() {
			incomplete = false
			t.record(record{4: &c.codec, 5: &c.values, 7: &c.size, 9: &c.start, 11: &dictionary})
		}),
		8: nested(func() {
			c.encrypted = true
			t.record(nil)
		})})
	if dictionary > 0 && dictionary < c.start {
		c.start = dictionary
	}
	c.elsewhere, c.encrypted = file != "", c.encrypted || encrypted != ""
	if incomplete && !c.encrypted {
		t.fail(errors.New("a column of a row group has no metadata"))
	}
	return c
}

// pageHead is what stands before a page.
type pageHead struct {
	kind       int64
	size       int64 // in bytes, as it is stored
	plainSize  int64 // in bytes, unpacked
	crc        uint32
	hasCRC     bool
	values     int64 // nulls included
	rows       int64 // -1 where it is not known
	encoding   int64
	levels     [2]int64 // encodings of the levels of definition and repetition, of version 1
	defSize    int64    // in bytes, of version 2
	repSize    int64
	compressed bool
}

const (
	dataPage = iota
	indexPage
	dictionaryPage
	dataPage2
)

// pageHead reads the head of a page.
func (t *thrift) pageHead() pageHead {
	const none = math.MinInt64
	h, crc := pageHead{rows: -1, compressed: true, levels: [2]int64{encodingRLE, encodingRLE}}, int64(none)
	version1 := nested(func() {
		t.record(record{1: &h.values, 2: &h.encoding, 3: &h.levels[0], 4: &h.levels[1], 7: &h.compressed})
	})
	t.record(record{1: &h.kind, 2: &h.plainSize, 3: &h.size, 4: &crc, 5: version1, 7: version1, 8: nested(func() {
		t.record(record{1: &h.values, 3: &h.rows, 4: &h.encoding, 5: &h.defSize, 6: &h.repSize, 7: &h.compressed})
	})})
	h.crc, h.hasCRC = uint32(crc), crc != none
	return h
}

// location is the place of a page, from the list of pages of a chunk.
type location struct {
	offset int64 // in the file
	row    int64 // its first one, in the row group
}

// parseIndex reads the list of pages of a chunk.
func parseIndex(b []byte) (pages []location, err error) {
	t := &thrift{b: b}
	page := location{}
	fields := record{1: &page.offset, 3: &page.row}
	t.record(record{1: each(func() {
		page = location{-1, -1}
		t.record(fields)
		pages = append(pages, page)
	})})
	return pages, t.err
}
