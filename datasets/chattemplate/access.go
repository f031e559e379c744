package chattemplate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nikolalohinski/gonja/v2/exec"
)

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
	case exec.AttributeGetter: // gonja's loop
		return loopAttribute(v, name)
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
		return nil, fmt.Errorf("%s is no index", typeName(key))
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
			return nil, fmt.Errorf("%s is no bound of a slice", typeName(b))
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
