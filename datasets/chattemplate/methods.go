package chattemplate

import (
	"fmt"
	"slices"
	"strings"
)

// Every other attribute that Python's values have. A template that uses one is refused, rather than given an undefined
// value.
const (
	otherText = " capitalize casefold center encode expandtabs format format_map index isalnum isalpha isascii isdecimal " +
		"isdigit isidentifier islower isnumeric isprintable isspace istitle isupper ljust maketrans partition rindex rjust " +
		"rpartition swapcase translate zfill "
	otherDict   = " clear fromkeys pop popitem setdefault update "
	otherList   = " append clear copy count extend index insert pop remove reverse sort "
	otherNumber = " as_integer_ratio bit_count bit_length conjugate denominator from_bytes fromhex hex imag is_integer numerator " +
		"real to_bytes "
	otherRange = " start stop step count index "
	otherView  = " mapping isdisjoint "
	otherCode  = " name arguments catch_kwargs catch_varargs caller send throw close gi_frame gi_running gi_code gi_yieldfrom " +
		"gi_suspended "
)

// method returns the method of a value, or nil where Python has none of that name.
func method(v any, name string) (any, error) {
	others := otherCode
	switch v := v.(type) {
	case string:
		if f := textMethod(name); f != nil {
			return bind(name, func(r *run, args []any) (any, error) { return f(r, v, args) }), nil
		}
		others = otherText
	case *dict:
		if f := dictMethod(v, name); f != nil {
			return bind(name, f), nil
		}
		others = otherDict
	case *list:
		others = map[kind]string{isList: otherList, isTuple: " count index ", isRange: otherRange, isView: otherView}[v.kind]
	case int, float64, bool:
		others = otherNumber
	}
	if strings.Contains(others, " "+name+" ") {
		return nil, fmt.Errorf("%q of a %s is not supported", name, typeName(v))
	}
	return nil, nil
}

// bind makes a function of a method that takes no arguments by name.
func bind(name string, f func(r *run, args []any) (any, error)) *function {
	return &function{name, func(r *run, args []any, named map[string]any) (any, error) {
		if len(named) > 0 {
			return nil, fmt.Errorf("%s: arguments by name are not supported", name)
		}
		v, err := f(r, args)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return v, nil
	}}
}

// between checks the number of arguments.
func between(args []any, least, most int) error {
	if len(args) < least || len(args) > most {
		return fmt.Errorf("%d arguments are too many or too few", len(args))
	}
	return nil
}

func dictMethod(d *dict, name string) func(*run, []any) (any, error) {
	view := func(items []any) func(*run, []any) (any, error) {
		return func(_ *run, args []any) (any, error) { return &list{isView, items}, between(args, 0, 0) }
	}
	switch name {
	case "items":
		return view(d.pairs())
	case "keys":
		return view(slices.Clone(d.keys))
	case "values":
		values := make([]any, len(d.keys))
		for i := range d.keys {
			values[i] = d.at(i)
		}
		return view(values)
	case "copy":
		return func(_ *run, args []any) (any, error) { return d, between(args, 0, 0) } // dicts never change
	case "get":
		return func(_ *run, args []any) (any, error) {
			if err := between(args, 1, 2); err != nil {
				return nil, err
			}
			if _, err := normal(args[0]); err != nil {
				return nil, err
			}
			if v, found := d.get(args[0]); found {
				return v, nil
			}
			if len(args) == 2 {
				return args[1], nil
			}
			return nil, nil
		}
	}
	return nil
}

// strung returns the arguments as strings.
func strung(args []any, least, most int) ([]string, error) {
	if err := between(args, least, most); err != nil {
		return nil, err
	}
	out := make([]string, len(args))
	for i, a := range args {
		s, ok := a.(string)
		if !ok {
			return nil, fmt.Errorf("%s is no str", typeName(a))
		}
		out[i] = s
	}
	return out, nil
}
