package table

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// BenchmarkRows reads all rows of a file, or one column of them.
func BenchmarkRows(b *testing.B) {
	var lines, cells strings.Builder
	cells.WriteString("id,prompt\n")
	for i := range 5000 {
		prompt := strings.Repeat("some words of a prompt ", 20+i%50)
		fmt.Fprintf(&lines, "{\"id\": %d, \"prompt\": %q}\n", i, prompt)
		fmt.Fprintf(&cells, "%d,%s\n", i, prompt)
	}
	array := "[" + strings.ReplaceAll(strings.TrimSpace(lines.String()), "\n", ",\n") + "]"
	for _, c := range []struct{ name, path, column string }{
		{"Parquet", "testdata/hub.parquet", "problem"},
		{"lines", written(b, "a.jsonl", lines.String()), "id"},
		{"array", written(b, "a.json", array), "id"},
		{"CSV", written(b, "a.csv", cells.String()), "id"},
	} {
		for _, columns := range [][]string{nil, {c.column}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, len(columns)), func(b *testing.B) { benchmarkRows(b, c.path, columns) })
		}
	}
}

func benchmarkRows(b *testing.B, path string, columns []string) {
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		table, err := Open(context.Background(), path)
		assert.Fine(b, err)
		numbers := make([]int, table.Len())
		for i := range numbers {
			numbers[i] = i
		}
		assert.Fine(b, table.Rows(context.Background(), numbers, columns, func(int, []byte) error { return nil }))
		rows += len(numbers)
		_ = table.Close() // it was only read
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
