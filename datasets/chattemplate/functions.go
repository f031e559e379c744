package chattemplate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// maxRange is the longest range that Jinja's sandbox allows.
const maxRange = 100_000

func callRange(r *run, args []any, named map[string]any) (any, error) {
	bounds := [3]int{0, 0, 1}
	for i, a := range args {
		n, ok := a.(int)
		if !ok || i > 2 {
			return nil, fmt.Errorf("range: %s is no bound", typeName(a))
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
		return nil, fmt.Errorf("strftime_now: %s is no str", typeName(args[0]))
	}
	return strftime(format, r.now())
}

func strftime(format string, now time.Time) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		directive := "%"
		if i < len(format) {
			directive = format[i : i+1]
		}
		if directive == "-" && i+1 < len(format) {
			i++
			directive = format[i-1 : i+1]
		}
		s, known := timeText(directive, now)
		if !known {
			return "", fmt.Errorf("strftime_now: the directive %%%s is not supported", directive)
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// timeText is one directive in the C locale.
func timeText(directive string, now time.Time) (string, bool) {
	layouts := []string{"d", "02", "b", "Jan", "B", "January", "Y", "2006", "y", "06", "m", "01", "H", "15", "M", "04", "S", "05",
		"I", "03", "p", "PM", "A", "Monday", "a", "Mon", "-d", "2", "-m", "1", "-I", "3", "e", "_2", "j", "002", "F", "2006-01-02",
		"T", "15:04:05", "R", "15:04", "D", "01/02/06"}
	if directive == "%" {
		return "%", true
	}
	if i := slices.Index(layouts, directive); i >= 0 && i%2 == 0 {
		return now.Format(layouts[i+1]), true
	}
	return "", false
}
