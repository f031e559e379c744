package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Sort puts rows in the order of the table: by kind, then by name.
func Sort(rows []Row) {
	order := func(r Row) int { return slices.Index(kinds, KindOf(r)) }
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(order(a)-order(b), strings.Compare(fmt.Sprint(a["Test name"]), fmt.Sprint(b["Test name"])))
	})
}

// number reads a value as pandas does: texts that are no numbers are absent.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, !math.IsNaN(v)
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return f, (err == nil || math.IsInf(f, 0)) && !math.IsNaN(f)
	}
	return 0, false
}
