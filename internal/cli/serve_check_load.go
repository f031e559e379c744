package cli

import (
	"math"
	"slices"
	"time"

	"benchtop/export"
	"benchtop/loadgen"
	"benchtop/metrics"
)

// longestRun is beyond any run, and within what times can hold.
const longestRun = 365 * 24 * time.Hour

func (o *loadOptions) check() (p problemList) {
	if !(o.rate > 0) {
		p.bad("--request-rate %s: must be more than 0", &o.rate)
	}
	if !(o.burstiness > 0) {
		p.bad("--burstiness %s: must be more than 0", &o.burstiness)
	}
	if o.concurrency < 0 {
		p.bad("--max-concurrency %d: must be more than 0, or 0 for no limit", o.concurrency)
	}
	p = append(p, o.checkDraws()...)
	if o.warmups < 0 {
		p.bad("--num-warmups %d: must not be negative", o.warmups)
	}
	if !(o.probeRate >= 0) || math.IsInf(o.probeRate, 0) {
		p.bad("--probe-request-rate %g: must be a number of 0 or more", o.probeRate)
	}
	for _, x := range []struct {
		name string
		d    time.Duration
		zero bool
	}{
		{"duration", o.duration, true}, {"warmup", o.warmup, true}, {"drain-timeout", o.drain, true}, {"ramp-over", o.rampOver, true},
		{"stall-timeout", o.stall, false}, {"request-timeout", o.timeout, false},
	} {
		switch {
		case x.d > longestRun:
			p.bad("--%s %s: more than a year", x.name, x.d)
		case x.d < 0:
			p.bad("--%s %s: must not be negative", x.name, x.d)
		case x.d == 0 && !x.zero:
			p.bad("--%s %s: must be more than 0", x.name, x.d)
		}
	}
	p = append(p, o.checkRamp()...)
	p = append(p, o.checkStages()...)
	p = append(p, o.checkTrace()...)
	if o.rampOver > 0 && o.everyRow() && o.duration == 0 {
		p.bad("--num-prompts 0 with --ramp-over: say with --duration when the run ends, as nobody knows yet how many rows there are")
	}
	if len(p) > 0 {
		return p
	}
	if rate := float64(o.rate); !math.IsInf(rate, 1) && float64(o.planned())/rate > longestRun.Seconds() {
		p.bad("--request-rate %s: %d requests would take more than a year", &o.rate, o.planned())
	}
	if n := max(o.expected(), float64(o.planned())); n > loadgen.MostArrivals {
		p.bad("about %.3g requests: more than %d are too many for one run", n, loadgen.MostArrivals)
	}
	if o.endless() && o.concurrency == 0 && len(o.users.stages) == 0 && !o.find.searching() {
		p.bad("--duration at an infinite rate sends without end: limit it with --max-concurrency, --request-rate or --num-prompts")
	}
	if end := o.length(); o.warmup > 0 && end > 0 && o.warmup >= end {
		p.bad("--warmup %s: the run is over after %s", export.Duration(o.warmup), export.Duration(end))
	}
	return p
}

// checkDraws is about what is drawn, whenever it is sent.
func (o *loadOptions) checkDraws() (p problemList) {
	switch {
	case o.prompts < 1 && !o.allRows:
		p.bad("--num-prompts %d: must be at least 1", o.prompts)
	case o.prompts < 0:
		p.bad("--num-prompts %d: must be at least 1, or 0 for every row once", o.prompts)
	}
	if o.seed < 0 || o.seed > math.MaxUint32 {
		p.bad("--seed %d: seeds are from 0 to 4294967295", o.seed)
	}
	return p
}

func (o *loadOptions) checkRamp() (p problemList) {
	from, to := o.rampFrom, o.rampTo
	if o.ramp == "" {
		if o.rampOver > 0 {
			p.bad("--ramp-over: needs --ramp-up-strategy, --ramp-up-start-rps and --ramp-up-end-rps")
		}
		return p
	}
	if o.ramp != "linear" && o.ramp != "exponential" {
		p.bad("--ramp-up-strategy %s: use linear or exponential", quoted(o.ramp))
	}
	if !math.IsInf(float64(o.rate), 1) {
		p.bad("--ramp-up-strategy and --request-rate: choose one; a ramp has rates of its own")
	}
	for _, x := range []struct {
		name string
		v    float64
	}{{"start", from}, {"end", to}} {
		switch {
		case math.IsNaN(x.v):
			p.bad("--ramp-up-strategy: needs --ramp-up-%s-rps, a number of requests per second", x.name)
		case x.v < 0 || math.IsInf(x.v, 0):
			p.bad("--ramp-up-%s-rps %g: must be a rate of 0 or more", x.name, x.v)
		}
	}
	switch {
	case from > to:
		p.bad("--ramp-up-start-rps %g: must not be more than --ramp-up-end-rps %g", from, to)
	case to == 0:
		p.bad("--ramp-up-end-rps 0: nothing would be sent")
	case from == 0 && o.ramp == "exponential":
		p.bad("--ramp-up-start-rps 0: an exponential ramp cannot start at 0")
	case from == 0 && o.rampOver == 0:
		p.bad("--ramp-up-start-rps 0: a ramp over the requests would never send the first; start from 1, or add --ramp-over 60s")
	}
	return p
}

func (o *loadOptions) checkStages() (p problemList) {
	rates, users := len(o.stages.stages) > 0, len(o.users.stages) > 0
	name := map[bool]string{true: "--stages", false: "--concurrency-stages"}[rates]
	if !rates && !users {
		return nil
	}
	if rates && users {
		p.bad("--stages and --concurrency-stages: choose one")
	}
	if o.ramp != "" {
		p.bad("%s and --ramp-up-strategy: choose one", name)
	}
	if !math.IsInf(float64(o.rate), 1) {
		p.bad("%s and --request-rate: choose one; stages have loads of their own", name)
	}
	if users && o.concurrency > 0 {
		p.bad("--concurrency-stages and --max-concurrency: choose one")
	}
	if rates && !slices.ContainsFunc(o.stages.stages, func(s metrics.Stage) bool { return s.Rate > 0 }) {
		p.bad("--stages %s: nothing would be sent", &o.stages)
	}
	return p
}

// checkTrace refuses loads beside the times of a trace. A rate is ignored, as with vLLM.
func (o *loadOptions) checkTrace() (p problemList) {
	for _, x := range []struct {
		name  string
		given bool
	}{
		{"stages", len(o.stages.stages) > 0}, {"concurrency-stages", len(o.users.stages) > 0},
		{"ramp-over", o.rampOver > 0}, {"find", o.find.searching()},
	} {
		if o.selfTimed && x.given {
			p.bad("--%s: the trace has times of its own; add --no-self-timed to send it otherwise", x.name)
		}
	}
	return p
}
