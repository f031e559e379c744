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

// Split parts rows of serving by their tensor and pipeline parallel sizes, which are 1 where a row has none. Other rows stay together with
// the first part.
func Split(rows []dashboard.Row) (parts []Configuration) {
	size := func(r dashboard.Row, titles ...string) int {
		for _, t := range titles {
			if v, ok := r.Number(t); ok && v >= 1 && v < 1<<20 {
				return int(v)
			}
		}
		return 1
	}
	type sizes struct{ tp, pp int }
	of := map[sizes][]dashboard.Row{}
	var order []sizes
	for _, r := range rows {
		s := sizes{size(r, "TP Size", "tp_size", "tensor_parallel_size"), size(r, "PP Size", "pp_size", "pipeline_parallel_size")}
		if of[s] == nil {
			order = append(order, s)
		}
		of[s] = append(of[s], r)
	}
	slices.SortFunc(order, func(a, b sizes) int { return cmp.Or(a.tp-b.tp, a.pp-b.pp) })
	for _, s := range order {
		parts = append(parts, Configuration{fmt.Sprintf("tp%d_pp%d", s.tp, s.pp), of[s]})
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
