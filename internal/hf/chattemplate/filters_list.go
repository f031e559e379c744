package chattemplate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// path follows the attribute argument of a filter: names and numbers with dots between them.
func path(v, attribute any) (any, error) {
	switch a := attribute.(type) {
	case int:
		return item(v, a)
	case string:
		for part := range strings.SplitSeq(a, ".") {
			var key any = part
			if n, err := strconv.Atoi(part); err == nil {
				key = n
			}
			var err error
			if v, err = item(v, key); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
	return nil, fmt.Errorf("%s is not an attribute", typeName(attribute))
}

func filterMap(r *run, items, args []any) (any, error) {
	out := make([]any, len(items))
	for i, item := range items {
		var err error
		switch {
		case len(args) == 2 && !given(args[0]):
			out[i], err = path(item, args[1])
		case len(args) > 0:
			name, ok := args[0].(string)
			if !ok {
				return nil, fmt.Errorf("%s is not a filter", typeName(args[0]))
			}
			out[i], err = r.filter(name, append([]any{item}, args[1:]...), nil)
		default:
			err = fmt.Errorf("an argument is needed")
		}
		if err != nil {
			return nil, err
		}
	}
	return &stream{out}, nil
}

// filterSelect is select, reject and their forms for attributes.
func filterSelect(r *run, items, args []any, name string) (any, error) {
	byAttribute := strings.HasSuffix(name, "attr")
	if len(args) > 0 && !given(args[0]) || byAttribute && len(args) == 0 {
		return nil, fmt.Errorf("these arguments are not supported")
	}
	var kept []any
	for _, item := range items {
		subject, rest := item, args
		if byAttribute {
			var err error
			if subject, err = path(item, args[0]); err != nil {
				return nil, err
			}
			rest = args[1:]
		}
		yes, err := r.holds(subject, rest)
		if err != nil {
			return nil, err
		}
		if yes == strings.HasPrefix(name, "select") {
			kept = append(kept, item)
		}
	}
	return &stream{kept}, nil
}

// holds applies the test that args name, or asks for truth.
func (r *run) holds(v any, args []any) (bool, error) {
	if len(args) == 0 {
		return truth(v), nil
	}
	name, ok := args[0].(string)
	if !ok {
		return false, fmt.Errorf("%s is not a test", typeName(args[0]))
	}
	result, err := r.test(name, v, args[1:])
	return truth(result), err
}

func filterDictSort(r *run, v any, args []any) (any, error) {
	d, ok := v.(*dict)
	if !ok || given(args[1]) && args[1] != "key" {
		return nil, fmt.Errorf("these arguments are not supported")
	}
	out, err := sorted(r, d.pairs(), truth(or(args[2], false)), truth(or(args[0], false)), 0)
	return newList(out), err
}

func filterSort(r *run, items, args []any) (any, error) {
	out, err := sorted(r, items, truth(or(args[0], false)), truth(or(args[1], false)), or(args[2], nil))
	return newList(out), err
}

// sorted sorts strings, or numbers, by an attribute if it is not nil.
func sorted(r *run, items []any, reverse, caseSensitive bool, attribute any) ([]any, error) {
	type entry struct {
		item, key any
	}
	entries := make([]entry, len(items))
	for i, it := range items {
		key, err := keyOf(it, caseSensitive, attribute)
		if err != nil {
			return nil, err
		}
		switch key.(type) {
		case string, int:
		default:
			return nil, fmt.Errorf("sorting %s is not supported", typeName(key))
		}
		if _, first := entries[0].key.(string); i > 0 {
			if _, this := key.(string); first != this {
				return nil, fmt.Errorf("cannot sort str with int")
			}
		}
		entries[i] = entry{it, key}
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		order := 0
		if s, ok := a.key.(string); ok {
			order = strings.Compare(s, b.key.(string))
		} else {
			order = cmp.Compare(a.key.(int), b.key.(int))
		}
		if reverse {
			return -order
		}
		return order
	})
	out := make([]any, len(entries))
	for i, e := range entries {
		out[i] = e.item
	}
	return out, r.spend(len(items) * 8)
}

// keyOf is what an item is compared by: itself or an attribute of it, if that is not nil.
func keyOf(item any, caseSensitive bool, attribute any) (key any, err error) {
	key = item
	if attribute != nil {
		if key, err = path(item, attribute); err != nil {
			return nil, err
		}
	}
	if s, ok := key.(string); ok && !caseSensitive {
		return letters(s, "lower")
	}
	return key, nil
}

func filterUnique(_ *run, items, args []any) (any, error) {
	seen, kept := newDict(), []any{}
	for _, it := range items {
		key, err := keyOf(it, truth(or(args[0], false)), or(args[1], nil))
		if err != nil {
			return nil, err
		}
		if _, found := seen.get(key); !found {
			kept = append(kept, it)
		}
		if err := seen.set(key, nil); err != nil {
			return nil, err
		}
	}
	return &stream{kept}, nil
}
