package chattemplate

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"benchtop/internal/pyjson"
)

// filter applies a filter to args[0]. One that is missing here is refused.
func (r *run) filter(name string, args []any, named map[string]any) (any, error) {
	f, supported := r.filters[name]
	if !supported {
		return nil, fmt.Errorf("filter %s is not supported", name)
	}
	given, err := f.place(args[1:], named)
	if err == nil {
		var v any
		if v, err = f.apply(r, args[0], given); err == nil {
			return v, nil
		}
	}
	return nil, fmt.Errorf("filter %s: %w", name, err)
}

// absentArgument stands for an argument that was not given.
type absentArgument struct{}

// place puts arguments into the order of the parameters.
func place(names []string, args []any, named map[string]any) ([]any, error) {
	if len(args) > len(names) {
		return nil, fmt.Errorf("%d arguments are too many", len(args))
	}
	out := slices.Clone(args)
	for len(out) < len(names) {
		out = append(out, absentArgument{})
	}
	for name, v := range named {
		i := slices.Index(names, name)
		if i < 0 || i < len(args) {
			return nil, fmt.Errorf("unknown argument %q", name)
		}
		out[i] = v
	}
	return out, nil
}

// filter is a filter and the names of its parameters; "*" takes any arguments.
type filter struct {
	apply      func(r *run, v any, args []any) (any, error)
	parameters string
}

func (f filter) place(args []any, named map[string]any) ([]any, error) {
	attribute, found := named["attribute"]
	switch {
	case f.parameters != "*":
		return place(strings.Fields(f.parameters), args, named)
	case len(named) == 0:
		return args, nil
	case found && len(named) == 1 && len(args) == 0:
		return []any{absentArgument{}, attribute}, nil
	}
	return nil, fmt.Errorf("these arguments are not supported")
}

// filters are those that are supported.
func filters() map[string]filter {
	all := map[string]filter{
		"length": {filterLength, ""}, "count": {filterLength, ""},
		"string": {filterString, ""},
		"trim":   {filterTrim, "chars"}, "replace": {filterReplace, "old new count"},
		"join":   {ofItems(filterJoin), "d attribute"},
		"indent": {filterIndent, "width first blank"}, "default": {filterDefault, "default_value boolean"},
		"d":     {filterDefault, "default_value boolean"},
		"list":  {ofItems(func(_ *run, items, _ []any) (any, error) { return newList(items), nil }), ""},
		"items": {filterItems, ""}, "dictsort": {filterDictSort, "case_sensitive by reverse"},
		"sort": {ofItems(filterSort), "reverse case_sensitive attribute"}, "reverse": {filterReverse, ""},
		"int": {filterInt, "default"}, "float": {filterFloat, "default"},
		"tojson": {filterJSON, "ensure_ascii indent separators sort_keys"},
		"unique": {ofItems(filterUnique), "case_sensitive attribute"}, "abs": {filterAbs, ""},
		"map": {ofAny(filterMap), "*"},
	}
	for _, name := range []string{"upper", "lower", "title", "capitalize"} {
		all[name] = filter{func(_ *run, v any, _ []any) (any, error) { return filterCase(v, name) }, ""}
	}
	for _, name := range []string{"first", "last"} {
		all[name] = filter{func(r *run, v any, _ []any) (any, error) { return filterEnd(r, v, name) }, ""}
	}
	for _, name := range []string{"select", "reject", "selectattr", "rejectattr"} {
		all[name] = filter{
			ofAny(func(r *run, items, args []any) (any, error) { return filterSelect(r, items, args, name) }), "*"}
	}
	return all
}

// ofItems makes a filter of one that takes the items of a value.
func ofItems(apply func(r *run, items, args []any) (any, error)) func(r *run, v any, args []any) (any, error) {
	return func(r *run, v any, args []any) (any, error) {
		items, err := r.iterate(v)
		if err != nil {
			return nil, err
		}
		return apply(r, items, args)
	}
}

// ofAny is ofItems for a filter that has no items of a value that is false, such as none.
func ofAny(apply func(r *run, items, args []any) (any, error)) func(r *run, v any, args []any) (any, error) {
	return func(r *run, v any, args []any) (any, error) {
		if !truth(v) {
			v = newList(nil)
		}
		return ofItems(apply)(r, v, args)
	}
}

func given(v any) bool { _, none := v.(absentArgument); return !none }

// or is a given argument's value, or another.
func or(v, other any) any {
	if given(v) {
		return v
	}
	return other
}

func filterLength(_ *run, v any, _ []any) (any, error) {
	switch v := v.(type) {
	case undefined:
		return 0, nil
	case string:
		return len([]rune(v)), nil
	case *list:
		return len(v.items), nil
	case *dict:
		return len(v.keys), nil
	}
	return nil, fmt.Errorf("%s has no length", typeName(v))
}

func filterString(r *run, v any, _ []any) (any, error) {
	s, err := text(v)
	return s, cmp.Or(err, r.long(len(s)))
}

func filterDefault(_ *run, v any, args []any) (any, error) {
	if isUndefined(v) || truth(or(args[1], false)) && !truth(v) {
		return or(args[0], ""), nil
	}
	return v, nil
}

