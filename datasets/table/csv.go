package table

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"benchtop/datasets/jsonscan"
	"benchtop/datasets/textfile"
)

// openCSV finds the rows of a table with a header. The values of its rows are strings; a row may be short of some.
func openCSV(ctx context.Context, t *textTable) (Table, error) {
	head := make([]byte, textfile.HeadLen)
	n, _ := t.file.ReadAt(head, 0) // as before
	mark, err := textfile.CheckHead(head[:n])
	if err != nil {
		return nil, err
	}
	rows, err := textfile.NewCSV(io.NewSectionReader(t.file, 0, t.size), "expected a table with a header")
	if err != nil {
		return nil, err
	}
	t.columns, t.object, t.end = rows.Header, t.csvObject, t.size
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		start := int64(mark) + rows.Offset()
		if _, _, err := rows.Next(); errors.Is(err, io.EOF) {
			return t, nil
		} else if err != nil {
			return nil, err
		}
		t.starts = append(t.starts, start)
	}
}

// csvObject is the object of a row with those columns.
func (t *textTable) csvObject(raw []byte, _ bool, columns []string) ([]byte, error) {
	r := csv.NewReader(bytes.NewReader(raw))
	r.FieldsPerRecord = -1
	row, err := r.Read()
	for len(row) == 1 && strings.TrimSpace(row[0]) == "" && err == nil {
		row, err = r.Read()
	}
	if err != nil {
		return nil, err
	}
	object := []byte{'{'}
	for i, cell := range row[:min(len(row), len(t.columns))] {
		if columns == nil || slices.Contains(columns, t.columns[i]) {
			object = append(object, jsonscan.Quote(t.columns[i])...)
			object = append(object, ':')
			object = append(object, jsonscan.Quote(cell)...)
			object = append(object, ',')
		}
	}
	return append(bytes.TrimSuffix(object, []byte{','}), '}'), nil
}
