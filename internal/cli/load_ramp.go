package cli

import (
	"math"
	"time"

	"github.com/spf13/pflag"

	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// rampOptions let the rate grow.
type rampOptions struct {
	strategy string
	from, to float64 // NaN where they are not given
	over     time.Duration
}

func (o *rampOptions) define(f *pflag.FlagSet) {
	f.StringVar(&o.strategy, "ramp-up-strategy", "", "let the rate grow: linear or exponential; over the requests unless --ramp-over is given")
	f.Float64Var(&o.from, "ramp-up-start-rps", math.NaN(), "requests per second at the start of the ramp")
	f.Float64Var(&o.to, "ramp-up-end-rps", math.NaN(), "requests per second at the end of the ramp")
	f.DurationVar(&o.over, "ramp-over", 0, "let the ramp take this time, and end the run with it unless --duration or --num-prompts say otherwise")
	for _, name := range []string{"ramp-up-start-rps", "ramp-up-end-rps"} {
		f.Lookup(name).DefValue = "0" // NaN would be shown
	}
}

// check reports how a ramp is asked for; whether it can be is for its shape to say.
func (o *rampOptions) check(load *loadOptions) (p problemList) {
	p.time("ramp-over", o.over, 0)
	switch {
	case o.strategy == "" && o.over > 0:
		p.bad("--ramp-over: needs --ramp-up-strategy, --ramp-up-start-rps and --ramp-up-end-rps")
	case o.strategy != "" && o.strategy != "linear" && o.strategy != "exponential":
		p.bad("--ramp-up-strategy %s: use linear or exponential", quoted(o.strategy))
	}
	if o.strategy != "" && load.hasRate() {
		p.bad("--ramp-up-strategy and --request-rate: choose one; a ramp has rates of its own")
	}
	return p
}

func (o *rampOptions) shape(b shape.Bounds, burstiness float64) shape.Shape {
	line := metrics.Ramp{Strategy: o.strategy, From: o.from, To: o.to, Over: o.over}
	if o.over > 0 {
		return shape.NewTimedRamp(b, line, burstiness)
	}
	return shape.Ramp{Bounds: b, Line: line, Burstiness: burstiness}
}
