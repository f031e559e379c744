package plot

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/pyjson"
	"benchtop/internal/usage"
)

// Filter keeps the records whose field compares with a value.
type Filter struct{ Key, operator, target string }

// operators are in the order in which a filter's text is searched for them.
var operators = []string{"==", "!=", "<=", ">=", "<", ">"}

// ParseFilters reads a comma list such as max_concurrency<=64,backend==vllm. The error has all that is wrong with it.
func ParseFilters(list string) (filters []Filter, err error) {
	var problems usage.Problems
	for _, s := range Split(list) {
		f, err := parseFilter(s)
		if err != nil {
			problems.Bad("%s: %w", usage.Quote(s), err)
		}
		filters = append(filters, f)
	}
	return filters, errors.Join(problems...)
}

func parseFilter(s string) (Filter, error) {
	for _, operator := range operators {
		key, target, found := strings.Cut(s, operator)
		if !found {
			continue
		}
		f := Filter{strings.TrimSpace(key), operator, strings.Trim(strings.Trim(strings.TrimSpace(target), "'"), `"`)}
		if f.Key == "" {
			return f, fmt.Errorf("expected the name of a field before %s", operator)
		}
		if _, isNumber := parseNumber(f.target); !isNumber && operator != "==" && operator != "!=" {
			return f, fmt.Errorf("expected a number after %s, got %s", operator, usage.Quote(f.target))
		}
		return f, nil
	}
	return Filter{}, fmt.Errorf("expected a field, one of %s, and a value", strings.Join(operators, " "))
}

// parseNumber reads a number as Python's float does, such as 1e3, inf or nan.
func parseNumber(s string) (float64, bool) {
	if s = strings.TrimSpace(s); strings.ContainsAny(s, "xXpP_") {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil
	}
	return n, err == nil
}

// apply keeps the records that the filter holds for. A text is an error where a number is compared.
func (f Filter) apply(records []Record) (kept []Record, err error) {
	matches := f.equal(records)
	for i := range records {
		v := records[i].fields[f.Key]
		holds := false
		switch f.operator {
		case "==":
			holds = matches(v)
		case "!=":
			holds = !matches(v)
		default:
			n, ok := v.numeric()
			if !ok {
				return nil, fmt.Errorf("filter %s%s%s needs numbers, but %s has %s", f.Key, f.operator, f.target,
					records[i].place(), usage.Quote(v.text))
			}
			target, _ := parseNumber(f.target)
			holds = compare(n, f.operator, target)
		}
		if holds {
			kept = append(kept, records[i])
		}
	}
	return kept, nil
}

func compare(a float64, operator string, b float64) bool {
	switch operator {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}

// equal compares with the target: as a truth value if the field has nothing else, else as a number if the target is
// one, else as a text. A number never equals a text.
func (f Filter) equal(records []Record) func(value) bool {
	lower := strings.ToLower(f.target)
	if lower == "true" || lower == "false" {
		truths := !slices.ContainsFunc(records,
			func(r Record) bool { k := r.fields[f.Key].kind; return k != truth && k != null })
		if truths {
			return func(v value) bool { return v.kind == truth && strings.ToLower(v.text) == lower }
		}
	}
	if n, ok := parseNumber(f.target); ok {
		return func(v value) bool { return (v.kind == number || v.kind == truth) && v.number == n }
	}
	return func(v value) bool { return v.kind == words && v.text == f.target }
}

// Bin rounds a field down to multiples of a size.
type Bin struct {
	Key  string
	Size float64
}

// ParseBins reads a comma list such as request_throughput%5. The error has all that is wrong with it.
func ParseBins(list string) (bins []Bin, err error) {
	var problems usage.Problems
	for _, s := range Split(list) {
		key, size, found := strings.Cut(s, "%")
		b := Bin{Key: strings.TrimSpace(key)}
		n, isNumber := parseNumber(size)
		switch b.Size = n; {
		case !found || b.Key == "":
			problems.Bad("%s: expected a field, %% and the size of a bin", usage.Quote(s))
		case !isNumber || !(n > 0) || math.IsInf(n, 0):
			problems.Bad("%s: expected a size above 0 after %%, got %s", usage.Quote(s),
				usage.Quote(strings.TrimSpace(size)))
		}
		bins = append(bins, b)
	}
	return bins, errors.Join(problems...)
}

// apply returns the records with their field rounded down.
func (b Bin) apply(records []Record) ([]Record, error) {
	out := slices.Clone(records)
	for i := range out {
		v, ok := out[i].fields[b.Key]
		n, isNumber := v.numeric()
		switch {
		case !ok || v.kind == null:
			continue
		case !isNumber:
			return nil, fmt.Errorf("bin %s%%%s needs numbers, but %s has %s", b.Key, pyjson.Float(b.Size),
				out[i].place(), usage.Quote(v.text))
		}
		n = floorDivide(n, b.Size) * b.Size
		out[i].fields = maps.Clone(out[i].fields)
		out[i].fields[b.Key] = value{number, pyjson.Float(n), n}
	}
	return out, nil
}

// floorDivide is Python's a // b for b > 0: it agrees with the remainder, so that 1 // 0.1 is 9, as 0.1 is a little
// more than a tenth.
func floorDivide(a, b float64) float64 {
	rest := math.Mod(a, b)
	whole := (a - rest) / b
	if rest < 0 {
		whole--
	}
	floor := math.Floor(whole)
	if whole-floor > 0.5 {
		floor++
	}
	return floor
}

// Split is a comma list; nothing is an empty one.
func Split(list string) []string {
	if strings.TrimSpace(list) == "" {
		return nil
	}
	parts := strings.Split(list, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
