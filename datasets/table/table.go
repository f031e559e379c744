// Package table reads rows of files by their numbers: Parquet, JSON Lines, JSON arrays and CSV, each row as a JSON
// object. A file of any size costs the memory of a row, of a page of each column and, for text, of 8 bytes a row.
package table

import (
	"context"
	"errors"
	"fmt"

	"benchtop/datasets/textfile"
)

// Table is a file of rows. One goroutine uses it.
type Table interface {
	// Len is the number of rows.
	Len() int
	// Columns are the names of the columns, in their order; of JSON, those of the first row.
	Columns() []string
	// Rows calls do with each of the rows of those numbers, which count from 0 and ascend. The object has those of the
	// columns that the row has; all of them where columns is nil. It is do's until do returns. Binary values are
	// strings in base64. Errors, do's too, say where the row is. A column that the file lacks is an error with the
	// columns there.
	Rows(ctx context.Context, numbers []int, columns []string, do func(number int, object []byte) error) error
	// Close closes the file.
	Close() error
}

// ErrNoColumn is the error of a column that a file lacks.
var ErrNoColumn = errors.New("no such column")

// noColumn is the error of a column that is not among those of the file.
func noColumn(name string, there []string) error {
	return fmt.Errorf("%w %s; the columns are %s", ErrNoColumn, textfile.Quote(name), textfile.Names(there))
}

// checkNumbers makes sure that rows of those numbers are there, and asked for in their order.
func checkNumbers(numbers []int, rows int) error {
	last := -1
	for _, n := range numbers {
		if n <= last {
			return fmt.Errorf("row %d is asked for behind row %d", n, last)
		}
		if n >= rows {
			return fmt.Errorf("row %d is asked for, and the file has %d", n, rows)
		}
		last = n
	}
	return nil
}
