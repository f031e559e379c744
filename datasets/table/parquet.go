package table

import (
	"context"
	"fmt"
	"os"
	"slices"

	"benchtop/internal/hf/parquet"
)

// parquetTable is a Parquet file.
type parquetTable struct {
	file  *os.File
	table *parquet.File
	row   []byte // one buffer for all rows
}

func openParquet(file *os.File, size int64) (Table, error) {
	table, err := parquet.Open(file, size)
	if err != nil {
		return nil, err
	}
	return &parquetTable{file: file, table: table}, nil
}

func (t *parquetTable) Len() int          { return t.table.Len() }
func (t *parquetTable) Columns() []string { return t.table.Columns() }

// Close closes the file.
func (t *parquetTable) Close() error {
	t.table.Close()
	return t.file.Close()
}

// Rows reads the columns of each row.
func (t *parquetTable) Rows(ctx context.Context, numbers []int, columns []string, do func(int, []byte) error) error {
	if err := checkNumbers(numbers, t.Len()); err != nil {
		return err
	}
	var chosen []int
	for i, column := range t.Columns() {
		if columns == nil || slices.Contains(columns, column) {
			chosen = append(chosen, i)
		}
	}
	for _, column := range columns {
		if !slices.Contains(t.Columns(), column) {
			return noColumn(column, t.Columns())
		}
	}
	for _, n := range numbers {
		if err := ctx.Err(); err != nil {
			return err
		}
		object, err := t.table.Row(ctx, t.row[:0], n, chosen)
		if err == nil {
			t.row = object
			err = do(n, object)
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
	}
	return nil
}
