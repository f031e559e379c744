package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

// rows reads a file row by row: CSV with a header, or an object on each line.
type rows struct {
	columns []string // of the first row
	csv     *textfile.CSV
	lines   *textfile.JSONLines // where csv is nil
	first   []byte              // an object that was read for its names

	names  []string // of the columns wanted
	places []int    // of these in CSV
	values [][]byte // of a row
}

const forms = "expected a table with a header, or an object on each line"

// newRows begins with the names of the columns.
func newRows(r io.Reader) (t *rows, err error) {
	text := bufio.NewReaderSize(r, 1<<12)
	head, err := text.Peek(1 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	t = &rows{}
	if begin := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n"); len(begin) == 0 ||
		begin[0] != '{' && begin[0] != '[' {
		if t.csv, err = textfile.NewCSV(text, forms); err != nil {
			return nil, err
		}
		for _, name := range t.csv.Header {
			t.columns = append(t.columns, strings.TrimSpace(name))
		}
		return t, nil
	}
	if t.lines, err = textfile.NewJSONLines(text); err != nil {
		return nil, err
	}
	if t.first, err = t.lines.Next(); err != nil { // it is not the end
		return nil, err
	}
	for _, member := range jsonscan.Dict(t.first) {
		t.columns = append(t.columns, member.Name)
	}
	return t, nil
}

// pick chooses the columns, which CSV must have.
func (t *rows) pick(names ...string) {
	t.names, t.values = names, make([][]byte, len(names))
	for _, name := range names {
		t.places = append(t.places, slices.Index(t.columns, name))
	}
}

// next returns the values of the columns in the next row, as JSON, nil for one that the row lacks, and its line; or
// io.EOF. They are good until the next call.
func (t *rows) next() (values [][]byte, line int, err error) {
	if t.csv != nil {
		cells, line, err := t.csv.Next()
		for i, place := range t.places {
			t.values[i] = t.values[i][:0]
			if place < len(cells) {
				t.values[i] = jsonscan.AppendQuoted(t.values[i], []byte(cells[place]))
			}
		}
		return t.values, line, err
	}
	object := t.first
	if t.first = nil; object == nil {
		if object, err = t.lines.Next(); err != nil {
			return nil, 0, err
		}
	}
	return jsonscan.Fields(object, t.names...), t.lines.Number, nil
}

// roles are those of the columns that a trace needs, in the order of known.
var roles = []string{"timestamp", "input", "output"}

// in completes the columns of a trace, which needs all of roles.
func (c Columns) in(there []string) (Columns, error) {
	c, err := c.Complete(there)
	for i, role := range roles {
		if err == nil && *c.all()[i] == "" {
			err = fmt.Errorf("no column has a known name for the %s; give it with --trace-columns %s=NAME; the "+
				"columns are %s", role, role, textfile.Names(there))
		}
	}
	return c, err
}

// ParseColumns reads names of columns, as "timestamp=NAME,input=NAME,output=NAME"; those that are left out are found.
func ParseColumns(text string) (c Columns, err error) {
	if text == "" {
		return c, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		role, name, _ := strings.Cut(part, "=")
		i := slices.Index(roles, strings.TrimSpace(role))
		if name = strings.TrimSpace(name); i < 0 || name == "" {
			return Columns{}, fmt.Errorf("expected timestamp=NAME,input=NAME,output=NAME, or some of these: got %s",
				textfile.Quote(part))
		}
		to := c.all()[i]
		if *to != "" {
			return Columns{}, fmt.Errorf("the column of the %s is named twice", roles[i])
		}
		*to = name
	}
	return c, nil
}
