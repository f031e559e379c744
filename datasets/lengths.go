package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// RangeRatio says how far lengths stray: a length n is drawn between n·(1-ratio) and n·(1+ratio), both rounded
// outwards. Ratios lie in [0, 1).
type RangeRatio struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// ParseRangeRatio reads a number, which then holds for input and output, or a JSON object with both "input" and
// "output". Whether the ratios lie in their range is checked with the rest of the options.
func ParseRangeRatio(s string) (RangeRatio, error) {
	if f, ok := parsePythonFloat(s); ok {
		return RangeRatio{f, f}, nil
	}
	var fields map[string]json.RawMessage // a struct would take "Input" for "input" and null for 0
	if err := json.Unmarshal([]byte(s), &fields); err != nil || fields == nil {
		return RangeRatio{}, fmt.Errorf(`range ratio %q: expected a number such as 0.5 or {"input": 0.5, "output": 0.2}`, s)
	}
	input, err1 := ratioField(fields, "input")
	output, err2 := ratioField(fields, "output")
	if err := errors.Join(err1, err2); err != nil {
		return RangeRatio{}, fmt.Errorf("range ratio %q: %w", s, err)
	}
	return RangeRatio{input, output}, nil
}

func ratioField(fields map[string]json.RawMessage, key string) (float64, error) {
	raw, ok := fields[key]
	if !ok {
		return 0, fmt.Errorf("%q is missing; give both input and output", key)
	}
	var f *float64
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return 0, fmt.Errorf("%q is %s; expected a number", key, raw)
	}
	return *f, nil
}

// parsePythonFloat accepts what float() of Python accepts in ASCII: blanks around, underscores between digits, inf and
// nan, but no hexadecimal.
func parsePythonFloat(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "xXpP") {
		return 0, false
	}
	digit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	for i := range len(s) {
		if s[i] == '_' && !(digit(i-1) && digit(i+1)) {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange) // out of range is infinite, in Python too
}

// String writes the ratio so that ParseRangeRatio reads it back: one number where one will do.
func (r RangeRatio) String() string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	if r.Input == r.Output || math.IsNaN(r.Input) {
		return number(r.Input)
	}
	return fmt.Sprintf(`{"input": %s, "output": %s}`, number(r.Input), number(r.Output))
}

// bounds are the shortest and longest length drawn around n. They are computed in doubles without any care for what
// people would expect, because vLLM does: 100·(1+0.1) is a little above 110, so the longest is 111.
func bounds(n int, ratio float64) (lo, hi int) {
	return int(math.Floor(float64(n) * (1 - ratio))), int(math.Ceil(float64(n) * (1 + ratio)))
}
