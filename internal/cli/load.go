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

	"benchtop/datasets"
	"benchtop/internal/cli/argv"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// loadOptions say when requests start.
type loadOptions struct {
	prompts               int
	seed                  int64
	rate, burstiness      argv.Rate
	concurrency           int
	ramp                  rampOptions
	stages                stageOptions
	duration, warmup      time.Duration
	warmups               int
	probeRate             float64
	stall, timeout, drain time.Duration
	find                  findOptions

	promptsGiven bool
	allRows      bool // 0 prompts are as many as the data set has
	selfTimed    bool // a trace says when requests start
}

func (o *loadOptions) define(f *pflag.FlagSet) {
	d := loadgen.Defaults()
	o.rate, o.burstiness = argv.Rate(math.Inf(1)), 1
	f.IntVar(&o.prompts, "num-prompts", 1000, "number of requests")
	f.Int64Var(&o.seed, "seed", 0, "seed of all draws, 0 to 4294967295")
	f.Var(&o.rate, "request-rate", "requests per second; inf sends everything at once")
	f.Var(&o.burstiness, "burstiness", "shape of the gaps: 1 Poisson, smaller burstier, inf constant")
	f.IntVar(&o.concurrency, "max-concurrency", 0, "most requests in flight; 0 for no limit")
	o.ramp.define(f)
	o.stages.define(f)
	f.DurationVar(&o.duration, "duration", 0, "stop sending after this time; 0 for no limit")
	f.DurationVar(&o.warmup, "warmup", 0, "leave the beginning of the run out of every figure")
	f.IntVar(&o.warmups, "num-warmups", 0, "requests before the run, in no figure")
	f.Float64Var(&o.probeRate, "probe-request-rate", 0, "tiny requests per second sent beside the load, one after the other")
	f.DurationVar(&o.stall, "stall-timeout", d.StallTimeout, "give a request up when no chunk came for this long after its first")
	f.DurationVar(&o.timeout, "request-timeout", d.RequestTimeout, "give a request up after this time")
	f.DurationVar(&o.drain, "drain-timeout", d.Drain, "how long requests in flight may go on after you quit")
	o.find.define(f)
}

// shape is the load of the flags.
func (o *loadOptions) shape() shape.Shape { return o.shapes()[0] }

// shapes are all loads that the flags ask for. The first one counts; check refuses most of the others beside it.
func (o *loadOptions) shapes() (all []shape.Shape) {
	least := 1
	if o.allRows {
		least = 0
	}
	b := shape.Bounds{Count: max(o.prompts, least), Asked: o.promptsGiven, Duration: o.duration, Limit: o.concurrency}
	if o.find.searching() {
		all = append(all, o.find.shape(b))
	}
	if o.selfTimed {
		all = append(all, shape.Trace{Bounds: b})
	}
	if o.stages.given() {
		all = append(all, o.stages.shape(b, float64(o.burstiness)))
	}
	if o.ramp.Strategy != "" {
		all = append(all, o.ramp.shape(b, float64(o.burstiness)))
	}
	switch {
	case len(all) > 0:
		return all
	case o.concurrency > 0 && o.duration > 0 && !o.hasRate():
		return []shape.Shape{shape.Users{Bounds: b}}
	}
	return []shape.Shape{shape.Rate{Bounds: b, PerSecond: metrics.Rate(o.rate), Burstiness: float64(o.burstiness)}}
}

// hasRate reports whether requests are limited to a number per second.
func (o *loadOptions) hasRate() bool { return !math.IsInf(float64(o.rate), 1) }

