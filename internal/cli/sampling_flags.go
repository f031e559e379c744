package cli

import (
	"strconv"

	"github.com/spf13/pflag"

	"benchtop/internal/pyjson"
	"benchtop/loadgen/protocol"
)

// samplingOptions are how the server should choose tokens. Only what was given is sent.
type samplingOptions struct {
	topP, minP, temperature      float64
	topK                         int
	frequency, presence, repeats float64
}

func (o *samplingOptions) define(f *pflag.FlagSet) {
	for _, x := range o.floats() {
		f.Float64Var(x.value, x.flag, 0, x.usage)
	}
	f.IntVar(&o.topK, "top-k", 0, "sampling: choose among this many tokens")
}

type floatFlag struct {
	flag, field, usage string
	value              *float64
}

// floats are the flags that are not whole numbers.
func (o *samplingOptions) floats() []floatFlag {
	return []floatFlag{
		{"temperature", "temperature", "sampling temperature (default: the server's)", &o.temperature},
		{"top-p", "top_p", "sampling: choose among the likeliest tokens up to this share", &o.topP},
		{"min-p", "min_p", "sampling: leave out tokens below this share of the likeliest", &o.minP},
		{"frequency-penalty", "frequency_penalty", "sampling: make tokens rarer the more often they came", &o.frequency},
		{"presence-penalty", "presence_penalty", "sampling: make tokens rarer that came", &o.presence},
		{"repetition-penalty", "repetition_penalty", "sampling: divide the odds of tokens that came", &o.repeats},
	}
}

// fields are the given ones in the order in which vLLM's client sends them.
func (o *samplingOptions) fields(given *pflag.FlagSet) (out []protocol.Field) {
	byName := map[string]protocol.Field{}
	for _, x := range o.floats() {
		if given.Changed(x.flag) {
			byName[x.field] = protocol.Field{Name: x.field, JSON: pyjson.Float(*x.value)}
		}
	}
	if given.Changed("top-k") {
		byName["top_k"] = protocol.Field{Name: "top_k", JSON: strconv.Itoa(o.topK)}
	}
	for _, name := range []string{"top_p", "top_k", "min_p", "temperature", "frequency_penalty", "presence_penalty", "repetition_penalty"} {
		if f, ok := byName[name]; ok {
			out = append(out, f)
		}
	}
	return out
}
