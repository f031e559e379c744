package chattemplate

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"benchtop/internal/pyjson"
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
		same, err := r.equal(a, b)
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
		if same, err := r.equal(a, item); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// arithmetic is + - * / // and %. An operation that differs between Go and Python is refused.
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
	return nil, fmt.Errorf("cannot compute %s %s %s", pyjson.Float(x), op, pyjson.Float(y))
}

// attribute looks for a method first, so that d.items is one whatever d holds.
func attribute(v any, name string) (any, error) {
	if strings.HasPrefix(name, "__") {
		return nil, fmt.Errorf("the attribute %q is not supported", name)
	}
	switch v := v.(type) {
	case undefined:
		return nil, fmt.Errorf("%s has no attribute %q", typeName(v), name)
	case nil:
		return undefined{name}, nil
	case *namespace:
		if value, found := v.get(name); found {
			return value, nil
		}
		return undefined{name}, nil
	case *loop:
		return v.attribute(name)
	}
	if method, err := method(v, name); method != nil || err != nil {
		return method, err
	}
	if d, ok := v.(*dict); ok {
		if value, found := d.get(name); found {
			return value, nil
		}
	}
	return undefined{name}, nil
}

// item is Jinja's a[b]: an item, else a method, else undefined.
func item(v, key any) (any, error) {
	switch v := v.(type) {
	case undefined:
		return nil, fmt.Errorf("%s has no item", typeName(v))
	case *dict:
		if value, found := v.get(key); found {
			return value, nil
		}
	case *list:
		if i, ok := key.(int); ok && v.kind != isView {
			if i = fromEnd(i, len(v.items)); i >= 0 && i < len(v.items) {
				return v.items[i], nil
			}
			return undefined{"item"}, nil
		}
	case string:
		if i, ok := key.(int); ok {
			runes := []rune(v)
			if i = fromEnd(i, len(runes)); i >= 0 && i < len(runes) {
				return string(runes[i]), nil
			}
			return undefined{"item"}, nil
		}
	}
	switch key := key.(type) {
	case string:
		return attribute(v, key)
	case bool, undefined:
		return nil, fmt.Errorf("%s is not an index", typeName(key))
	}
	return undefined{"item"}, nil
}

func fromEnd(i, n int) int {
	if i < 0 {
		return i + n
	}
	return i
}

// sliceOf is Python's a[b:c:d].
func sliceOf(v any, given []any) (any, error) {
	var bounds [3]*int
	for i, b := range given {
		switch b := b.(type) {
		case nil:
		case int:
			bounds[i] = &b
		default:
			return nil, fmt.Errorf("%s is not a bound of a slice", typeName(b))
		}
	}
	switch v := v.(type) {
	case string:
		runes, err := slice([]rune(v), bounds)
		return string(runes), err
	case *list:
		if v.kind != isView {
			items, err := slice(v.items, bounds)
			return &list{v.kind, items}, err
		}
	}
	return nil, fmt.Errorf("cannot take a slice of %s", typeName(v))
}

func slice[T any](s []T, bounds [3]*int) ([]T, error) {
	step := 1
	if bounds[2] != nil {
		step = *bounds[2]
	}
	if step != 1 && step != -1 {
		return nil, fmt.Errorf("slices with a step of %d are not supported", step)
	}
	low, high := 0, len(s)
	if step < 0 {
		low, high = -1, len(s)-1
	}
	bound := func(b *int, unset int) int {
		if b == nil {
			return unset
		}
		return min(max(fromEnd(*b, len(s)), low), high)
	}
	if step > 0 {
		from, to := bound(bounds[0], low), bound(bounds[1], high)
		return slices.Clone(s[from:max(from, to)]), nil
	}
	from, to := bound(bounds[0], high), bound(bounds[1], low)
	out := slices.Clone(s[to+1 : max(to, from)+1])
	slices.Reverse(out)
	return out, nil
}
