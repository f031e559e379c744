package chattemplate

import (
	"fmt"
	"strings"
)

// test is Jinja's "v is name args", and "in".
func (r *run) test(name string, v any, args []any) (any, error) {
	operator, binary := map[string]string{
		"in": "in", "divisibleby": "%", "sameas": "sameas", "eq": "==", "equalto": "==", "==": "==", "ne": "!=", "!=": "!=", "gt": ">", "greaterthan": ">", ">": ">",
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
		types := map[string]string{"none": "None", "boolean": "bool", "integer": "int", "float": "float", "string": "str", "mapping": "dict"}
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
