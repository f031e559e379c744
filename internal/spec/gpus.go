package spec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/internal/usage"
	"benchtop/metrics"
)

// GPUs say which accelerators are looked at, and what they cost.
type GPUs struct {
	Which string
	Price float64

	Only []int  // indices, nil for all
	Off  string // why none is watched, "" if some are
}

// What --gpu may be, beside a list of indices.
const (
	GpuAuto = "auto"
	GpuAll  = "all"
	gpuNone = "none"
)

func (o *GPUs) Define(f *pflag.FlagSet) {
	f.StringVar(&o.Which, "gpu", GpuAuto, "which GPUs of this machine to monitor: auto (all, if the server is on this "+
		"machine), all, none, or indices as 0,1")
	f.Float64Var(&o.Price, "gpu-price", 0,
		"price of one GPU per hour, in any currency, for the cost per token; 0 for unknown")
}

// Plan writes into a plan which GPUs were asked for, and what one costs.
func (o *GPUs) Plan(p *metrics.Plan) { p.GPUPrice, p.GPUs = o.Price, o.Asked() }

func (o *GPUs) Check() error {
	var problems []error
	if !(o.Price >= 0) || math.IsInf(o.Price, 1) {
		problems = append(problems, fmt.Errorf("--gpu-price %v: must be a price per hour, such as 2.5", o.Price))
	}
	switch o.Which {
	case GpuAuto, GpuAll:
	case gpuNone:
		o.Off = "--gpu none"
	default:
		for _, word := range strings.Split(o.Which, ",") {
			i, err := strconv.Atoi(word)
			if err != nil || i < 0 {
				problems = append(problems,
					fmt.Errorf("--gpu %s: use auto, all, none, or indices as 0,1", usage.Quote(o.Which)))
				break
			}
			o.Only = append(o.Only, i)
		}
		slices.Sort(o.Only)
		o.Only = slices.Compact(o.Only)
	}
	return errors.Join(problems...)
}

// Asked is what was asked for, "" for nothing.
func (o *GPUs) Asked() string {
	if o.Which == GpuAuto || o.Which == gpuNone {
		return ""
	}
	return o.Which
}
