package chattemplate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// functions are those that every template has.
var functions = map[string]*function{
	"range": {"range", callRange}, "namespace": {"namespace", callNamespace}, "dict": {"dict", callDict},
	"raise_exception": {"raise_exception", raise}, "strftime_now": {"strftime_now", strftimeNow},
}

// maxRange is the longest range that Jinja's sandbox allows.
const maxRange = 100_000

func callRange(r *run, args []any, named map[string]any) (any, error) {
	bounds := [3]int{0, 0, 1}
	for i, a := range args {
		n, ok := a.(int)
		if !ok || i > 2 {
			return nil, fmt.Errorf("range: %s is not a bound", typeName(a))
		}
		bounds[i] = n
	}
	if len(args) == 1 {
		bounds[0], bounds[1] = 0, bounds[0]
	}
	from, to, step := bounds[0], bounds[1], bounds[2]
	if len(args) == 0 || len(named) > 0 || step != 1 && step != -1 || magnitude(from) > 1<<40 || magnitude(to) > 1<<40 {
		return nil, errors.New("range: these arguments are not supported")
	}
	n := max((to-from)*step, 0)
	if n > maxRange {
		return nil, fmt.Errorf("range: more than %d numbers", maxRange)
	}
	items := make([]any, n)
	for i := range items {
		items[i] = from + i*step
	}
	return &list{isRange, items}, r.spend(n)
}

func callNamespace(_ *run, args []any, named map[string]any) (any, error) {
	d, err := membersOf(args, named)
	if err != nil {
		return nil, fmt.Errorf("namespace: %w", err)
	}
	return &namespace{d}, nil
}

func callDict(_ *run, args []any, named map[string]any) (any, error) {
	if len(named) > 1 { // their order is lost on the way
		return nil, errors.New("dict: more than one argument by name is not supported")
	}
	d, err := membersOf(args, named)
	if err != nil {
		return nil, fmt.Errorf("dict: %w", err)
	}
	return d, nil
}

func membersOf(args []any, named map[string]any) (*dict, error) {
	out := newDict()
	if len(args) > 1 {
		return nil, errors.New("more than one argument")
	}
	if len(args) == 1 {
		from, ok := args[0].(*dict)
		if !ok {
			return nil, fmt.Errorf("from %s is not supported", typeName(args[0]))
		}
		out = &dict{slices.Clone(from.keys), maps.Clone(from.values)}
	}
	for name, v := range named {
		_ = out.set(name, v) // a text is a key
	}
	return out, nil
}

// refusal is an error that a template raises itself.
type refusal struct{ text string }

func (e refusal) Error() string { return e.text }

func raise(_ *run, args []any, named map[string]any) (any, error) {
	if len(args) != 1 || len(named) > 0 {
		return nil, errors.New("raise_exception takes one argument")
	}
	s, err := text(args[0])
	if err != nil {
		return nil, err
	}
	return nil, refusal{s}
}

// strftimeNow prints the time by the template's clock.
func strftimeNow(r *run, args []any, named map[string]any) (any, error) {
	if len(args) != 1 || len(named) > 0 {
		return nil, errors.New("strftime_now takes one argument")
	}
	format, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("strftime_now: %s is not a str", typeName(args[0]))
	}
	return strftime(format, r.now())
}

// directives are those of a format; a bare % stands at its end.
var directives = regexp.MustCompile(`%(?:-?(?s:.))?`)

func strftime(format string, now time.Time) (string, error) {
	unknown := ""
	text := directives.ReplaceAllStringFunc(format, func(directive string) string {
		s, known := timeText(cmp.Or(directive[1:], "%"), now)
		if !known {
			unknown = cmp.Or(unknown, directive)
		}
		return s
	})
	if unknown != "" {
		return "", fmt.Errorf("strftime_now: the directive %s is not supported", unknown)
	}
	return text, nil
}

// timeText is one directive in the C locale.
func timeText(directive string, now time.Time) (string, bool) {
	layouts := []string{"d", "02", "b", "Jan", "B", "January", "Y", "2006", "y", "06", "m", "01", "H", "15", "M", "04",
		"S", "05",
		"I", "03", "p", "PM", "A", "Monday", "a", "Mon", "-d", "2", "-m", "1", "-I", "3", "e", "_2", "j", "002", "F",
		"2006-01-02",
		"T", "15:04:05", "R", "15:04", "D", "01/02/06"}
	if directive == "%" {
		return "%", true
	}
	if i := slices.Index(layouts, directive); i >= 0 && i%2 == 0 {
		return now.Format(layouts[i+1]), true
	}
	return "", false
}

// test is Jinja's "v is name args", and "in".
func (r *run) test(name string, v any, args []any) (any, error) {
	operator, binary := map[string]string{
		"in": "in", "divisibleby": "%", "sameas": "sameas", "eq": "==", "equalto": "==", "==": "==", "ne": "!=",
		"!=": "!=", "gt": ">", "greaterthan": ">", ">": ">",
		"lt": "<", "lessthan": "<", "<": "<", "ge": ">=", ">=": ">=", "le": "<=", "<=": "<=",
	}[name]
	switch {
	case binary && len(args) != 1:
		return nil, fmt.Errorf("test %s: %d arguments instead of one", name, len(args))
	case binary:
		return r.testTwo(operator, v, args[0])
	case len(args) != 0:
		return nil, fmt.Errorf("test %s: unexpected arguments, or it is unknown", name)
	}
	return testOne(name, v)
}

func (r *run) testTwo(operator string, v, other any) (any, error) {
	if operator == "sameas" {
		switch other.(type) {
		case nil, bool:
			return v == other, nil
		}
		return nil, fmt.Errorf("test sameas with %s is not supported", typeName(other))
	}
	result, err := r.binary(operator, v, other)
	if operator == "%" {
		return result == 0, err
	}
	return result, err
}

func testOne(name string, v any) (any, error) {
	switch name {
	case "defined":
		return !isUndefined(v), nil
	case "undefined":
		return isUndefined(v), nil
	case "true":
		return v == true, nil
	case "false":
		return v == false, nil
	case "none", "boolean", "integer", "float", "string", "mapping":
		types := map[string]string{"none": "None", "boolean": "bool", "integer": "int", "float": "float",
			"string": "str", "mapping": "dict"}
		return typeName(v) == types[name], nil
	case "number":
		_, ok := numeric(v)
		return ok, nil
	case "sequence", "iterable", "callable":
		return testShape(name, v)
	case "odd", "even":
		i, ok := v.(int)
		if !ok {
			return nil, fmt.Errorf("test %s of %s", name, typeName(v))
		}
		return (i&1 == 1) == (name == "odd"), nil
	case "lower", "upper":
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("test %s of %s", name, typeName(v))
		}
		same, err := letters(s, name)
		other, _ := letters(s, strings.ReplaceAll("lowerupper", name, ""))
		return same == s && other != s, err
	}
	return nil, fmt.Errorf("test %s is not supported", name)
}

func isUndefined(v any) bool {
	_, ok := v.(undefined)
	return ok
}

// testShape says what Python would, also of undefined values, which have every method.
func testShape(name string, v any) (any, error) {
	switch v := v.(type) {
	case undefined:
		return true, nil
	case nil, bool, int, float64:
		return false, nil
	case string, *dict:
		return name != "callable", nil
	case *list:
		return name == "iterable" || name == "sequence" && v.kind != isView, nil
	case *stream:
		return name == "iterable", nil
	case *function:
		return name == "callable", nil
	}
	return nil, fmt.Errorf("test %s of a %s is not supported", name, typeName(v))
}
