package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"benchtop/export"
	"benchtop/metrics"
)

// rateValue is a flag of a positive number that may be inf.
type rateValue float64

func (v *rateValue) String() string {
	if math.IsInf(float64(*v), 1) {
		return "inf"
	}
	return strconv.FormatFloat(float64(*v), 'g', -1, 64)
}

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
		all = append(all, fmt.Sprintf("%s:%g", o.Metric, o.LimitMS))
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

// stageList is a flag of stages, LOAD:TIME separated by commas.
type stageList struct {
	users  bool
	stages []metrics.Stage
}

// mostStages bounds a plan to what a person can mean.
const mostStages = 1000

func (v *stageList) String() string {
	var all []string
	for _, s := range v.stages {
		load := strconv.Itoa(s.Users)
		if !v.users {
			load = strconv.FormatFloat(s.Rate, 'g', -1, 64)
		}
		all = append(all, load+":"+export.Duration(s.Length))
	}
	return strings.Join(all, ",")
}

func (v *stageList) Type() string { return "load:time,..." }

func (v *stageList) Set(s string) error {
	var out []metrics.Stage
	at := time.Duration(0)
	for item := range strings.SplitSeq(s, ",") {
		stage, err := v.stage(strings.TrimSpace(item))
		if err != nil {
			return err
		}
		stage.Start = at
		if at = stage.End(); at > longestRun {
			return errors.New("the stages take more than a year")
		}
		if out = append(out, stage); len(out) > mostStages {
			return fmt.Errorf("more than %d stages", mostStages)
		}
	}
	v.stages = out
	return nil
}

func (v *stageList) stage(item string) (metrics.Stage, error) {
	load, length, _ := strings.Cut(item, ":")
	d, err := time.ParseDuration(length)
	if err != nil || d <= 0 {
		return metrics.Stage{}, fmt.Errorf("%q: expected %s, such as %s", item, map[bool]string{true: "USERS:TIME", false: "RATE:TIME"}[v.users],
			map[bool]string{true: "8:20s", false: "16:30s"}[v.users])
	}
	if v.users {
		n, err := strconv.Atoi(load)
		if err != nil || n < 1 {
			return metrics.Stage{}, fmt.Errorf("%q: %q is not a number of users of at least 1", item, load)
		}
		return metrics.Stage{Users: n, Length: d}, nil
	}
	r, err := strconv.ParseFloat(load, 64)
	if err != nil || math.IsNaN(r) || math.IsInf(r, 0) || r < 0 {
		return metrics.Stage{}, fmt.Errorf("%q: %q is not a rate in requests per second", item, load)
	}
	return metrics.Stage{Rate: r, Length: d}, nil
}

// Reset forgets the stages.
func (v *stageList) Reset() { v.stages = nil }

// length of all stages.
func (v *stageList) length() time.Duration {
	if len(v.stages) == 0 {
		return 0
	}
	return v.stages[len(v.stages)-1].End()
}
