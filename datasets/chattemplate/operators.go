package chattemplate

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

func signed(v any, sign int) (any, error) {
	switch v := v.(type) {
	case int:
		return sign * v, nil
	case float64:
		return float64(sign) * v, nil
	}
	return nil, fmt.Errorf("a sign before %s", typeName(v))
}

func (r *run) binary(sign string, a, b any) (any, error) {
	switch sign {
	case "~":
		return r.concat(a, b)
	case "in":
		return r.contains(a, b)
	case "==", "!=":
		same, err := equal(a, b)
		return same == (sign == "=="), err
	case "<", "<=", ">", ">=":
		return compare(sign, a, b)
	}
	return r.arithmetic(sign, a, b)
}

// concat is Jinja's ~.
func (r *run) concat(a, b any) (any, error) {
	x, err := text(a)
	if err != nil {
		return nil, err
	}
	y, err := text(b)
	if err != nil {
		return nil, err
	}
	return x + y, r.long(len(x) + len(y))
}

// compare is <, <=, > and >=, of numbers or of strings.
func compare(op string, a, b any) (any, error) {
	var order int
	x, aNumber := numeric(a)
	y, bNumber := numeric(b)
	s, aText := a.(string)
	t, bText := b.(string)
	switch {
	case aNumber && bNumber:
		order = cmp.Compare(x, y)
		if i, ok := a.(int); ok {
			if j, ok := b.(int); ok {
				order = cmp.Compare(i, j)
			}
		}
	case aText && bText:
		order = strings.Compare(s, t) // by code points, as UTF-8 keeps their order
	default:
		return nil, fmt.Errorf("cannot compare %s with %s", typeName(a), typeName(b))
	}
	switch op {
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	}
	return order >= 0, nil
}

// contains is Python's a in b.
func (r *run) contains(a, b any) (bool, error) {
	switch b := b.(type) {
	case string:
		s, ok := a.(string)
		if !ok {
			return false, fmt.Errorf("cannot look for %s in a str", typeName(a))
		}
		return strings.Contains(b, s), r.spend(len(b) >> 6)
	case *dict:
		if _, err := normal(a); err != nil {
			return false, err
		}
		_, found := b.get(a)
		return found, nil
	case *stream:
		return false, fmt.Errorf("cannot look into a generator")
	}
	items, err := r.iterate(b)
	if err != nil {
		return false, err
	}
	for _, item := range items {
		if same, err := equal(a, item); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// arithmetic is + - * / // and %. What is not the same in Go and Python is refused.
func (r *run) arithmetic(op string, a, b any) (any, error) {
	switch x := a.(type) {
	case int:
		if y, ok := b.(int); ok {
			return integers(op, x, y)
		}
		if y, ok := b.(float64); ok {
			return floats(op, float64(x), y)
		}
	case float64:
		if y, ok := b.(float64); ok {
			return floats(op, x, y)
		}
		if y, ok := b.(int); ok {
			return floats(op, x, float64(y))
		}
	case string:
		if y, ok := b.(string); ok && op == "+" {
			return x + y, r.long(len(x) + len(y))
		}
		if y, ok := b.(int); ok && op == "*" {
			return r.repeat(x, y)
		}
	case *list:
		if y, ok := b.(*list); ok && op == "+" && x.kind == y.kind && x.kind <= isTuple {
			return &list{x.kind, slices.Concat(x.items, y.items)}, r.spend(len(x.items) + len(y.items))
		}
	}
	return nil, fmt.Errorf("cannot compute %s %s %s", typeName(a), op, typeName(b))
}

func (r *run) repeat(s string, n int) (any, error) {
	if n <= 0 || s == "" {
		return "", nil
	}
	if n > maxOutput/len(s) {
		return nil, errTooLong
	}
	return strings.Repeat(s, n), r.long(len(s) * n)
}

func integers(op string, x, y int) (any, error) {
	const limit = 1 << 53 // far above what a template counts, and below where anything overflows
	if op == "*" {
		high, low := bits.Mul64(uint64(magnitude(x)), uint64(magnitude(y)))
		if high != 0 || low > limit {
			return nil, fmt.Errorf("%d * %d is too large", x, y)
		}
		return x * y, nil
	}
	if magnitude(x) > limit || magnitude(y) > limit {
		return nil, fmt.Errorf("%d %s %d: too large", x, op, y)
	}
	switch op {
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	}
	if y == 0 {
		return nil, fmt.Errorf("%d %s 0", x, op)
	}
	rest := (x%y + y) % y
	switch op {
	case "/":
		return float64(x) / float64(y), nil
	case "//":
		return (x - rest) / y, nil
	case "%":
		return rest, nil
	}
	return nil, fmt.Errorf("the operator %s is not supported", op)
}

func magnitude(x int) int {
	if x == math.MinInt {
		return math.MaxInt
	}
	return max(x, -x)
}

func floats(op string, x, y float64) (any, error) {
	switch op {
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	case "*":
		return x * y, nil
	case "/":
		if y != 0 {
			return x / y, nil
		}
	}
	return nil, fmt.Errorf("cannot compute %s %s %s", floatText(x), op, floatText(y))
}
