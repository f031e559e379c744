package chattemplate

import (
	"fmt"
	"strings"
)

// test is Jinja's "v is name args", and "in".
func (r *run) test(name string, v any, args []any) (any, error) {
	if binary, known := comparisonTest(name); known {
		if len(args) != 1 {
			return nil, fmt.Errorf("test %s: %d arguments instead of one", name, len(args))
		}
		return r.testTwo(binary, v, args[0])
	}
	if len(args) != 0 {
		return nil, fmt.Errorf("test %s: unexpected arguments, or it is unknown", name)
	}
	return testOne(name, v)
}

// comparisonTest is the operator that a test stands for.
func comparisonTest(name string) (string, bool) {
	switch name {
	case "in", "divisibleby", "sameas":
		return name, true
	case "eq", "equalto", "==":
		return "==", true
	case "ne", "!=":
		return "!=", true
	case "gt", "greaterthan", ">":
		return ">", true
	case "lt", "lessthan", "<":
		return "<", true
	case "ge", ">=":
		return ">=", true
	case "le", "<=":
		return "<=", true
	}
	return "", false
}

func (r *run) testTwo(name string, v, other any) (any, error) {
	switch name {
	case "in":
		return r.contains(v, other)
	case "==", "!=":
		same, err := equal(v, other)
		return same == (name == "=="), err
	case "divisibleby":
		rest, err := r.arithmetic("%", v, other)
		return rest == 0, err
	case "sameas":
		switch other.(type) {
		case nil, bool:
			return v == other, nil
		}
		return nil, fmt.Errorf("test sameas with %s is not supported", typeName(other))
	}
	return compare(name, v, other)
}

func testOne(name string, v any) (any, error) {
	switch name {
	case "defined":
		return !isUndefined(v), nil
	case "undefined":
		return isUndefined(v), nil
	case "none":
		return v == nil, nil
	case "true":
		return v == true, nil
	case "false":
		return v == false, nil
	case "boolean":
		_, ok := v.(bool)
		return ok, nil
	case "integer":
		_, ok := v.(int)
		return ok, nil
	case "float":
		_, ok := v.(float64)
		return ok, nil
	case "number":
		_, ok := numeric(v)
		return ok, nil
	case "string":
		_, ok := v.(string)
		return ok, nil
	case "mapping":
		_, ok := v.(*dict)
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
