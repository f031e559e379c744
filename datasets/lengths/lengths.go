// Package lengths describes how the lengths of prompts and answers are spread, and draws them: from a distribution, or
// from a mix of pairs of distributions.
//
//	256                                    always so many tokens
//	uniform min=100 max=200                equal weights
//	normal mean=1024 std=200               also with min and max
//	lognormal mean=1024 std=600 max=8192   mean and standard deviation are those of the lengths
//	zipf alpha=1.2 max=8192                a length k in proportion to k^-alpha
//
// A mix is such pairs with their weights: "60: 256/128; 40: lognormal mean=4096 std=2000/512".
package lengths

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/usage"
)

// Most bounds each length in tokens: well above the longest contexts, and still little enough for memory.
const Most = 1 << 24

// Distribution says how lengths are spread. Lengths outside Min … Max do not occur; the others keep their proportions.
type Distribution struct {
	Name      string  // "" for a fixed length, Min
	Mean, Std float64 // of normal and lognormal, before the lengths outside Min … Max are left out
	Alpha     float64 // of zipf
	Min, Max  int
}

// Fixed is always the same length.
func Fixed(length int) Distribution { return Distribution{Min: length, Max: length} }

// The names of distributions.
const (
	uniform   = "uniform"
	normal    = "normal"
	lognormal = "lognormal"
	zipf      = "zipf"
)

// parameters lists those that a distribution needs and may have.
var parameters = map[string]struct{ needs, may []string }{
	uniform:   {[]string{"min", "max"}, nil},
	normal:    {[]string{"mean", "std"}, []string{"min", "max"}},
	lognormal: {[]string{"mean", "std"}, []string{"min", "max"}},
	zipf:      {[]string{"alpha", "max"}, []string{"min"}},
}

// Parse reads a distribution.
func Parse(text string) (Distribution, error) {
	d, err := parse(text)
	if err != nil {
		return Distribution{}, fmt.Errorf("%s: %w", quoted(text), err)
	}
	return d, nil
}

func parse(text string) (d Distribution, err error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || strings.ContainsRune(" \t\r\n", r) })
	if len(words) == 0 {
		return d, fmt.Errorf("expected a length, or a distribution such as %q", "lognormal mean=1024 std=600 max=8192")
	}
	if len(words) == 1 && strings.Trim(words[0], "0123456789") == "" {
		length, err := wholeLength(words[0])
		return Fixed(length), err
	}
	d = Distribution{Name: words[0], Min: 1, Max: Most}
	known, ok := parameters[d.Name]
	if !ok {
		return d, fmt.Errorf("unknown distribution %s; use a number, uniform, normal, lognormal or zipf",
			quoted(words[0]))
	}
	var given []string
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		if !slices.Contains(known.needs, name) && !slices.Contains(known.may, name) {
			return d, fmt.Errorf("%s: unknown parameter of %s; %s", quoted(word), d.Name, d.form())
		}
		if slices.Contains(given, name) {
			return d, fmt.Errorf("%s is given twice", name)
		}
		given = append(given, name)
		if err := d.set(name, value); err != nil {
			return d, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, name := range known.needs {
		if !slices.Contains(given, name) {
			return d, fmt.Errorf("%s is missing; %s", name, d.form())
		}
	}
	return d, d.check()
}

// form says how the distribution is written.
func (d Distribution) form() string {
	p := parameters[d.Name]
	text := "expected " + d.Name
	for _, name := range p.needs {
		text += " " + name + "=…"
	}
	if len(p.may) > 0 {
		text += ", and " + strings.Join(p.may, " and ") + " if wanted"
	}
	return text
}

func (d *Distribution) set(name, value string) (err error) {
	switch name {
	case "min":
		d.Min, err = wholeLength(value)
	case "max":
		d.Max, err = wholeLength(value)
	case "mean":
		d.Mean, err = number(value, Most)
	case "std":
		d.Std, err = number(value, Most)
	case "alpha":
		d.Alpha, err = number(value, maxAlpha)
	}
	return err
}

// maxAlpha is far beyond those of any data.
const maxAlpha = 100

// wholeLength reads a length in tokens.
func wholeLength(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > Most {
		return 0, fmt.Errorf("expected a whole number from 1 to %d: got %s", Most, quoted(text))
	}
	return n, nil
}

