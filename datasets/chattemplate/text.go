package chattemplate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// text is Python's str of a value.
func text(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case undefined:
		return "", nil
	}
	var b strings.Builder
	err := represent(&b, v, 0)
	return b.String(), err
}

// represent writes Python's repr of a value.
func represent(b *strings.Builder, v any, depth int) error {
	switch { // a list may hold another many times, and so on downwards
	case b.Len() > maxOutput:
		return errTooLong
	case depth > maxNesting:
		return errTooDeep
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case int:
		b.WriteString(strconv.Itoa(v))
	case float64:
		b.WriteString(floatText(v))
	case string:
		quote(b, v)
	case undefined:
		b.WriteString("Undefined")
	case *list:
		return representList(b, v, depth)
	case *dict:
		b.WriteByte('{')
		for i, k := range v.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := represent(b, k, depth+1); err != nil {
				return err
			}
			b.WriteString(": ")
			if err := represent(b, v.at(i), depth+1); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	default:
		return fmt.Errorf("a %s cannot be printed", typeName(v))
	}
	return nil
}

func representList(b *strings.Builder, v *list, depth int) error {
	if v.kind > isTuple {
		return fmt.Errorf("a %s cannot be printed", typeName(v))
	}
	marks := map[kind]string{isList: "[]", isTuple: "()"}[v.kind]
	b.WriteByte(marks[0])
	for i, item := range v.items {
		if i > 0 {
			b.WriteString(", ")
		}
		if err := represent(b, item, depth+1); err != nil {
			return err
		}
	}
	if v.kind == isTuple && len(v.items) == 1 {
		b.WriteByte(',')
	}
	b.WriteByte(marks[1])
	return nil
}

// floatText is Python's repr of a float: the shortest that reads back as the same, with an exponent below 1e-4 and from
// 1e16 on.
func floatText(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64)), "+")
	case a != 0 && (a < 1e-4 || a >= 1e16):
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// quote writes Python's repr of a string.
func quote(b *strings.Builder, s string) {
	mark := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = '"'
	}
	b.WriteRune(mark)
	for _, r := range s {
		switch {
		case r == mark || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
	}
	b.WriteRune(mark)
}
