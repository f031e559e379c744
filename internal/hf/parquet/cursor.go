package parquet

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"benchtop/datasets/textfile"
)

// cursor reads a column of a row group, value by value. It holds one page and the dictionary.
//
//	| head, dictionary | head, page | head, page | …
//	                                ▲ next
type cursor struct {
	file    *File
	leaf    *leaf
	chunk   chunk
	rows    int        // of the row group
	pages   []location // nil where the file has no list of them
	words   words
	wordsAt int64 // offset of the dictionary's head; 0 for none
	window  textfile.Window

	next  int64 // offset of the head of the next page
	seen  int64 // values of the pages before it
	row   int   // that the next value belongs to, or begins
	begun bool  // the row has begun: its next value may be of the row after it

	left     int // values of the page that are left
	reps     hybrid
	defs     hybrid
	values   decoder
	page     int64 // offset of its head
	packed   []byte
	plain    []byte
	has      bool // the levels of the next value are there
	rep, def int
}

// cursor begins at the first row.
func (f *File) cursor(l *leaf, g *group) (*cursor, error) {
	c := &cursor{file: f, leaf: l, chunk: g.chunks[l.index], rows: int(g.rows), window: textfile.Window{File: f.r}}
	switch {
	case c.chunk.encrypted:
		return nil, errors.New("the column is encrypted")
	case c.chunk.elsewhere:
		return nil, errors.New("the column is in another file")
	case c.chunk.start < int64(len(Magic)) || c.chunk.size < 0 || c.chunk.start > f.end ||
		c.chunk.size > f.end-c.chunk.start:
		return nil, fmt.Errorf("the column claims the bytes from %d to %d of %d", c.chunk.start,
			c.chunk.start+c.chunk.size, f.end)
	case l.rep == 0 && c.chunk.values != g.rows:
		return nil, fmt.Errorf("the column claims %d values, and its row group %d rows", c.chunk.values, g.rows)
	}
	if err := checkCodec(c.chunk.codec); err != nil {
		return nil, err
	}
	c.pages = c.locations()
	c.restart()
	return c, nil
}

func (c *cursor) restart() {
	c.next, c.seen, c.row, c.begun, c.left, c.has = c.chunk.start, 0, 0, false, 0, false
}

// end is the offset behind the last page.
func (c *cursor) end() int64 { return c.chunk.start + c.chunk.size }

// maxIndex bounds the list of pages of a chunk, in bytes.
const maxIndex = 16 << 20

// locations are the pages, if there is a list of them that can be right: seeking goes from page to page without one.
func (c *cursor) locations() []location {
	if c.chunk.index <= 0 || c.chunk.indexSize <= 0 || c.chunk.indexSize > maxIndex ||
		c.chunk.index > c.file.end-c.chunk.indexSize {
		return nil
	}
	b := make([]byte, c.chunk.indexSize)
	if _, err := c.file.r.ReadAt(b, c.chunk.index); err != nil {
		return nil
	}
	pages, err := parseIndex(b)
	if err != nil || len(pages) == 0 || pages[0].row != 0 {
		return nil
	}
	last := location{c.chunk.start - 1, -1}
	for _, page := range pages {
		if page.offset <= last.offset || page.offset >= c.end() || page.row <= last.row && page.row != 0 ||
			page.row >= max(1, int64(c.rows)) {
			return nil
		}
		last = page
	}
	return pages
}

// seek goes to the first value of a row.
func (c *cursor) seek(ctx context.Context, row int) error {
	if row < c.row {
		c.restart()
	}
	for c.row < row {
		if c.left == 0 && !c.has {
			c.jump(row)
			if err := c.load(ctx, row); err != nil {
				return err
			}
			continue
		}
		if err := c.pass(row - c.row); err != nil {
			return c.at(err)
		}
	}
	return nil
}

// jump goes to the page of a row, by the list of pages, if that is another than the next one.
func (c *cursor) jump(row int) {
	i := sort.Search(len(c.pages), func(i int) bool { return c.pages[i].row > int64(row) }) - 1
	if i >= 0 && c.pages[i].offset > c.next {
		c.next, c.row, c.begun, c.seen = c.pages[i].offset, int(c.pages[i].row), false, -1
	}
}

