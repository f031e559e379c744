package cli

import (
	"math"

	"github.com/spf13/pflag"

	"benchtop/internal/usage"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

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
	case o.Strategy != "" && o.Strategy != "linear" && o.Strategy != "exponential":
		p.Bad("--ramp-up-strategy %s: use linear or exponential", usage.Quote(o.Strategy))
	}
	if o.Strategy != "" && load.hasRate() {
		p.Bad("--ramp-up-strategy and --request-rate: choose one; a ramp has rates of its own")
	}
	return p
}

func (o *rampOptions) shape(b shape.Bounds, burstiness float64) shape.Shape {
	if o.Over > 0 {
		return shape.NewTimedRamp(b, o.Ramp, burstiness)
	}
	return shape.Ramp{Bounds: b, Line: o.Ramp, Burstiness: burstiness}
}
