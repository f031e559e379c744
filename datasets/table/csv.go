package table

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
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
		t.starts.Add(start)
	}
}

// csvObject is the object of a row with those columns.
func (t *textTable) csvObject(raw []byte, _ bool, columns []string) ([]byte, error) {
	row, err := cells(raw)
	if err != nil {
		return nil, err
	}
	t.part = append(t.part[:0], '{')
	for i, cell := range row[:min(len(row), len(t.columns))] {
		if columns == nil || slices.Contains(columns, t.columns[i]) {
			t.part = jsonscan.AppendQuoted(t.part, []byte(t.columns[i]))
			t.part = append(t.part, ':')
			t.part = jsonscan.AppendQuoted(t.part, cell)
			t.part = append(t.part, ',')
		}
	}
	t.part = append(bytes.TrimSuffix(t.part, []byte{','}), '}')
	return t.part, nil
}

// cells are those of a row, behind lines that are blank.
func cells(raw []byte) (row [][]byte, err error) {
	if bytes.IndexByte(raw, '"') < 0 {
		for line := range bytes.Lines(raw) {
			if len(bytes.TrimSpace(line)) > 0 {
				line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
				return bytes.Split(line, []byte{','}), nil
			}
		}
	}
	r := csv.NewReader(bytes.NewReader(raw))
	r.FieldsPerRecord = -1
	texts, err := r.Read()
	for len(texts) == 1 && strings.TrimSpace(texts[0]) == "" && err == nil {
		texts, err = r.Read()
	}
	for _, text := range texts {
		row = append(row, []byte(text))
	}
	return row, err
}
