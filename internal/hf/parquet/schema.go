package parquet

import (
	"errors"
	"fmt"
)

// node is a part of the schema: a column, a field of a structure, the elements of a list.
type node struct {
	name     string
	shape    shape
	optional bool // may be null
	def      int  // level of definition from which on it is there; of a list, with an element
	rep      int  // level of repetition of its elements, of a list
	children []*node
	leaf     *leaf  // of a value
	first    *leaf  // the first one in it
	last     *leaf  // the last one in it
	nullDef  int    // level of definition from which on it is not null
	key      []byte // its name in JSON, with the colon
}

// shape is the form of a node in JSON.
type shape int

const (
	value shape = iota
	object
	list  // of its one child
	pairs // of its two children: a map
)

// leaf is a column of values.
type leaf struct {
	index  int // among the leaves
	path   string
	kind   physicalType
	length int // in bytes, of a value of fixed length
	def    int // the highest level of definition
	rep    int // the highest level of repetition
	form   form
	scale  int64 // of a decimal
	unit   int64 // of a time, in nanoseconds
	utc    bool
}

// The older annotations.
const (
	convertedUTF8              = 0
	convertedMap               = 1
	convertedMapKeyValue       = 2
	convertedList              = 3
	convertedEnum              = 4
	convertedDecimal           = 5
	convertedDate              = 6
	convertedTimeMillis        = 7
	convertedTimeMicros        = 8
	convertedMillis            = 9
	convertedMicros            = 10
	convertedUint8             = 11
	convertedUint64            = 14
	convertedJSON              = 19
	maxSchemaDepth             = 100
	maxPath                    = 1 << 10 // bytes, as each leaf has its own
	maxLevel                   = 255
	logicalString        int64 = 1
	logicalMap           int64 = 2
	logicalList          int64 = 3
	logicalEnum          int64 = 4
	logicalDecimal       int64 = 5
	logicalDate          int64 = 6
	logicalTime          int64 = 7
	logicalTimestamp     int64 = 8
	logicalInteger       int64 = 10
	logicalNull          int64 = 11
	logicalJSON          int64 = 12
	logicalUUID          int64 = 14
	logicalFloat16       int64 = 15
)

// schema builds the tree of the entries.
type schema struct {
	left   []element
	leaves []*leaf
}

// newSchema is the tree of a file's columns, and its leaves.
func newSchema(elements []element) (columns []*node, leaves []*leaf, err error) {
	if len(elements) == 0 || elements[0].isLeaf {
		return nil, nil, errors.New("its schema has no root")
	}
	s := &schema{left: elements[1:]}
	for range elements[0].children {
		column, err := s.node("", 0, 0, 0)
		if err != nil {
			return nil, nil, err
		}
		columns = append(columns, column)
	}
	if len(s.left) > 0 {
		return nil, nil, errors.New("its schema has entries that belong nowhere")
	}
	return columns, s.leaves, nil
}

// node takes the next entry and those below it. Levels are those of its parent.
func (s *schema) node(path string, def, rep, depth int) (*node, error) {
	if len(s.left) == 0 {
		return nil, errors.New("its schema ends too early")
	}
	e := s.left[0]
	s.left = s.left[1:]
	if path += e.name; depth > maxSchemaDepth || len(path) > maxPath {
		return nil, fmt.Errorf("its schema has more than %d levels, or longer names than %d bytes", maxSchemaDepth,
			maxPath)
	}
	switch e.repetition {
	case required, optional, repeated:
	default:
		return nil, fmt.Errorf("column %q is repeated in no known way", path)
	}
	if e.repetition == repeated { // outside of a list: a list of its own
		element, err := s.content(e, path, def+1, rep+1, depth)
		if err != nil {
			return nil, err
		}
		return s.listOf(element, e.name, false, def, rep+1), nil
	}
	if e.repetition == optional {
		def++
	}
	n, err := s.content(e, path, def, rep, depth)
	if err == nil {
		n.optional, n.nullDef = e.repetition == optional, def
	}
	return n, err
}

// listOf is a list of elements that are there from the level behind def on.
func (s *schema) listOf(element *node, name string, optional bool, def, rep int) *node {
	return &node{name: name, key: keyOf(name), shape: list, optional: optional, nullDef: def, def: def + 1, rep: rep,
		children: []*node{element},
		first:    element.first, last: element.last}
}

// content is the node of an entry, without its own repetition. Levels are its own.
func (s *schema) content(e element, path string, def, rep, depth int) (*node, error) {
	n := &node{name: e.name, key: keyOf(e.name), def: def, nullDef: def}
	if e.isLeaf {
		l, err := newLeaf(e, path, def, rep)
		if err != nil {
			return nil, err
		}
		if l.index = len(s.leaves); def > maxLevel || rep > maxLevel {
			return nil, fmt.Errorf("column %q has too many levels", path)
		}
		s.leaves = append(s.leaves, l)
		n.shape, n.leaf, n.first, n.last = value, l, l, l
		return n, nil
	}
	if e.children < 1 || e.children > int64(len(s.left)) {
		return nil, fmt.Errorf("column %q has %d fields", path, e.children)
	}
	path += "."
	isList := e.logical.kind == logicalList || e.logical.kind == 0 && e.converted == convertedList
	isMap := e.logical.kind == logicalMap ||
		e.logical.kind == 0 && (e.converted == convertedMap || e.converted == convertedMapKeyValue)
	if (isList || isMap) && e.children == 1 && s.left[0].repetition == repeated {
		return s.repeated(e, path, isMap, def, rep, depth)
	}
	n.shape = object
	for range e.children {
		child, err := s.node(path, def, rep, depth+1)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	n.first, n.last = n.children[0].first, n.children[len(n.children)-1].last
	return n, nil
}

// repeated is the node of a list or map, whose one child repeats. In the older form of lists the child is the element
// itself.
//
//	list, as it is now    in its older form       map
//	  repeated list         repeated element        repeated key_value
//	    element                                       key, value
func (s *schema) repeated(e element, path string, isMap bool, def, rep, depth int) (*node, error) {
	child := s.left[0]
	older := child.isLeaf || child.children != 1 || child.name == "array" || child.name == e.name+"_tuple"
	s.left = s.left[1:]
	var elements *node
	var err error
	if older {
		elements, err = s.content(child, path+child.name, def+1, rep+1, depth+1)
	} else {
		elements, err = s.node(path+child.name+".", def+1, rep+1, depth+2)
	}
	if err != nil {
		return nil, err
	}
	n := s.listOf(elements, e.name, false, def, rep+1)
	if isMap && elements.shape == object && len(elements.children) == 2 && elements.children[0].shape == value {
		n.shape, n.children = pairs, elements.children
	}
	return n, nil
}
