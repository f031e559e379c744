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
type physicalType int64

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

type repetition int64

const (
	required repetition = iota
	optional
	repeated
)

// logicalType is the newer annotation of an element. Its kind is the number of the field of Parquet's union of logical types.
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
	codec      int64
	values     int64 // of all pages, nulls included
	start      int64 // in the file, of its first page
	size       int64 // in bytes, with the heads of pages
	index      int64 // in the file, of the list of its pages; 0 for none
	indexSize  int64
	elsewhere  bool // in another file
	encrypted  bool
	incomplete bool // without its metadata
}

// parseMetadata reads the footer.
func parseMetadata(b []byte) (*metadata, error) {
	m := &metadata{}
	t := &thrift{b: b}
	leaves := 0
	t.fields(func(id int64, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			t.list(func(byte) {
				e := t.element()
				m.schema = append(m.schema, e)
				if e.isLeaf {
					leaves++
				}
			})
		case id == 3 && kind == thriftInt64:
			m.rows = t.int()
		case id == 4 && kind == thriftList:
			t.list(func(byte) { m.groups = append(m.groups, t.group(leaves)) })
		default:
			return false
		}
		return true
	})
	return m, t.err
}

// element reads an entry of the schema. One that is neither a leaf nor a group is an error, lest a list of zeros takes memory.
func (t *thrift) element() element {
	e := element{converted: -1}
	t.fields(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftInt32:
			e.kind, e.isLeaf = physicalType(t.int()), true
		case id == 2 && kind == thriftInt32:
			e.length = t.int()
		case id == 3 && kind == thriftInt32:
			e.repetition = repetition(t.int())
		case id == 4 && kind == thriftBinary:
			e.name = string(t.bytes())
		case id == 5 && kind == thriftInt32:
			e.children = t.int()
		case id == 6 && kind == thriftInt32:
			e.converted = t.int()
		case id == 7 && kind == thriftInt32:
			e.scale = t.int()
		case id == 10 && kind == thriftStruct:
			e.logical = t.logical()
		default:
			return false
		}
		return true
	})
	if e.name == "" && !e.isLeaf && e.children == 0 {
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
		t.fields(func(field int64, kind byte) bool {
			switch {
			case id == logicalDecimal && field == 1 && kind == thriftInt32:
				l.scale = t.int()
			case id == logicalInteger && field == 2:
				l.sign = kind == thriftTrue
			case (id == logicalTime || id == logicalTimestamp) && field == 1:
				l.utc = kind == thriftTrue
			case (id == logicalTime || id == logicalTimestamp) && field == 2 && kind == thriftStruct:
				t.fields(func(unit int64, _ byte) bool {
					l.unit = unit
					return false
				})
				return true
			default:
				return false
			}
			return true
		})
		return true
	})
	return l
}

// group reads a row group of a file with so many leaves.
func (t *thrift) group(leaves int) group {
	g := group{}
	t.fields(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftList:
			t.list(func(byte) { g.chunks = append(g.chunks, t.chunk()) })
		case id == 3 && kind == thriftInt64:
			g.rows = t.int()
		default:
			return false
		}
		return true
	})
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
	c := chunk{incomplete: true}
	t.fields(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftBinary:
			c.elsewhere = len(t.bytes()) > 0
		case id == 3 && kind == thriftStruct:
			c.incomplete = false
			t.columnMetadata(&c)
		case id == 4 && kind == thriftInt64:
			c.index = t.int()
		case id == 5 && kind == thriftInt32:
			c.indexSize = t.int()
		case id == 8, id == 9:
			c.encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	if c.incomplete && !c.encrypted {
		t.fail(errors.New("a column of a row group has no metadata"))
	}
	return c
}

func (t *thrift) columnMetadata(c *chunk) {
	dictionary := int64(0)
	t.numbers(map[int64]*int64{4: &c.codec, 5: &c.values, 7: &c.size, 9: &c.start, 11: &dictionary}, nil)
	if dictionary > 0 && dictionary < c.start {
		c.start = dictionary
	}
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
	h := pageHead{rows: -1, compressed: true, levels: [2]int64{encodingRLE, encodingRLE}}
	t.fields(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftInt32:
			h.kind = t.int()
		case id == 2 && kind == thriftInt32:
			h.plainSize = t.int()
		case id == 3 && kind == thriftInt32:
			h.size = t.int()
		case id == 4 && kind == thriftInt32:
			h.crc, h.hasCRC = uint32(t.int()), true
		case (id == 5 || id == 7) && kind == thriftStruct:
			t.numbers(map[int64]*int64{1: &h.values, 2: &h.encoding, 3: &h.levels[0], 4: &h.levels[1]}, &h.compressed)
		case id == 8 && kind == thriftStruct:
			t.numbers(map[int64]*int64{1: &h.values, 3: &h.rows, 4: &h.encoding, 5: &h.defSize, 6: &h.repSize}, &h.compressed)
		default:
			return false
		}
		return true
	})
	return h
}

// numbers reads a structure of numbers. truth is the truth value of field 7, nil for none.
func (t *thrift) numbers(into map[int64]*int64, truth *bool) {
	t.fields(func(id int64, kind byte) bool {
		if number := into[id]; number != nil && (kind == thriftInt32 || kind == thriftInt64) {
			*number = t.int()
			return true
		}
		if id == 7 && truth != nil && (kind == thriftTrue || kind == thriftFalse) {
			*truth = kind == thriftTrue
		}
		return false
	})
}

// location is the place of a page, from the list of pages of a chunk.
type location struct {
	offset int64 // in the file
	row    int64 // its first one, in the row group
}

// parseIndex reads the list of pages of a chunk.
func parseIndex(b []byte) (pages []location, err error) {
	t := &thrift{b: b}
	t.fields(func(id int64, kind byte) bool {
		if id != 1 || kind != thriftList {
			return false
		}
		page := location{}
		numbers := map[int64]*int64{1: &page.offset, 3: &page.row}
		t.list(func(byte) {
			page = location{-1, -1}
			t.numbers(numbers, nil)
			pages = append(pages, page)
		})
		return true
	})
	return pages, t.err
}
