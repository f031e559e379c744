package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/dashboard"
)

// sizes are the titles of the columns of parallel sizes, the usual one first.
var sizes = [][]string{{"TP Size", "tp_size", "tensor_parallel_size"}, {"PP Size", "pp_size", "pipeline_parallel_size"}}

// size is a parallel size of a row, 1 where it has none.
func size(r dashboard.Row, titles []string) int {
	for _, t := range titles {
		if v, ok := r.Number(t); ok && v >= 1 && v < 1<<20 {
			return int(v)
		}
	}
	return 1
}

// Split parts rows of serving by their tensor and pipeline parallel sizes. Other rows stay together with the first
// part.
func Split(rows []dashboard.Row) (parts []Configuration) {
	type pair struct{ tp, pp int }
	of := map[pair][]dashboard.Row{}
	var order []pair
	for _, r := range rows {
		s := pair{size(r, sizes[0]), size(r, sizes[1])}
		if of[s] == nil {
			order = append(order, s)
		}
		of[s] = append(of[s], r)
	}
	slices.SortFunc(order, func(a, b pair) int { return cmp.Or(a.tp-b.tp, a.pp-b.pp) })
	for _, s := range order {
		parts = append(parts, Configuration{Label: fmt.Sprintf("tp%d_pp%d", s.tp, s.pp), Rows: of[s]})
	}
	return parts
}

// Text is a value of a key, "" for an absent one.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		if math.IsInf(v, 0) {
			return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, 64), "+"))
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
