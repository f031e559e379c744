package cli

import (
	"math"
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
	if !(o.rate > 0) {
		p.Bad("--request-rate %s: must be more than 0", &o.rate)
	}
	if !(o.burstiness > 0) {
		p.Bad("--burstiness %s: must be more than 0", &o.burstiness)
	}
	if o.concurrency < 0 {
		p.Bad("--max-concurrency %d: must be more than 0, or 0 for no limit", o.concurrency)
	}
	p = append(p, o.checkDraws()...)
	if o.warmups < 0 {
		p.Bad("--num-warmups %d: must not be negative", o.warmups)
	}
	if !(o.probeRate >= 0) || math.IsInf(o.probeRate, 0) {
		p.Bad("--probe-request-rate %g: must be a number of 0 or more", o.probeRate)
	}
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
	if o.seed < 0 || o.seed > math.MaxUint32 {
		p.Bad("--seed %d: seeds are from 0 to 4294967295", o.seed)
	}
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
		if o.selfTimed && x.given {
			p.Bad("--%s: the trace has times of its own; add --no-self-timed to send it otherwise", x.name)
		}
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
