package chattemplate

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var decimal = regexp.MustCompile(`^[+-]?(?:\d+(\.\d*)?|(\.\d+))$`)

// parseNumber reads a text as Python's float does, an int where it has no dot; nil where it is no number. Python also reads
// other forms, such as 1e5, 1_0 and inf: what may be one of them is refused.
func parseNumber(s string) (any, error) {
	s = strings.TrimFunc(s, isSpace)
	m := decimal.FindStringSubmatch(s)
	switch {
	case m == nil:
		if strings.ContainsAny(s, "0123456789") || strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) ||
			strings.Contains(strings.ToLower(s), "inf") || strings.Contains(strings.ToLower(s), "nan") {
			return nil, fmt.Errorf("from %q is not supported", s)
		}
		return nil, nil
	case m[1] == "" && m[2] == "":
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("the number %s is too large", s)
		}
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("the number %s is too large", s)
	}
	return f, nil
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
		return nil, fmt.Errorf("%s is no number", typeName(v))
	}
	return nil, nil
}

func filterInt(_ *run, v any, args []any) (any, error) {
	n, err := toNumber(v)
	if f, ok := n.(float64); ok {
		if math.Abs(f) > 1<<53 {
			return nil, fmt.Errorf("%s is too large", floatText(f))
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
