package table

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// wanted are the rows that pyarrow reads from a file of testdata.
func wanted(t testing.TB, name string) (rows []map[string]any) {
	t.Helper()
	file := assert.Must(os.Open(filepath.Join("testdata", name+".jsonl")))(t)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		rows = append(rows, decoded(t, lines.Bytes()))
	}
	return rows
}

// decoded is an object in which numbers are texts, floating-point numbers in one way of writing.
func decoded(t testing.TB, object []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	var row map[string]any
	if err := d.Decode(&row); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	return simplified(row).(map[string]any)
}

func simplified(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = simplified(value)
		}
	case []any:
		for i, value := range v {
			v[i] = simplified(value)
		}
	case json.Number:
		if f, err := v.Float64(); strings.ContainsAny(string(v), ".e") && err == nil {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
		return string(v)
	}
	return v
}

var parquetFiles = []string{"hub", "hub_zstd_index", "hub_v2_gzip", "hub_plain", "hub_snappy_v2", "hub_brotli", "types",
	"types_older", "lists_older", "int96", "encodings", "empty",
	"polars", "duckdb_v1", "duckdb_v2", "fastparquet"}

// Every value is as pyarrow has it, whichever rows and columns are read, and in whichever order of calls.
func TestParquet(t *testing.T) {
	for _, name := range parquetFiles {
		t.Run(name, func(t *testing.T) {
			table := assert.Must(Open(context.Background(), filepath.Join("testdata", name+".parquet")))(t)
			defer table.Close()
			want := wanted(t, name)
			assert.Need(t, table.Len(), len(want), "rows")
			compareRows(t, table, want, nil, 1, 0)
			for _, step := range []int{2, 7, 31} {
				compareRows(t, table, want, nil, step, step/2)
			}
			for _, column := range table.Columns() {
				compareRows(t, table, want, []string{column}, 1, 0)
				compareRows(t, table, want, []string{column}, 13, 5)
			}
		})
	}
}

// compareRows reads every so manieth row.
func compareRows(t *testing.T, table Table, want []map[string]any, columns []string, step, first int) {
	t.Helper()
	var numbers []int
	for n := first; n < table.Len(); n += step {
		numbers = append(numbers, n)
	}
	read := 0
	err := table.Rows(context.Background(), numbers, columns, func(n int, object []byte) error {
		got, all := decoded(t, object), want[n]
		read++
		if columns == nil && len(got) != len(all) {
			return fmt.Errorf("%d columns, want %d", len(got), len(all))
		}
		for name, value := range got {
			if !reflect.DeepEqual(value, all[name]) {
				return fmt.Errorf("column %s is %v, want %v", name, value, all[name])
			}
		}
		return nil
	})
	if err != nil || read != len(numbers) {
		t.Errorf("columns %v, every %d: %d rows of %d, %v", columns, step, read, len(numbers), err)
	}
}

func TestParquetColumns(t *testing.T) {
	rows, err := all("testdata/hub.parquet", []int{1}, []string{"label", "language"})
	if err != nil || len(rows) != 1 || rows[0] != `1 {"language":"python","label":1}` {
		t.Errorf("got %s, %v", rows, err)
	}
	_, err = all("testdata/hub.parquet", nil, []string{"answer"})
	if !errors.Is(err, ErrNoColumn) || err.Error() != `no such column "answer"; the columns are "image", `+
		`"conversation", "images", "language", "problem", "label"` {
		t.Errorf("got %v", err)
	}
}
