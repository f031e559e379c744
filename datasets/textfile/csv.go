package textfile

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// CSV reads a table row by row. It follows pandas: rows may be short of cells
// but not have too many, blank lines mean nothing.
type CSV struct {
	text   *Reader
	limit  *rowLimit
	csv    *csv.Reader
	Header []string
	Line   int // of the header
}

// NewCSV begins with the header. form says what the table should be, for the case that there is none.
func NewCSV(r io.Reader, form string) (*CSV, error) {
	text, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	limit := &rowLimit{r: text}
	c := &CSV{text: text, limit: limit, csv: csv.NewReader(limit)}
	c.csv.FieldsPerRecord, c.csv.ReuseRecord = -1, true
	row, line, err := c.Next()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the file is empty; %s", form)
	}
	if err != nil {
		return nil, err
	}
	c.Header, c.Line = append(c.Header, row...), line // the row itself is used again
	return c, nil
}

// Offset is where the next row begins, or blank lines before it, behind a byte order mark.
func (c *CSV) Offset() int64 { return c.csv.InputOffset() }

// Next returns the next row and its line, or io.EOF. The row is good until the next call.
func (c *CSV) Next() (row []string, line int, err error) {
	for {
		c.limit.left = maxRow
		begun := c.csv.InputOffset()
		row, err = c.csv.Read()
		if errors.Is(err, errLargeRow) {
			return nil, 0, &LineError{c.text.Line(begun), err}
		}
		if err != nil {
			return nil, 0, c.located(err)
		}
		line, _ = c.csv.FieldPos(0)
		c.text.Line(c.csv.InputOffset()) // lets it forget the lines before
		switch {
		case len(row) == 1 && strings.TrimSpace(row[0]) == "":
			continue
		case c.Header != nil && len(row) > len(c.Header):
			return nil, 0,
				&LineError{line, fmt.Errorf("%d cells, more than the %d of the header; are commas in quotes?", len(row),
					len(c.Header))}
		}
		return row, line, nil
	}
}

// located adds the line to an error of the csv package.
func (c *CSV) located(err error) error {
	parse, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		return err // the end, or of the file system, or of the text, which knows its line
	}
	if parse.StartLine != parse.Line {
		return &LineError{parse.StartLine,
			fmt.Errorf("not CSV: a quote that opens here goes wrong in line %d: %w", parse.Line, parse.Err)}
	}
	return &LineError{parse.Line, fmt.Errorf("not CSV: %w", parse.Err)}
}

// maxRow bounds a row, in bytes: a quote that is not closed would make a row of the rest of the file.
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
