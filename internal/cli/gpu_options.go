package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/internal/run/watch"
	"benchtop/internal/usage"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// gpuOptions say which accelerators are looked at, and what they cost.
type gpuOptions struct {
	which string
	price float64

	only []int  // indices, nil for all
	off  string // why none is watched, "" if some are
}

// What --gpu may be, beside a list of indices.
const (
	gpuAuto = "auto"
	gpuAll  = "all"
	gpuNone = "none"
)

func (o *gpuOptions) define(f *pflag.FlagSet) {
	f.StringVar(&o.which, "gpu", gpuAuto, "which GPUs of this machine to monitor: auto (all, if the server is on this machine), all, none, or indices as 0,1")
	f.Float64Var(&o.price, "gpu-price", 0, "price of one GPU per hour, in any currency, for the cost per token; 0 for unknown")
}

// plan writes into a plan which GPUs were asked for, and what one costs.
func (o *gpuOptions) plan(p *metrics.Plan) { p.GPUPrice, p.GPUs = o.price, o.asked() }

func (o *gpuOptions) check() error {
	var problems []error
	if !(o.price >= 0) || math.IsInf(o.price, 1) {
		problems = append(problems, fmt.Errorf("--gpu-price %v: must be a price per hour, such as 2.5", o.price))
	}
	switch o.which {
	case gpuAuto, gpuAll:
	case gpuNone:
		o.off = "--gpu none"
	default:
		for _, word := range strings.Split(o.which, ",") {
			i, err := strconv.Atoi(word)
			if err != nil || i < 0 {
				problems = append(problems, fmt.Errorf("--gpu %s: use auto, all, none, or indices as 0,1", usage.Quote(o.which)))
				break
			}
			o.only = append(o.only, i)
		}
		slices.Sort(o.only)
		o.only = slices.Compact(o.only)
	}
	return errors.Join(problems...)
}

// asked is what was asked for, "" for nothing.
func (o *gpuOptions) asked() string {
	if o.which == gpuAuto || o.which == gpuNone {
		return ""
	}
	return o.which
}

// watchedGPUs are the accelerators to watch beside a server.
func watchedGPUs(ctx context.Context, o *gpuOptions, t *target.Target) watch.GPUs {
	off := o.off
	if o.which == gpuAuto && off == "" && !onThisMachine(ctx, t.Hostname()) {
		off = "the server is on another machine; --gpu all monitors the GPUs of this one anyway"
	}
	return watch.GPUs{Off: off, Only: o.only, Asked: o.asked() != ""}
}

// onThisMachine reports whether a host is this one.
func onThisMachine(ctx context.Context, host string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return false
	}
	own, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(ips, func(ip net.IPAddr) bool {
		return ip.IP.IsLoopback() || slices.ContainsFunc(own, func(a net.Addr) bool {
			n, ok := a.(*net.IPNet)
			return ok && n.IP.Equal(ip.IP)
		})
	})
}
