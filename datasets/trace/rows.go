package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"benchtop/datasets/jsonscan"
	"benchtop/datasets/textfile"
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
	if begin := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n"); len(begin) == 0 || begin[0] != '{' && begin[0] != '[' {
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

// next returns the values of the columns in the next row, as JSON, nil for one that the row lacks, and its line; or io.EOF. They are good
// until the next call.
func (t *rows) next() (values [][]byte, line int, err error) {
	if t.csv != nil {
		cells, line, err := t.csv.Next()
		for i, place := range t.places {
			t.values[i] = t.values[i][:0]
			if place < len(cells) {
				t.values[i] = appendQuoted(t.values[i], cells[place])
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

// appendQuoted appends a text as a JSON string.
func appendQuoted(dst []byte, text string) []byte {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		return append(dst, jsonscan.Quote(text)...)
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

// in completes the columns by well-known names, and makes sure that they are among those of a file.
func (c Columns) in(there []string) (Columns, error) {
	found := Find(there)
	for _, column := range []struct {
		role        string
		name, known *string
	}{
		{"timestamp", &c.Timestamp, &found.Timestamp},
		{"input", &c.Input, &found.Input},
		{"output", &c.Output, &found.Output},
	} {
		switch {
		case *column.name == "" && *column.known == "":
			return c, fmt.Errorf("no column of the %s has a name that is known; give it with --trace-columns %s=NAME; the columns are %s", column.role, column.role, listed(there))
		case *column.name == "":
			*column.name = *column.known
		case !slices.Contains(there, *column.name):
			return c, fmt.Errorf("there is no column %s; the columns are %s; give the right one with --trace-columns", quoted(*column.name), listed(there))
		}
	}
	return c, nil
}

// ParseColumns reads names of columns, as "timestamp=NAME,input=NAME,output=NAME"; those that are left out are found.
func ParseColumns(text string) (c Columns, err error) {
	if text == "" {
		return c, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		role, name, _ := strings.Cut(part, "=")
		to, ok := map[string]*string{"timestamp": &c.Timestamp, "input": &c.Input, "output": &c.Output}[strings.TrimSpace(role)]
		if name = strings.TrimSpace(name); !ok || name == "" {
			return Columns{}, fmt.Errorf("expected timestamp=NAME,input=NAME,output=NAME, or some of these: got %s", quoted(part))
		}
		if *to != "" {
			return Columns{}, fmt.Errorf("the column of the %s is named twice", strings.TrimSpace(role))
		}
		*to = name
	}
	return c, nil
}

// listed are names of columns, or the first of very many.
func listed(names []string) string {
	const most = 12
	var list []string
	for _, name := range names[:min(most, len(names))] {
		list = append(list, quoted(name))
	}
	if len(names) > most {
		list = append(list, "…")
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// quoted is a text in quotes, or its beginning.
func quoted(text string) string {
	const most = 60 // bytes
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}