// check reports problems of the flags and of the load they make.
func (o *loadOptions) check(given *pflag.FlagSet, slo metrics.SLO) (p usage.Problems) {
	o.promptsGiven = given.Changed("num-prompts")
	p.BadIf(!(o.rate > 0), "--request-rate %s: must be more than 0", &o.rate)
	p.BadIf(!(o.burstiness > 0), "--burstiness %s: must be more than 0", &o.burstiness)
	p.BadIf(o.concurrency < 0, "--max-concurrency %d: must be more than 0, or 0 for no limit", o.concurrency)
	p = append(p, o.checkDraws()...)
	p.BadIf(o.warmups < 0, "--num-warmups %d: must not be negative", o.warmups)
	p.BadIf(!(o.probeRate >= 0) || math.IsInf(o.probeRate, 0), "--probe-request-rate %g: must be a number of 0 or more", o.probeRate)
	checkTime(&p, "duration", o.duration, 0)
	checkTime(&p, "warmup", o.warmup, 0)
	checkTime(&p, "drain-timeout", o.drain, 0)
	checkTime(&p, "stall-timeout", o.stall, 1)
	checkTime(&p, "request-timeout", o.timeout, 1)
	p = append(p, o.ramp.check(o)...)
	p = append(p, o.stages.check(o)...)
	p = append(p, o.checkTrace()...)
	p = append(p, o.find.check(given, o, slo)...)
	for _, s := range o.shapes() {
		p = append(p, s.Validate()...)
	}
	if end := o.shape().End(); o.warmup > 0 && end > 0 && o.warmup >= end {
		p.Bad("--warmup %s: the run is over after %s", metrics.Duration(o.warmup), metrics.Duration(end))
	}
	return p
}

// checkTime checks the value of a flag that has to be between some least time and a year.
func checkTime(p *usage.Problems, flag string, d, least time.Duration) {
	switch {
	case d > shape.LongestRun:
		p.Bad("--%s %s: more than a year", flag, d)
	case d < 0:
		p.Bad("--%s %s: must not be negative", flag, d)
	case d < least:
		p.Bad("--%s %s: must be more than 0", flag, d)
	}
}

// checkDraws is about what is drawn, whenever it is sent.
func (o *loadOptions) checkDraws() (p usage.Problems) {
	switch {
	case o.prompts < 1 && !o.allRows:
		p.Bad("--num-prompts %d: must be at least 1", o.prompts)
	case o.prompts < 0:
		p.Bad("--num-prompts %d: must be at least 1, or 0 for every row once", o.prompts)
	}
	p.BadIf(o.seed < 0 || o.seed > math.MaxUint32, "--seed %d: seeds are from 0 to 4294967295", o.seed)
	return p
}

// checkTrace refuses loads beside the times of a trace. A rate is ignored, as with vLLM.
func (o *loadOptions) checkTrace() (p usage.Problems) {
	for _, x := range []struct {
		name  string
		given bool
	}{
		{"stages", len(o.stages.rates.stages) > 0}, {"concurrency-stages", len(o.stages.users.stages) > 0},
		{"ramp-over", o.ramp.Over > 0}, {"find", o.find.searching()},
	} {
		p.BadIf(o.selfTimed && x.given, "--%s: the trace has times of its own; add --no-self-timed to send it otherwise", x.name)
	}
	return p
}

// send sets what the load asks of the engine.
func (o *loadOptions) send(e *loadgen.Options, a shape.Arrivals) {
	e.Schedule, e.ClosedLoop, e.Limit, e.Until = a.Schedule, a.ClosedLoop, a.Limit, a.Until
	e.ProbeRate, e.Probe = o.probeRate, datasets.Turn{Text: "Hi", InputTokens: 1, MaxTokens: 1}
	e.Drain, e.StallTimeout, e.RequestTimeout = o.drain, o.stall, o.timeout
}

// plan writes the load into a plan. rows are the conversations of the data set, requests those that are sent.
func (o *loadOptions) plan(p *metrics.Plan, rows, requests int) {
	p.Seed, p.Rate, p.Burstiness, p.Warmup = o.seed, metrics.Rate(o.rate), float64(o.burstiness), o.warmup
	shape.Enter(p, o.shape(), rows, requests)
}

// rampOptions let the rate grow.
type rampOptions struct {
	metrics.Ramp // From and To are NaN where they are not given
}

func (o *rampOptions) define(f *pflag.FlagSet) {
	f.StringVar(&o.Strategy, "ramp-up-strategy", "", "let the rate grow: linear or exponential; over the requests unless --ramp-over is given")
	f.Float64Var(&o.From, "ramp-up-start-rps", math.NaN(), "requests per second at the start of the ramp")
	f.Float64Var(&o.To, "ramp-up-end-rps", math.NaN(), "requests per second at the end of the ramp")
	f.DurationVar(&o.Over, "ramp-over", 0, "let the ramp take this time, and end the run with it unless --duration or --num-prompts say otherwise")
	for _, name := range []string{"ramp-up-start-rps", "ramp-up-end-rps"} {
		f.Lookup(name).DefValue = "0" // NaN would be shown
	}
}

