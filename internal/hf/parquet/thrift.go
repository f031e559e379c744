package parquet

import (
	"encoding/binary"
	"errors"
)

// thrift reads a structure in Thrift's compact protocol, in which the metadata of Parquet is written. Past the first
// error it reads zeros. It keeps nothing, so lengths that lie cost no memory.
type thrift struct {
	b   []byte // what is left
	err error
}

var (
	errShort = errors.New("it ends too early")
	errDeep  = errors.New("it is nested too deep")
)

// Types of fields.
const (
	thriftTrue = iota + 1
	thriftFalse
	thriftByte
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

func (t *thrift) fail(err error) {
	if t.err == nil {
		t.err = err
	}
	t.b = nil
}

func (t *thrift) byte() byte {
	if len(t.b) == 0 {
		t.fail(errShort)
		return 0
	}
	c := t.b[0]
	t.b = t.b[1:]
	return c
}

func (t *thrift) uvarint() uint64 {
	v, n := binary.Uvarint(t.b)
	switch {
	case n == 0:
		t.fail(errShort)
	case n < 0:
		t.fail(errors.New("a number has too many bytes"))
	default:
		t.b = t.b[n:]
	}
	return v
}

// int reads a number of any size.
func (t *thrift) int() int64 {
	u := t.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// bytes are those of the input and not a copy.
func (t *thrift) bytes() []byte {
	n := t.uvarint()
	if n > uint64(len(t.b)) {
		t.fail(errShort)
		return nil
	}
	b := t.b[:n]
	t.b = t.b[n:]
	return b
}

// maxNesting bounds structures in structures. The format needs six.
const maxNesting = 32

// fields calls do with each field of a structure. do reads its value, or returns false to have it passed over. A field
// of kind thriftTrue or thriftFalse is its own value.
func (t *thrift) fields(do func(id int64, kind byte) bool) { t.structure(do, 0) }

func (t *thrift) structure(do func(id int64, kind byte) bool, depth int) {
	id := int64(0)
	for t.err == nil {
		head := t.byte()
		kind := head & 0xf
		if kind == 0 {
			return
		}
		if delta := head >> 4; delta > 0 {
			id += int64(delta)
		} else {
			id = t.int()
		}
		if t.err == nil && !do(id, kind) {
			t.skip(kind, depth+1)
		}
	}
}

// record says where the values of a structure go, by the numbers of their fields: a *int64, *bool or *string takes one
// of its kind, a function reads it. Other fields are passed over.
type record map[int64]any

type (
	nested func() // reads a structure
	each   func() // reads an element of a list
)

// record reads a structure.
func (t *thrift) record(into record) {
	t.fields(func(id int64, kind byte) bool {
		switch to := into[id].(type) {
		case *int64:
			if kind == thriftInt32 || kind == thriftInt64 {
				*to = t.int()
				return true
			}
		case *bool:
			if kind == thriftTrue || kind == thriftFalse {
				*to = kind == thriftTrue
			}
		case *string:
			if kind == thriftBinary {
				*to = string(t.bytes())
				return true
			}
		case nested:
			if kind == thriftStruct {
				to()
				return true
			}
		case each:
			if kind == thriftList {
				t.list(func(byte) { to() })
				return true
			}
		}
		return false
	})
}

// list calls do for each element of a list.
func (t *thrift) list(do func(kind byte)) {
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	for ; n > 0 && t.err == nil; n-- {
		do(head & 0xf)
	}
}

// skip passes over a value.
func (t *thrift) skip(kind byte, depth int) {
	if depth > maxNesting {
		t.fail(errDeep)
		return
	}
	nothing := func(int64, byte) bool { return false }
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		t.byte()
	case thriftInt16, thriftInt32, thriftInt64:
		t.uvarint()
	case thriftDouble:
		for range 8 {
			t.byte()
		}
	case thriftBinary:
		t.bytes()
	case thriftList, thriftSet:
		t.list(func(kind byte) { t.skipElement(kind, depth+1) })
	case thriftMap:
		t.skipMap(depth + 1)
	case thriftStruct:
		t.structure(nothing, depth)
	default:
		t.fail(errors.New("a field has no known type"))
	}
}

// skipElement passes over an element of a list or a map, in which even a truth value takes a byte.
func (t *thrift) skipElement(kind byte, depth int) {
	if kind == thriftTrue || kind == thriftFalse {
		kind = thriftByte
	}
	t.skip(kind, depth)
}

func (t *thrift) skipMap(depth int) {
	n := t.uvarint()
	if n == 0 {
		return
	}
	kinds := t.byte()
	for ; n > 0 && t.err == nil; n-- {
		t.skipElement(kinds>>4, depth)
		t.skipElement(kinds&0xf, depth)
	}
}
