package parquet

import (
	"context"
	"errors"
	"fmt"
)

// maxRow bounds a row, in bytes of JSON.
const maxRow = 256 << 20

var errDisagree = errors.New("its levels do not fit the schema and the other fields")

func errLarge(most int64) error { return fmt.Errorf("the row is larger than %d MiB", most>>20) }

// row writes a row as JSON. Each value brings a level of definition, up to which its ancestors are there, and a level
// of repetition, that of the list which it goes on with. In a column of lists of texts:
//
//	repetition  definition  value
//	    0           3        "a"     a row begins: ["a",
//	    1           2         –        null,
//	    1           3        "b"       "b"]
//	    0           1         –      a row: []
//	    0           0         –      a row: null
type row struct {
	ctx   context.Context
	f     *File
	dst   []byte
	limit int // of dst, in bytes
}

// column writes a column of a row of the row group.
func (r *row) column(n *node, group, number int) error {
	if group != r.f.group {
		r.f.group = group
		clear(r.f.cursors)
	}
	cursors := r.f.cursors[n.first.index : n.last.index+1]
	for i := range cursors {
		if cursors[i] == nil {
			c, err := r.f.cursor(r.f.leaves[n.first.index+i], &r.f.groups[group])
			if err != nil {
				return err
			}
			cursors[i] = c
		}
		if err := cursors[i].seek(r.ctx, number-r.f.starts[group]); err != nil {
			return err
		}
	}
	if err := r.node(n); err != nil {
		return err
	}
	for _, c := range cursors {
		if err := c.finish(r.ctx); err != nil {
			return err
		}
	}
	return nil
}

// peek is the cursor of a leaf, at a value of the row.
func (r *row) peek(l *leaf) (*cursor, error) {
	c := r.f.cursors[l.index]
	there, err := c.peek(r.ctx)
	if err == nil && !there {
		err = c.at(errDisagree)
	}
	return c, err
}

// node writes a part of the row.
func (r *row) node(n *node) error {
	c, err := r.peek(n.first)
	switch {
	case err != nil:
		return err
	case len(r.dst) > r.limit:
		return errLarge(int64(r.f.most))
	case n.optional && c.def < n.nullDef:
		return r.absent(n, n.nullDef, "null")
	}
	switch n.shape {
	case object:
		return r.object(n)
	case list:
		return r.elements(n, c, '[', ']', func() error { return r.node(n.children[0]) })
	case pairs:
		return r.elements(n, c, '{', '}', func() error { return r.pair(n.children[0], n.children[1]) })
	}
	if c.def != n.leaf.def {
		return c.at(errDisagree)
	}
	d, err := c.take()
	if err != nil {
		return err
	}
	r.dst, err = n.leaf.appendJSON(r.dst, d)
	return c.at(err)
}

// absent writes a text for a part of the row of which no leaf has a value.
func (r *row) absent(n *node, def int, text string) error {
	for _, l := range r.f.leaves[n.first.index : n.last.index+1] {
		c, err := r.peek(l)
		if err != nil {
			return err
		}
		if c.def >= def {
			return c.at(errDisagree)
		}
		if _, err := c.take(); err != nil {
			return err
		}
	}
	r.dst = append(r.dst, text...)
	return nil
}

func (r *row) object(n *node) error {
	r.dst = append(r.dst, '{')
	for i, child := range n.children {
		if i > 0 {
			r.dst = append(r.dst, ',')
		}
		r.dst = append(r.dst, child.key...)
		if err := r.node(child); err != nil {
			return err
		}
	}
	r.dst = append(r.dst, '}')
	return nil
}

// elements writes a list or a map. c is at its first value.
func (r *row) elements(n *node, c *cursor, left, right byte, element func() error) error {
	if c.def < n.def {
		return r.absent(n, n.def, string([]byte{left, right}))
	}
	for r.dst = append(r.dst, left); ; r.dst = append(r.dst, ',') {
		if err := element(); err != nil {
			return err
		}
		more, err := c.peek(r.ctx)
		if err != nil {
			return err
		}
		if more && c.rep > n.rep {
			return c.at(errDisagree)
		}
		if !more || c.rep < n.rep {
			r.dst = append(r.dst, right)
			return nil
		}
	}
}

// pair writes a member of a map. Names in JSON are texts, whatever the keys are.
func (r *row) pair(key, value *node) error {
	from := len(r.dst)
	if err := r.node(key); err != nil {
		return err
	}
	if r.dst[from] != '"' {
		r.dst = append(r.dst[:from], fmt.Sprintf("%q", r.dst[from:])...)
	}
	r.dst = append(r.dst, ':')
	return r.node(value)
}
