// Package parquet reads rows of Parquet files by their numbers, as JSON. It reads the columns asked for and passes over
// pages that stand before a row without unpacking them, so that a file of any size costs the memory of a page of each
// column.
//
//	file ── row groups ── a chunk of each column ── pages of values, each with its levels of repetition and definition
//
// Lengths in a file are checked before memory is taken for them. A broken file is an error that says where it is
// broken.
package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
)

// Magic is what a file begins and ends with.
const Magic = "PAR1"

// File is an open file. One goroutine uses it.
type File struct {
	r       io.ReaderAt
	end     int64 // offset of the footer, behind all columns
	columns []*node
	leaves  []*leaf
	groups  []group
	starts  []int // first row of each row group, and the number of rows behind the last one
	unpack  unpacker
	large   int64 // size in bytes from which on a page is read piece by piece
	most    int   // bytes of a row
	claims  int64 // rows of the file, or values of a page, that it can claim

	group   int       // of the cursors
	cursors []*cursor // of the leaves; nil where none has been needed
}

// maxFooter bounds the footer in bytes.
const maxFooter = 256 << 20

// Open reads the footer of a file of that size.
func Open(r io.ReaderAt, size int64) (*File, error) {
	const tail int64 = 4 + int64(len(Magic))
	var head, foot [tail]byte
	if _, err := r.ReadAt(head[:len(Magic)], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(head[:len(Magic)]) != Magic {
		return nil, fmt.Errorf("the file is not Parquet: it begins with %q", head[:min(int64(len(Magic)), size)])
	}
	if size < int64(len(Magic))+tail {
		return nil, errCut
	}
	if _, err := r.ReadAt(foot[:], size-tail); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(foot[4:]) != Magic {
		return nil, errCut
	}
	length := int64(binary.LittleEndian.Uint32(foot[:4]))
	end := size - tail - length
	if end < int64(len(Magic)) || length > maxFooter {
		return nil, fmt.Errorf("the footer claims %d bytes of a file of %d; is the file complete?", length, size)
	}
	b := make([]byte, length)
	if n, err := r.ReadAt(b, end); n < len(b) {
		return nil, err
	}
	f := &File{r: r, end: end, group: -1, large: largePage, most: maxRow}
	if err := f.describe(b, size); err != nil {
		return nil, fmt.Errorf("the footer is broken: %w", err)
	}
	return f, nil
}

var errCut = errors.New("the file breaks off: a Parquet file ends with a footer; is the download complete?")

// describe reads the footer.
func (f *File) describe(footer []byte, size int64) error {
	m, err := parseMetadata(footer)
	if err != nil {
		return err
	}
	if f.columns, f.leaves, err = newSchema(m.schema); err != nil {
		return err
	}
	f.cursors = make([]*cursor, len(f.leaves))
	rows, bytes := int64(0), int64(0)
	f.starts, f.claims = append(f.starts, 0), max(1<<20, size<<10)
	for i := range m.groups {
		if rows += m.groups[i].rows; rows > f.claims {
			return fmt.Errorf("it claims %d rows in %d bytes", rows, size)
		}
		for _, c := range m.groups[i].chunks { // several in one place would multiply it
			if bytes += min(max(c.size, 0), size); bytes > size {
				return fmt.Errorf("its columns claim more than the %d bytes of the file", size)
			}
		}
		f.starts = append(f.starts, int(rows))
	}
	if f.groups = m.groups; m.rows != 0 && m.rows != rows {
		return fmt.Errorf("it claims %d rows, and its row groups have %d", m.rows, rows)
	}
	return nil
}

// Len is the number of rows.
func (f *File) Len() int { return f.starts[len(f.starts)-1] }

// Columns are the names of the columns.
func (f *File) Columns() []string {
	names := make([]string, len(f.columns))
	for i, column := range f.columns {
		names[i] = column.name
	}
	return names
}

// Close lets go of the buffers. The file itself stays open.
func (f *File) Close() {
	f.unpack.close()
	f.cursors = nil
}

// Row appends a row as a JSON object with the columns of those numbers. Rows that ascend are read without going back.
func (f *File) Row(ctx context.Context, dst []byte, number int, columns []int) ([]byte, error) {
	g := sort.SearchInts(f.starts, number+1) - 1
	if g < 0 || g >= len(f.groups) {
		return nil, fmt.Errorf("the file has %d rows", f.Len())
	}
	r := row{ctx: ctx, f: f, dst: append(dst, '{'), limit: len(dst) + f.most}
	for i, at := range columns {
		if i > 0 {
			r.dst = append(r.dst, ',')
		}
		column := f.columns[at]
		r.dst = append(r.dst, column.key...)
		if err := r.column(column, g, number); err != nil {
			clear(f.cursors) // stand anywhere
			return nil, fmt.Errorf("column %q, row group %d: %w", column.name, g, err)
		}
	}
	return append(r.dst, '}'), nil
}
