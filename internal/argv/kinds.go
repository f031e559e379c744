package argv

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/metrics"
)

// Rate is the flag of a positive number that may be inf.
type Rate float64

func (v *Rate) String() string { return metrics.Rate(*v).String() }

// Type stands for a value in the help.
func (v *Rate) Type() string { return "number" }

// Set reads a number.
func (v *Rate) Set(s string) error {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) {
		return errors.New("expected a number or inf")
	}
	*v = Rate(f)
	return nil
}

// Seconds is the flag of a time that vLLM's client takes as a number of seconds; a unit is taken as well.
type Seconds time.Duration

func (v *Seconds) String() string { return time.Duration(*v).String() }

// Type stands for a value in the help.
func (v *Seconds) Type() string { return "seconds" }

// Set reads a time.
func (v *Seconds) Set(s string) error {
	d, err := time.ParseDuration(s)
	if number, problem := strconv.ParseFloat(s, 64); problem == nil && math.Abs(number) <= math.MaxInt64/1e9 {
		d, err = time.Duration(number*float64(time.Second)), nil
	}
	if err != nil {
		return errors.New("expected seconds, or a time such as 500ms, 30s or 2m")
	}
	*v = Seconds(d)
	return nil
}

// Objectives is the flag of goodput; each value adds one, a repeated metric replaces the earlier limit.
type Objectives metrics.SLO

func (v *Objectives) String() string { return metrics.SLO(*v).String() }

// Type stands for a value in the help.
func (v *Objectives) Type() string { return "name:ms" }

// Reset forgets the objectives.
func (v *Objectives) Reset() { *v = nil }

// Set adds objectives, separated by blanks.
func (v *Objectives) Set(s string) error {
	for _, word := range strings.Fields(s) {
		o, err := metrics.ParseObjective(word)
		if err != nil {
			return err
		}
		*v = Objectives(metrics.SLO(*v).With(o))
	}
	if strings.TrimSpace(s) == "" {
		_, err := metrics.ParseObjective(s)
		return err
	}
	return nil
}

// list is a flag of several values.
type list[T any] struct {
	items *[]T
	kind  string
	parse func(string) (T, error)
}

// List is a flag whose values are added to items. The kind stands for a value in the help.
func List[T any](items *[]T, kind string, parse func(string) (T, error)) pflag.Value {
	return &list[T]{items, kind, parse}
}

func (v *list[T]) String() string {
	text := fmt.Sprint(*v.items)
	return text[1 : len(text)-1] // without the brackets
}

func (v *list[T]) Type() string { return v.kind }

func (v *list[T]) Set(s string) error {
	item, err := v.parse(s)
	if err == nil {
		*v.items = append(*v.items, item)
	}
	return err
}

// Reset forgets the values.
func (v *list[T]) Reset() { *v.items = nil }

// wordsAnnotation has the words that a flag may be given.
const wordsAnnotation = "Words"

// Words says which words a flag of f may be given, for completion. Others are not refused.
func Words(f *pflag.FlagSet, flag string, words ...string) {
	_ = f.SetAnnotation(flag, wordsAnnotation, words)
}

// OneOf restricts a flag of f to some words.
func OneOf(f *pflag.FlagSet, flag string, words ...string) {
	Words(f, flag, words...)
	x := f.Lookup(flag)
	x.Value = oneOf{x.Value, words}
}

// oneOf is a flag of one of several words.
type oneOf struct {
	pflag.Value
	words []string
}

func (v oneOf) Set(s string) error {
	if !slices.Contains(v.words, s) {
		return errors.New("use " + strings.Join(v.words, " or "))
	}
	return v.Value.Set(s)
}

// Text is a value of a [List] as it is written.
func Text(s string) (string, error) { return s, nil }

// Pairs is a flag of several KEY=VALUE. Split reports an item without =, since errors of Set repeat the value, which
// may be a secret.
type Pairs struct {
	items []string
	Ever  []string // includes those that a later flag replaced
}

func (v *Pairs) String() string { return strings.Join(v.items, " ") }
func (v *Pairs) Type() string   { return "key=value" }

func (v *Pairs) Set(s string) error {
	v.items, v.Ever = append(v.items, s), append(v.Ever, s)
	return nil
}

// Reset forgets the items.
func (v *Pairs) Reset() { v.items = nil }

// Split splits the items at the first =, both sides trimmed.
func (v *Pairs) Split(flag string) (all []metrics.Pair, err error) {
	var problems []error
	for i, item := range v.items {
		key, value, ok := strings.Cut(item, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			problems = append(problems, fmt.Errorf("--%s: item %d is not KEY=VALUE", flag, i+1))
			continue
		}
		all = append(all, metrics.Pair{Key: key, Value: strings.TrimSpace(value)})
	}
	return all, errors.Join(problems...)
}
