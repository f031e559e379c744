package datasets

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// csvRows reads a table row by row. It takes what pandas takes for one and the same table: rows may be short of cells
// but not have too many, blank lines mean nothing.
type csvRows struct {
	text   *textReader
	limit  *rowLimit
	csv    *csv.Reader
	header []string
	line   int // of the header
}

// newCSVRows reads the header. form says what the table should be, for the case that there is none.
func newCSVRows(r io.Reader, form string) (*csvRows, error) {
	text, err := newTextReader(r)
	if err != nil {
		return nil, err
	}
	limit := &rowLimit{r: text}
	c := &csvRows{text: text, limit: limit, csv: csv.NewReader(limit)}
	c.csv.FieldsPerRecord, c.csv.ReuseRecord = -1, true
	row, line, err := c.next()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the file is empty; %s", form)
	}
	if err != nil {
		return nil, err
	}
	c.header, c.line = append(c.header, row...), line // the row itself is used again
	return c, nil
}

// next returns the next row and its line, or io.EOF. The row is good until the next call.
func (c *csvRows) next() (row []string, line int, err error) {
	for {
		c.limit.left = maxRow
		begun := c.csv.InputOffset()
		row, err = c.csv.Read()
		if errors.Is(err, errLargeRow) {
			return nil, 0, &lineError{c.text.line(begun), err}
		}
		if err != nil {
			return nil, 0, c.located(err)
		}
		line, _ = c.csv.FieldPos(0)
		c.text.line(c.csv.InputOffset()) // lets it forget the lines before
		switch {
		case len(row) == 1 && strings.TrimSpace(row[0]) == "":
			continue
		case c.header != nil && len(row) > len(c.header):
			return nil, 0, &lineError{line, fmt.Errorf("%d cells, more than the %d of the header; are commas in quotes?", len(row), len(c.header))}
		}
		return row, line, nil
	}
}

// column is the place of a named column, or -1.
func (c *csvRows) column(name string) int {
	for i, cell := range c.header {
		if cell == name {
			return i
		}
	}
	return -1
}

// located adds the line to an error of the csv package.
func (c *csvRows) located(err error) error {
	parse, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		return err // the end, or of the file system, or of the text, which knows its line
	}
	if parse.StartLine != parse.Line {
		return &lineError{parse.StartLine, fmt.Errorf("not CSV: a quote that opens here goes wrong in line %d: %w", parse.Line, parse.Err)}
	}
	return &lineError{parse.Line, fmt.Errorf("not CSV: %w", parse.Err)}
}

// maxRow bounds a row, in bytes: a quote that nothing closes would make one of all the rest of a file.
const maxRow = 1 << 20

var errLargeRow = fmt.Errorf("a row is larger than %d KiB; is a quote never closed?", maxRow>>10)

// rowLimit fails when more has been read than a row may hold.
type rowLimit struct {
	r    io.Reader
	left int
}

func (l *rowLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLargeRow
	}
	n, err := l.r.Read(p)
	l.left -= n
	return n, err
}