// number reads a number from 0 to most.
func number(text string, most float64) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xX_") || !(f >= 0 && f <= most) {
		return 0, fmt.Errorf("expected a number from 0 to %.0f: got %s", most, quoted(text))
	}
	return f, nil
}

// leastShare is how much of a distribution must lie within its bounds. With less they are likely a mistake.
const leastShare = 1e-6

// check finds parameters that contradict each other.
func (d Distribution) check() error {
	switch {
	case d.Min > d.Max:
		return fmt.Errorf("min %d is more than max %d", d.Min, d.Max)
	case d.Name == zipf && d.Alpha == 0:
		return fmt.Errorf("alpha must be above 0; for equal weights use uniform min=%d max=%d", d.Min, d.Max)
	case d.Name != normal && d.Name != lognormal:
		return nil
	case d.Name == lognormal && d.Mean == 0:
		return fmt.Errorf("the mean of lognormal must be above 0")
	}
	if lo, hi := d.probabilities(); !(hi-lo >= leastShare) {
		return fmt.Errorf("hardly any of its lengths lie within min %d and max %d", d.Min, d.Max)
	}
	return nil
}

// String writes the distribution so that Parse reads it back.
func (d Distribution) String() string {
	if d.Name == "" {
		return strconv.Itoa(d.Min)
	}
	text := d.Name
	add := func(name string, value float64) { text += " " + name + "=" + strconv.FormatFloat(value, 'f', -1, 64) }
	switch d.Name {
	case normal, lognormal:
		add("mean", d.Mean)
		add("std", d.Std)
	case zipf:
		add("alpha", d.Alpha)
	}
	if d.Min > 1 || d.Name == uniform {
		add("min", float64(d.Min))
	}
	if d.Max < Most || d.Name == uniform || d.Name == zipf {
		add("max", float64(d.Max))
	}
	return text
}

// meanWithin is the mean of normal and lognormal lengths within their bounds, 0 for other distributions.
func (d Distribution) meanWithin() float64 {
	if d.Std == 0 {
		return d.Mean
	}
	lo, hi := d.probabilities()
	a, b := d.bounds()
	switch d.Name {
	case normal:
		density := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
		return d.Mean + d.Std*(density(a)-density(b))/(hi-lo)
	case lognormal:
		_, sigma := d.logs()
		return d.Mean * (phi(b-sigma) - phi(a-sigma)) / (hi - lo)
	}
	return 0
}

// Share is one of the pairs of a mix.
type Share struct {
	Weight        float64 // in proportion to the other weights
	Input, Output Distribution
}

// Mix is pairs of distributions of input and output lengths. Each request has one of the pairs.
type Mix []Share

// maxShares bounds a mix; each of its pairs takes a moment for each request.
const maxShares = 100

// ParseMix reads a mix.
func ParseMix(text string) (m Mix, err error) {
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";") {
		share, err := parseShare(part)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", quoted(strings.TrimSpace(part)), err)
		}
		if m = append(m, share); len(m) > maxShares {
			return nil, fmt.Errorf("more than %d pairs of lengths", maxShares)
		}
	}
	return m, nil
}

func parseShare(text string) (s Share, err error) {
	weight, pair, weighted := strings.Cut(text, ":")
	input, output, paired := strings.Cut(pair, "/")
	if !weighted || !paired {
		return s, fmt.Errorf("expected WEIGHT: INPUT/OUTPUT, such as %q", "60: 256/128")
	}
	if s.Weight, err = number(strings.TrimSpace(weight), math.MaxFloat32); err != nil || s.Weight == 0 {
		return s, fmt.Errorf("weight: expected a number above 0: got %s", quoted(strings.TrimSpace(weight)))
	}
	if s.Input, err = parse(input); err != nil {
		return s, fmt.Errorf("input: %w", err)
	}
	if s.Output, err = parse(output); err != nil {
		return s, fmt.Errorf("output: %w", err)
	}
	return s, nil
}

// String writes the mix so that ParseMix reads it back.
func (m Mix) String() string {
	var parts []string
	for _, s := range m {
		parts = append(parts, fmt.Sprintf("%s: %s/%s", strconv.FormatFloat(s.Weight, 'f', -1, 64), s.Input, s.Output))
	}
	return strings.Join(parts, "; ")
}

// MarshalText is String.
func (m Mix) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// quoted is a text of the user's in quotes, or the beginning of a long one.
func quoted(s string) string { return strconv.Quote(usage.Shorten(s)) }
