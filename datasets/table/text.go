package table

import (
	"bytes"
	"context"
	"os"
	"slices"
	"unicode/utf8"

	"benchtop/datasets/textfile"
)

// textTable is a file of text, with the offset of each row.
type textTable struct {
	file    *os.File
	size    int64
	columns []string
	// columns that the first row lacks and another has, as far as they have been asked for
	more    []string
	lacking []string               // columns that no row has, as far as they have been asked for
	starts  textfile.Blocks[int64] // of rows
	end     int64                  // of the last row
	array   bool                   // commas stand between rows
	window  textfile.Window
	part    []byte // one buffer for all rows with some of the columns
	// object makes JSON of the bytes from the start of a row to the start of the next one.
	object func(raw []byte, last bool, columns []string) ([]byte, error)
	// has reports whether a row has that column, though the first row has not.
	has func(ctx context.Context, column string) (bool, error)
}

func (t *textTable) Len() int          { return t.starts.Len() }
func (t *textTable) Columns() []string { return t.columns }
func (t *textTable) Close() error      { return t.file.Close() }

// Rows reads each row where it stands.
func (t *textTable) Rows(ctx context.Context, numbers []int, columns []string, do func(int, []byte) error) error {
	if err := checkNumbers(numbers, t.Len()); err != nil {
		return err
	}
	for _, column := range columns {
		if err := t.check(ctx, column); err != nil {
			return err
		}
	}
	for _, n := range numbers {
		if err := ctx.Err(); err != nil {
			return err
		}
		object, err := t.row(n, columns)
		if err == nil {
			err = do(n, object)
		}
		if err != nil {
			return t.located(n, err)
		}
	}
	return nil
}

// check makes sure that the file has a column.
func (t *textTable) check(ctx context.Context, column string) error {
	if slices.Contains(t.columns, column) || slices.Contains(t.more, column) {
		return nil
	}
	if t.has != nil && !slices.Contains(t.lacking, column) {
		if found, err := t.has(ctx, column); found || err != nil {
			return err
		}
		t.lacking = append(t.lacking, column)
	}
	return noColumn(column, slices.Concat(t.columns, t.more))
}

// row is the object of a row, good until the next call.
func (t *textTable) row(n int, columns []string) ([]byte, error) {
	raw, err := t.raw(n)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(raw) {
		return nil, textfile.ErrNotUTF8
	}
	return t.object(raw, n+1 == t.Len(), columns)
}

// raw are the bytes from the start of a row to the start of the next one, good until the next call.
func (t *textTable) raw(n int) ([]byte, error) {
	start, end := *t.starts.At(n), t.end
	if n+1 < t.Len() {
		end = *t.starts.At(n + 1)
	}
	if end-start > textfile.MaxObject {
		return nil, errLongRow
	}
	return t.window.Bytes(start, end)
}

// located says on which line a row begins.
func (t *textTable) located(n int, err error) error { return t.atOffset(*t.starts.At(n), err) }

// atOffset says on which line an error is.
func (t *textTable) atOffset(offset int64, err error) error {
	line := 1
	counted := t.each(context.Background(), 0, offset, func(chunk []byte, _ int64) error {
		line += bytes.Count(chunk, []byte{'\n'})
		return nil
	})
	if counted != nil {
		return err
	}
	return textfile.AtLine(line, err)
}

// each calls do with the parts of the file from start to end, each with its offset.
func (t *textTable) each(ctx context.Context, start, end int64, do func(chunk []byte, offset int64) error) error {
	buffer := make([]byte, 1<<18)
	for start < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := t.file.ReadAt(buffer[:min(int64(len(buffer)), end-start)], start)
		if n == 0 {
			return err
		}
		if err := do(buffer[:n], start); err != nil {
			return err
		}
		start += int64(n)
	}
	return nil
}
