package chattemplate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Every other attribute that Python's values have. A template that uses one is refused, rather than given an undefined
// value.
const (
	otherText = " capitalize casefold center encode expandtabs format format_map index isalnum isalpha isascii " +
		"isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper ljust maketrans " +
		"partition rindex rjust rpartition swapcase translate zfill "
	otherDict   = " clear fromkeys pop popitem setdefault update "
	otherList   = " append clear copy count extend index insert pop remove reverse sort "
	otherNumber = " as_integer_ratio bit_count bit_length conjugate denominator from_bytes fromhex hex imag " +
		"is_integer numerator real to_bytes "
	otherRange = " start stop step count index "
	otherView  = " mapping isdisjoint "
	otherCode  = " name arguments catch_kwargs catch_varargs caller send throw close gi_frame gi_running gi_code " +
		"gi_yieldfrom gi_suspended "
)

// method returns the method of a value, or nil where Python has none of that name.
func method(v any, name string) (any, error) {
	others := otherCode
	switch v := v.(type) {
	case string:
		if f := textMethods[name]; f != nil {
			return bind(name, func(r *run, args []any) (any, error) { return f(r, v, args) }), nil
		}
		others = otherText
	case *dict:
		if f := dictMethod(v, name); f != nil {
			return bind(name, f), nil
		}
		others = otherDict
	case *list:
		others = map[kind]string{isList: otherList, isTuple: " count index ", isRange: otherRange,
			isView: otherView}[v.kind]
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
	view := func(items func() []any) func(*run, []any) (any, error) {
		return func(r *run, args []any) (any, error) {
			return &list{isView, items()}, cmp.Or(between(args, 0, 0), r.spend(len(d.keys)))
		}
	}
	switch name {
	case "items":
		return view(d.pairs)
	case "keys":
		return view(func() []any { return slices.Clone(d.keys) })
	case "values":
		return view(func() []any {
			values := make([]any, len(d.keys))
			for i := range d.keys {
				values[i] = d.at(i)
			}
			return values
		})
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
			return nil, fmt.Errorf("%s is not a str", typeName(a))
		}
		out[i] = s
	}
	return out, nil
}

type textFunction func(r *run, s string, args []any) (any, error)

// textMethods are those of a str.
var textMethods = map[string]textFunction{
	"strip": stripper(true, true), "lstrip": stripper(true, false), "rstrip": stripper(false, true),
	"split":  func(r *run, s string, args []any) (any, error) { return split(r, s, args, false) },
	"rsplit": func(r *run, s string, args []any) (any, error) { return split(r, s, args, true) },
	"splitlines": func(_ *run, s string, args []any) (any, error) {
		return newList(anyList(splitLines(s))), between(args, 0, 0)
	},
	"startswith":   func(_ *run, s string, args []any) (any, error) { return affix(s, args, strings.HasPrefix) },
	"endswith":     func(_ *run, s string, args []any) (any, error) { return affix(s, args, strings.HasSuffix) },
	"removeprefix": withText(func(s, a string) any { return strings.TrimPrefix(s, a) }),
	"removesuffix": withText(func(s, a string) any { return strings.TrimSuffix(s, a) }),
	"count":        withText(func(s, a string) any { return strings.Count(s, a) }),
	"find":         withText(func(s, a string) any { return inCharacters(s, strings.Index(s, a)) }),
	"rfind":        withText(func(s, a string) any { return inCharacters(s, strings.LastIndex(s, a)) }),
	"replace":      replace,
	"join":         joinText,
	"upper":        cased("upper"), "lower": cased("lower"), "title": cased("title"),
}

// withText is a method that takes one str.
func withText(f func(s, a string) any) textFunction {
	return func(_ *run, s string, args []any) (any, error) {
		a, err := strung(args, 1, 1)
		if err != nil {
			return nil, err
		}
		return f(s, a[0]), nil
	}
}

// inCharacters counts the characters before an offset in bytes; -1 stays.
func inCharacters(s string, offset int) int {
	if offset < 0 {
		return offset
	}
	return len([]rune(s[:offset]))
}

// cased is the method that changes the case of letters.
func cased(to string) textFunction {
	return func(_ *run, s string, args []any) (any, error) {
		if err := between(args, 0, 0); err != nil {
			return nil, err
		}
		return letters(s, to)
	}
}