// pass goes n rows on, or to the end of the page.
func (c *cursor) pass(n int) error {
	if c.leaf.rep == 0 {
		n = min(n, c.left)
		there, err := n, error(nil)
		if c.leaf.def > 0 {
			there, err = c.defs.skip(n, uint32(c.leaf.def))
		}
		if err != nil {
			return err
		}
		c.left, c.row = c.left-n, c.row+n
		return c.values.skip(there)
	}
	for ; c.left > 0 || c.has; c.has = false {
		if err := c.levels(); err != nil {
			return err
		}
		if c.rep == 0 && c.begun {
			c.row, c.begun = c.row+1, false
			if n--; n == 0 {
				return nil // with the levels of the row's first value
			}
		}
		c.begun = true
		if c.def == c.leaf.def {
			if err := c.values.skip(1); err != nil {
				return err
			}
		}
	}
	return nil
}

// levels reads those of the next value of the page.
func (c *cursor) levels() error {
	if c.has {
		return nil
	}
	var rep, def uint32
	var err error
	if c.leaf.rep > 0 {
		if rep, err = c.reps.next(); err != nil {
			return err
		}
	}
	if c.leaf.def > 0 {
		if def, err = c.defs.next(); err != nil {
			return err
		}
	}
	if int(rep) > c.leaf.rep || int(def) > c.leaf.def {
		return errors.New("its levels are too high")
	}
	c.left--
	c.rep, c.def, c.has = int(rep), int(def), true
	return nil
}

// peek reports whether the row goes on, or is still to begin, with the next value, whose levels are then rep and def.
func (c *cursor) peek(ctx context.Context) (bool, error) {
	for !c.has {
		if c.left > 0 {
			if err := c.levels(); err != nil {
				return false, c.at(err)
			}
			break
		}
		if c.begun && (c.leaf.rep == 0 || c.done()) {
			return false, nil
		}
		if err := c.load(ctx, c.row); err != nil {
			return false, err
		}
	}
	if !c.begun && c.rep > 0 {
		return false, c.at(errDisagree)
	}
	return !c.begun || c.rep > 0, nil
}

// done reports whether there are no more pages.
func (c *cursor) done() bool { return c.next >= c.end() || c.seen >= c.chunk.values }

// take is the next value, whose levels have been peeked at; nothing for null.
func (c *cursor) take() (d datum, err error) {
	c.has, c.begun = false, true
	if c.def == c.leaf.def {
		d, err = c.values.next()
	}
	return d, c.at(err)
}

// finish ends the row. It is an error if values of it are left.
func (c *cursor) finish(ctx context.Context) error {
	if c.leaf.rep > 0 {
		if more, err := c.peek(ctx); err != nil {
			return err
		} else if more {
			return c.at(errDisagree)
		}
	}
	c.row, c.begun = c.row+1, false
	return nil
}

// at says at which page an error is.
func (c *cursor) at(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the page at byte %d: %w", c.page, err)
}

// load goes on to the next page of data with values behind a row's beginning, and passes over pages whose rows all
// stand before it.
func (c *cursor) load(ctx context.Context, row int) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.done() {
			return fmt.Errorf("the column ends before row %d of the %d of its row group", c.row, c.rows)
		}
		c.page = c.next
		head, body, err := c.head(c.next)
		if err != nil {
			return c.at(err)
		}
		c.next = body + head.size
		switch head.kind {
		case indexPage:
		case dictionaryPage:
			c.wordsAt = c.page
		case dataPage, dataPage2:
			passed, err := c.skip(&head, body, row)
			if err == nil && !passed {
				return c.at(c.open(head, body))
			}
			if err != nil {
				return c.at(err)
			}
		default:
			return c.at(fmt.Errorf("it is of kind %d, which is not known here", head.kind))
		}
	}
}

// skip counts the values of a page of data, and goes past it if all its rows stand before the given one.
func (c *cursor) skip(head *pageHead, body int64, row int) (bool, error) {
	if c.seen >= 0 {
		c.seen += head.values
	}
	if c.leaf.rep == 0 {
		if c.seen > c.chunk.values {
			return false, fmt.Errorf("it has more than the %d values that its column claims", c.chunk.values)
		}
		head.rows = head.values
	}
	switch {
	case head.rows < 0 && c.row < row:
		last, err := c.lastRow(*head, body)
		if err != nil || last >= row {
			return false, err
		}
		c.row, c.begun = last, true
	case head.rows >= 0 && !c.begun && int64(c.row)+head.rows <= int64(row):
		c.row += int(head.rows)
	case head.rows >= 0 && c.begun && head.kind == dataPage2 && int64(c.row)+1+head.rows <= int64(row):
		c.row, c.begun = c.row+1+int(head.rows), false
	default:
		return false, nil
	}
	return true, nil
}
