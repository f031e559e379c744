package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"benchtop/metrics"
)

// rateValue is a flag of a positive number that may be inf.
type rateValue float64

func (v *rateValue) String() string { return metrics.Rate(*v).String() }

func (v *rateValue) Type() string { return "number" }

func (v *rateValue) Set(s string) error {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) {
		return errors.New("expected a number or inf")
	}
	*v = rateValue(f)
	return nil
}

// objectives is the flag of goodput; each value adds one, a repeated metric replaces the earlier limit.
type objectives struct{ slo metrics.SLO }

func (v *objectives) String() string {
	var all []string
	for _, o := range v.slo {
		all = append(all, fmt.Sprintf("%s:%g", o.Metric.Key(), o.LimitMS))
	}
	return strings.Join(all, " ")
}

func (v *objectives) Type() string { return "name:ms" }

// Reset forgets the objectives.
func (v *objectives) Reset() { v.slo = nil }

func (v *objectives) Set(s string) error {
	o, err := metrics.ParseObjective(s)
	if err == nil {
		v.slo = v.slo.With(o)
	}
	return err
}

// gateList is the flag of --fail-on; each value adds one.
type gateList []metrics.Gate

func (v *gateList) String() string {
	var all []string
	for _, g := range *v {
		all = append(all, g.String())
	}
	return strings.Join(all, " ")
}

func (v *gateList) Type() string { return "condition" }

func (v *gateList) Set(s string) error {
	g, err := metrics.ParseGate(s)
	if err == nil {
		*v = append(*v, g)
	}
	return err
}

// textList is a flag of several texts.
type textList []string

func (v *textList) String() string { return strings.Join(*v, " ") }
func (v *textList) Type() string   { return "name" }

func (v *textList) Set(s string) error {
	*v = append(*v, s)
	return nil
}

// Reset forgets the texts.
func (v *textList) Reset() { *v = nil }

// pairList is a flag of several KEY=VALUE. An item without = is told by pairs and not by Set, whose errors repeat the
// value, which may be a secret.
type pairList struct {
	items []string
	ever  []string // those too that a later flag replaced
}

func (v *pairList) String() string { return strings.Join(v.items, " ") }
func (v *pairList) Type() string   { return "key=value" }

func (v *pairList) Set(s string) error {
	v.items, v.ever = append(v.items, s), append(v.ever, s)
	return nil
}

// Reset forgets the items.
func (v *pairList) Reset() { v.items = nil }

// pairs splits the items at the first =, both sides trimmed.
func (v *pairList) pairs(flag string) (all []metrics.Pair, err error) {
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