// stripper is strip with its ends.
func stripper(left, right bool) textFunction {
	return func(_ *run, s string, args []any) (any, error) {
		if len(args) == 1 && args[0] == nil {
			args = nil
		}
		a, err := strung(args, 0, 1)
		if err != nil {
			return nil, err
		}
		cut := isSpace
		if len(a) == 1 {
			cut = func(r rune) bool { return strings.ContainsRune(a[0], r) }
		}
		if left {
			s = strings.TrimLeftFunc(s, cut)
		}
		if right {
			s = strings.TrimRightFunc(s, cut)
		}
		return s, nil
	}
}

// split is split and rsplit, with or without a separator and a limit.
func split(r *run, s string, args []any, fromRight bool) (any, error) {
	if err := between(args, 0, 2); err != nil {
		return nil, err
	}
	limit := -1
	if len(args) == 2 {
		n, ok := args[1].(int)
		if !ok {
			return nil, fmt.Errorf("a limit that is %s", typeName(args[1]))
		}
		limit = n
	}
	if err := r.long(len(s)); err != nil {
		return nil, err
	}
	if len(args) == 0 || args[0] == nil {
		if limit >= 0 {
			return nil, fmt.Errorf("a limit without a separator is not supported")
		}
		return newList(anyList(strings.FieldsFunc(s, isSpace))), nil
	}
	sep, ok := args[0].(string)
	if !ok || sep == "" {
		return nil, fmt.Errorf("a separator that is empty or no str")
	}
	if err := r.spend(strings.Count(s, sep)); err != nil {
		return nil, err
	}
	parts := strings.Split(s, sep)
	if n := len(parts) - 1; limit >= 0 && limit < n {
		if fromRight {
			parts = append([]string{strings.Join(parts[:n-limit+1], sep)}, parts[n-limit+1:]...)
		} else {
			parts = append(parts[:limit:limit], strings.Join(parts[limit:], sep))
		}
	}
	return newList(anyList(parts)), nil
}

func anyList(parts []string) []any {
	out := make([]any, len(parts))
	for i, p := range parts {
		out[i] = p
	}
	return out
}

// splitLines cuts where Python's splitlines does.
func splitLines(s string) []string {
	var out []string
	for s != "" {
		i := strings.IndexFunc(s, func(r rune) bool {
			return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
		})
		if i < 0 {
			return append(out, s)
		}
		out = append(out, s[:i])
		mark, size := utf8.DecodeRuneInString(s[i:])
		if s = s[i+size:]; mark == '\r' {
			s = strings.TrimPrefix(s, "\n")
		}
	}
	return out
}

func affix(s string, args []any, has func(s, affix string) bool) (any, error) {
	if err := between(args, 1, 1); err != nil {
		return nil, err
	}
	if l, ok := args[0].(*list); ok && l.kind == isTuple {
		args = l.items
	}
	a, err := strung(args, 0, len(args))
	if err != nil {
		return nil, err
	}
	return slices.ContainsFunc(a, func(affix string) bool { return has(s, affix) }), nil
}

func replace(r *run, s string, args []any) (any, error) {
	limit := -1
	if len(args) == 3 {
		n, ok := args[2].(int)
		if !ok {
			return nil, fmt.Errorf("a limit that is %s", typeName(args[2]))
		}
		limit, args = n, args[:2]
	}
	a, err := strung(args, 2, 2)
	if err != nil {
		return nil, err
	}
	if err := r.long(len(s) + strings.Count(s, a[0])*len(a[1])); err != nil {
		return nil, err
	}
	return strings.Replace(s, a[0], a[1], limit), nil
}

func joinText(r *run, sep string, args []any) (any, error) {
	if err := between(args, 1, 1); err != nil {
		return nil, err
	}
	items, err := r.iterate(args[0])
	if err != nil {
		return nil, err
	}
	parts, err := strung(items, 0, len(items))
	if err != nil {
		return nil, err
	}
	return r.join(parts, sep)
}

// letters changes the case of ASCII. Beyond it Python and Go go by different tables, so that is refused.
func letters(s, to string) (string, error) {
	for _, r := range s {
		if r >= 0x80 && (unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) ||
			unicode.In(r, unicode.Other_Lowercase, unicode.Other_Uppercase)) {
			return "", fmt.Errorf("the case of %q, which is not ASCII, is not supported", r)
		}
	}
	switch to {
	case "upper":
		return strings.ToUpper(s), nil
	case "lower":
		return strings.ToLower(s), nil
	}
	var b strings.Builder
	inside := false
	for _, r := range s {
		letter := r < 0x80 && unicode.IsLetter(r)
		switch {
		case letter && inside:
			r = unicode.ToLower(r)
		case letter:
			r = unicode.ToUpper(r)
		}
		inside = letter
		b.WriteRune(r)
	}
	return b.String(), nil
}
