package plot

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"benchtop/internal/table"
)

// gridKeys are the figures of a grid, with their titles.
var gridKeys = [][2]string{{"request_throughput", "req/s"}, {"output_throughput", "tok/s"},
	{"median_ttft_ms", "TTFT p50 ms"}, {"p99_ttft_ms", "TTFT p99 ms"}, {"median_tpot_ms", "TPOT p50 ms"},
	{"p99_tpot_ms", "TPOT p99 ms"}, {"failed", "failed"}}

// Grid has a row for each combination of a sweep, by the name of its directory and the numbers in it, with the means of
// its runs.
func Grid(records []Record) *table.Table {
	t := table.New("Combinations, means of their runs", "combination", "runs")
	for _, k := range gridKeys {
		t.Columns = append(t.Columns, table.Column{Name: k[1]})
	}
	for from, to := 0, 0; from < len(records); from = to {
		dir := filepath.Dir(records[from].Path)
		for to < len(records) && filepath.Dir(records[to].Path) == dir {
			to++
		}
		row := []any{filepath.Base(dir), to - from}
		for _, k := range gridKeys {
			sum, n := 0.0, 0
			for i := from; i < to; i++ {
				if v, _ := records[i].field(k[0]); !math.IsNaN(v) {
					sum, n = sum+v, n+1
				}
			}
			row = append(row, sum/float64(n)) // NaN for none
		}
		t.Add(row...)
	}
	slices.SortStableFunc(t.Rows, func(a, b []table.Cell) int {
		return strings.Compare(padded(a[0].Text), padded(b[0].Text))
	})
	return t
}

var digits = regexp.MustCompile(`[0-9]+`)

// padded is a name whose numbers are so long that they are in order of their values.
func padded(name string) string {
	return digits.ReplaceAllStringFunc(name, func(n string) string { return fmt.Sprintf("%12s", n) })
}