// check reports how a ramp is asked for; whether it can be is for its shape to say.
func (o *rampOptions) check(load *loadOptions) (p usage.Problems) {
	checkTime(&p, "ramp-over", o.Over, 0)
	switch {
	case o.Strategy == "" && o.Over > 0:
		p.Bad("--ramp-over: needs --ramp-up-strategy, --ramp-up-start-rps and --ramp-up-end-rps")
	case o.Strategy != "":
		p.OneOf("ramp-up-strategy", o.Strategy, "linear", "exponential")
	}
	p.BadIf(o.Strategy != "" && load.hasRate(), "--ramp-up-strategy and --request-rate: choose one; a ramp has rates of its own")
	return p
}

func (o *rampOptions) shape(b shape.Bounds, burstiness float64) shape.Shape {
	if o.Over > 0 {
		return shape.NewTimedRamp(b, o.Ramp, burstiness)
	}
	return shape.Ramp{Bounds: b, Line: o.Ramp, Burstiness: burstiness}
}

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
	p.BadIf(rates && users, "--stages and --concurrency-stages: choose one")
	p.BadIf(load.ramp.Strategy != "", "%s and --ramp-up-strategy: choose one", name)
	p.BadIf(load.hasRate(), "%s and --request-rate: choose one; stages have loads of their own", name)
	p.BadIf(users && load.concurrency > 0, "--concurrency-stages and --max-concurrency: choose one")
	p.BadIf(rates && !slices.ContainsFunc(o.rates.stages, func(s metrics.Stage) bool { return s.Rate > 0 }), "--stages %s: nothing would be sent", &o.rates)
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

// findOptions ask for a search for the highest load within the objectives.
type findOptions struct {
	on bool
	metrics.Find
	within metrics.SLO
}

func (o *findOptions) define(f *pflag.FlagSet) {
	f.BoolVar(&o.on, "find", false, "search for the highest request rate within --goodput: raise it until it is too much, close in, hold the result")
	f.BoolVar(&o.Users, "find-users", false, "search for the highest number of users without pause instead")
	f.Float64Var(&o.From, "find-from", 1, "load the search begins with, in requests per second or users")
	f.Float64Var(&o.Most, "find-most", 1000, "load the search ends at")
	f.DurationVar(&o.Step, "find-step", 10*time.Second, "how long each load of the search takes")
	f.DurationVar(&o.Hold, "find-hold", 30*time.Second, "how long the load that was found is held")
}

// searching says that there is a search.
func (o *findOptions) searching() bool { return o.on || o.Users }

// check reports what does not go with a search.
func (o *findOptions) check(given *pflag.FlagSet, load *loadOptions, slo metrics.SLO) (p usage.Problems) {
	o.within = slo
	if !o.searching() {
		for _, name := range []string{"find-from", "find-most", "find-step", "find-hold"} {
			p.BadIf(given.Changed(name), "--%s: needs --find or --find-users", name)
		}
		return p
	}
	p.BadIf(o.on && o.Users && given.Changed("find"), "--find and --find-users: choose one, a rate or users")
	p.BadIf(len(slo) == 0, "--find: say with --goodput what the search has to stay within, as --goodput ttft:500 tpot:50")
	for _, name := range []string{"num-prompts", "request-rate", "ramp-up-strategy", "ramp-over", "stages", "concurrency-stages"} {
		if given.Changed(name) {
			p.Bad("--find and --%s: the search sets the load and ends the run itself; begin it with --find-from, bound it with --find-most or --duration", name)
		}
	}
	p.BadIf(o.Users && load.concurrency > 0, "--find-users and --max-concurrency: the search sets the number of users; bound it with --find-most")
	if o.Users && o.Most > 0 && o.Most <= shape.HighestRate {
		p.Flag(fmt.Sprintf("find-most %g", o.Most), room(int(o.Most)))
	}
	return p
}

func (o *findOptions) shape(b shape.Bounds) shape.Shape {
	return shape.NewSearch(b, o.Find, strings.ReplaceAll(o.within.String(), " ", ", "))
}
