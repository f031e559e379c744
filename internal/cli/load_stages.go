package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/internal/usage"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// stageOptions are loads one after the other.
type stageOptions struct{ rates, users stageList }

func (o *stageOptions) define(f *pflag.FlagSet) {
	o.users.users = true
	f.Var(&o.rates, "stages", "rates one after the other, as 8:30s,16:30s,32:1m")
	f.Var(&o.users, "concurrency-stages", "users without pause, one number after the other, as 1:20s,8:20s,64:1m")
}

// given reports whether there are stages.
func (o *stageOptions) given() bool { return len(o.rates.stages) > 0 || len(o.users.stages) > 0 }

func (o *stageOptions) check(load *loadOptions) (p usage.Problems) {
	rates, users := len(o.rates.stages) > 0, len(o.users.stages) > 0
	name := map[bool]string{true: "--stages", false: "--concurrency-stages"}[rates]
	if !rates && !users {
		return nil
	}
	if rates && users {
		p.Bad("--stages and --concurrency-stages: choose one")
	}
	if load.ramp.Strategy != "" {
		p.Bad("%s and --ramp-up-strategy: choose one", name)
	}
	if load.hasRate() {
		p.Bad("%s and --request-rate: choose one; stages have loads of their own", name)
	}
	if users && load.concurrency > 0 {
		p.Bad("--concurrency-stages and --max-concurrency: choose one")
	}
	if rates && !slices.ContainsFunc(o.rates.stages, func(s metrics.Stage) bool { return s.Rate > 0 }) {
		p.Bad("--stages %s: nothing would be sent", &o.rates)
	}
	return p
}

func (o *stageOptions) shape(b shape.Bounds, burstiness float64) shape.Shape {
	if len(o.users.stages) > 0 {
		return shape.NewUserStages(b, o.users.stages)
	}
	return shape.NewStages(b, o.rates.stages, burstiness)
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
		all = append(all, load+":"+metrics.Duration(s.Length))
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
		if at = stage.End(); at > shape.LongestRun {
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