func filterEnd(r *run, v any, which string) (any, error) {
	if s, ok := v.(*stream); ok {
		if which == "last" {
			return nil, fmt.Errorf("a generator has no last item")
		}
		if len(s.items) == 0 {
			return undefined{"item"}, nil
		}
		first := s.items[0]
		s.items = s.items[1:]
		return first, nil
	}
	if isUndefined(v) && which == "last" {
		return nil, fmt.Errorf("%s has no last item", typeName(v))
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	switch {
	case len(items) == 0:
		return undefined{"item"}, nil
	case which == "first":
		return items[0], nil
	}
	return items[len(items)-1], nil
}

func filterReverse(r *run, v any, _ []any) (any, error) {
	switch v.(type) {
	case string, *list, *dict:
	default:
		return nil, fmt.Errorf("%s cannot be reversed", typeName(v))
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	items = slices.Clone(items)
	slices.Reverse(items)
	if _, ok := v.(string); ok {
		return strings.Join(strungOrEmpty(items), ""), nil
	}
	return &stream{items}, nil
}

// strungOrEmpty is for items that are strings.
func strungOrEmpty(items []any) []string {
	out := make([]string, len(items))
	for i, v := range items {
		out[i], _ = v.(string)
	}
	return out
}

func filterItems(_ *run, v any, _ []any) (any, error) {
	switch v := v.(type) {
	case undefined:
		return &stream{}, nil
	case *dict:
		return &stream{v.pairs()}, nil
	}
	return nil, fmt.Errorf("%s has no items", typeName(v))
}

func filterAbs(_ *run, v any, _ []any) (any, error) {
	if i, ok := v.(int); ok {
		return magnitude(i), nil
	}
	return nil, fmt.Errorf("of %s is not supported", typeName(v))
}

var decimal = regexp.MustCompile(`^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$`)

// parseNumber reads a text as Python's float does, an int where it has no dot; nil where it is no number. Python also
// reads other forms, such as 1e5, 1_0 and inf: a text that may be one of them is refused.
func parseNumber(s string) (any, error) {
	s = strings.TrimFunc(s, isSpace)
	if decimal.MatchString(s) {
		n, err := readNumber(s)
		if err != nil {
			return nil, fmt.Errorf("the %w", err)
		}
		return n, nil
	}
	if strings.ContainsAny(s, "0123456789") || strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) ||
		strings.Contains(strings.ToLower(s), "inf") || strings.Contains(strings.ToLower(s), "nan") {
		return nil, fmt.Errorf("from %q is not supported", s)
	}
	return nil, nil
}

// toNumber gives an int, a float, or nil where Python fails with what Jinja2 catches.
func toNumber(v any) (any, error) {
	switch v := v.(type) {
	case int, float64:
		return v, nil
	case bool:
		n, _ := numeric(v)
		return int(n), nil
	case string:
		return parseNumber(v)
	case undefined:
		return nil, fmt.Errorf("%s is not a number", typeName(v))
	}
	return nil, nil
}

func filterInt(_ *run, v any, args []any) (any, error) {
	n, err := toNumber(v)
	if f, ok := n.(float64); ok {
		if math.Abs(f) > 1<<53 {
			return nil, fmt.Errorf("%s is too large", pyjson.Float(f))
		}
		return int(f), nil
	}
	if n == nil && err == nil {
		return or(args[0], 0), nil
	}
	return n, err
}

func filterFloat(_ *run, v any, args []any) (any, error) {
	n, err := toNumber(v)
	if i, ok := n.(int); ok {
		return float64(i), nil
	}
	if n == nil && err == nil {
		return or(args[0], 0.0), nil
	}
	return n, err
}

func filterTrim(r *run, v any, args []any) (any, error) {
	s, err := text(v)
	if err != nil {
		return nil, err
	}
	return stripper(true, true)(r, s, []any{or(args[0], nil)})
}

func filterCase(v any, to string) (any, error) {
	s, err := text(v)
	if err != nil {
		return nil, err
	}
	if to == "upper" || to == "lower" {
		return letters(s, to)
	}
	lower, err := letters(s, "lower")
	first := true // of a word, of which capitalize knows one
	return strings.Map(func(r rune) rune {
		switch {
		case to == "title" && (strings.ContainsRune("-({[<", r) || isSpace(r)):
			first = true
		case first:
			first = false
			return unicode.ToUpper(r) // of ASCII; others have no case here
		}
		return r
	}, lower), err
}

func filterReplace(r *run, v any, args []any) (any, error) {
	if !given(args[0]) || !given(args[1]) {
		return nil, fmt.Errorf("two arguments are needed")
	}
	s, err := text(v)
	if err != nil {
		return nil, err
	}
	var all []any
	for _, a := range args[:2] {
		t, err := text(a)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if given(args[2]) && args[2] != nil {
		all = append(all, args[2])
	}
	return replace(r, s, all)
}

func filterJoin(r *run, items, args []any) (any, error) {
	sep, err := text(or(args[0], ""))
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(items))
	for i, item := range items {
		if given(args[1]) && args[1] != nil {
			if item, err = path(item, args[1]); err != nil {
				return nil, err
			}
		}
		if parts[i], err = text(item); err != nil {
			return nil, err
		}
	}
	return r.join(parts, sep)
}

// join is strings.Join, up to the longest text that is allowed.
func (r *run) join(parts []string, sep string) (any, error) {
	size := 0
	for _, part := range parts {
		if size += len(part) + len(sep); size-len(sep) > maxOutput {
			return nil, errTooLong
		}
	}
	return strings.Join(parts, sep), r.long(size)
}

func filterIndent(r *run, v any, args []any) (any, error) {
	s, ok := v.(string)
	width, isInt := or(args[0], 4).(int)
	prefix, isText := args[0].(string)
	if isInt && width <= 1000 {
		prefix = strings.Repeat(" ", max(width, 0))
	}
	if !ok || !isText && (!isInt || width > 1000) {
		return nil, fmt.Errorf("these arguments are not supported")
	}
	lines := splitLines(s + "\n")
	if len(prefix)*len(lines) > maxOutput {
		return nil, errTooLong
	}
	for i, line := range lines {
		if i > 0 && (line != "" || truth(or(args[2], false))) || i == 0 && truth(or(args[1], false)) {
			lines[i] = prefix + line
		}
	}
	return r.join(lines, "\n")
}
