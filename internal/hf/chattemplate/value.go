package chattemplate

import (
	"cmp"
	"fmt"
	"math"
)

// Values of templates are nil for None, bool, int, float64 and string, and the types below.
type (
	// undefined is the value of a variable or a member that is not there, by the name that was asked for.
	undefined struct{ name string }

	// list is a list, or one of its relatives that can be run through more than once.
	list struct {
		kind  kind
		items []any
	}

	// stream can be run through once, as a Python generator.
	stream struct{ items []any }

	// dict keeps its keys in the order in which they came.
	dict struct {
		keys   []any
		values map[any]any // by what normal makes of a key
	}

	namespace struct{ *dict }

	// function is something to call; arguments by name are nil unless some were given.
	function struct {
		name string
		call func(r *run, args []any, named map[string]any) (any, error)
	}
)

// kind tells lists from their relatives.
type kind uint8

const (
	isList kind = iota
	isTuple
	isView  // of a dict: no index, no printing
	isRange // no printing
)

func newList(items []any) *list { return &list{isList, items} }
func newDict() *dict            { return &dict{values: map[any]any{}} }

// normal makes keys equal that are equal to Python, such as 1, 1.0 and True. Lists and dicts are no keys.
func normal(key any) (any, error) {
	switch k := key.(type) {
	case nil, int, string:
		return k, nil
	case bool:
		if k {
			return 1, nil
		}
		return 0, nil
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<53 {
			return int(k), nil
		}
		return k, nil
	}
	return nil, fmt.Errorf("%s is not a key of a dict", typeName(key))
}

func (d *dict) get(key any) (any, bool) {
	k, err := normal(key)
	if err != nil {
		return nil, false
	}
	v, found := d.values[k]
	return v, found
}

func (d *dict) set(key, value any) error {
	k, err := normal(key)
	if err != nil {
		return err
	}
	if _, found := d.values[k]; !found {
		d.keys = append(d.keys, key)
	}
	d.values[k] = value
	return nil
}

func (d *dict) at(i int) any {
	v, _ := d.get(d.keys[i])
	return v
}

// pairs lists keys and values as tuples.
func (d *dict) pairs() []any {
	out := make([]any, len(d.keys))
	for i, k := range d.keys {
		out[i] = &list{isTuple, []any{k, d.at(i)}}
	}
	return out
}

// typeName is Python's name for a value's type.
func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case undefined:
		if v.name == "" {
			return "an undefined value"
		}
		return fmt.Sprintf("the undefined %q", v.name)
	case bool:
		return "bool"
	case int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case *list:
		return [...]string{"list", "tuple", "view of a dict", "range"}[v.kind]
	case *stream:
		return "generator"
	case *dict:
		return "dict"
	case *namespace:
		return "namespace"
	case *loop:
		return "loop"
	}
	return "function"
}

// truth is Python's truth of a value.
func truth(v any) bool {
	switch v := v.(type) {
	case nil, undefined:
		return false
	case bool:
		return v
	case int:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case *list:
		return len(v.items) > 0
	case *dict:
		return len(v.keys) > 0
	}
	return true
}

// numeric is a number's value; bools are numbers to Python.
func numeric(v any) (float64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// equal is Python's ==.
func (r *run) equal(a, b any) (bool, error) {
	var c likeness
	same, err := c.equal(a, b, 0)
	return same, cmp.Or(err, r.spend(c.steps))
}

// likeness counts what one == has looked at: a list may hold another many times, and so on downwards.
type likeness struct{ steps int }

func (c *likeness) equal(a, b any, depth int) (bool, error) {
	if depth > maxNesting {
		return false, errTooDeep
	}
	if c.steps++; c.steps > maxSteps {
		return false, errTooMuch
	}
	x, aNumber := numeric(a)
	y, bNumber := numeric(b)
	if aNumber && bNumber {
		i, aInt := a.(int)
		j, bInt := b.(int)
		return aInt && bInt && i == j || !(aInt && bInt) && x == y, nil
	}
	switch a := a.(type) {
	case nil:
		return b == nil, nil
	case string:
		s, ok := b.(string)
		return ok && a == s, nil
	case undefined:
		_, ok := b.(undefined)
		return ok, nil
	case *list:
		if b, ok := b.(*list); ok {
			return c.lists(a, b, depth+1)
		}
		return false, nil
	case *dict:
		if b, ok := b.(*dict); ok {
			return c.dicts(a, b, depth+1)
		}
		return false, nil
	case bool, int, float64:
		return false, nil
	}
	return false, fmt.Errorf("comparing a %s is not supported", typeName(a))
}

func (c *likeness) lists(a, b *list, depth int) (bool, error) {
	if a.kind > isTuple || b.kind > isTuple {
		return false, fmt.Errorf("comparing a %s is not supported", typeName(a))
	}
	if a.kind != b.kind || len(a.items) != len(b.items) {
		return false, nil
	}
	for i := range a.items {
		if same, err := c.equal(a.items[i], b.items[i], depth); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *likeness) dicts(a, b *dict, depth int) (bool, error) {
	if len(a.keys) != len(b.keys) {
		return false, nil
	}
	for i, k := range a.keys {
		v, found := b.get(k)
		if !found {
			return false, nil
		}
		if same, err := c.equal(a.at(i), v, depth); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// text is Python's str of a value.
func text(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case undefined:
		return "", nil
	}
	p := printer{repr: true, item: ", ", key: ": "}
	err := p.write(v, 0)
	return p.String(), err
}
