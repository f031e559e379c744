package chattemplate

import (
	"fmt"
	"strings"
	"unicode"
)

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

func filterJoin(r *run, v any, args []any) (any, error) {
	sep, err := text(or(args[0], ""))
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
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
