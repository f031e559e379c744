package session

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/spec"
	"benchtop/loadgen/target"
)

func TestGPUOptions(t *testing.T) {
	for _, c := range []struct {
		which   string
		price   float64
		only    []int
		off     bool
		problem string
	}{
		{which: "auto"},
		{which: "all", price: 2.5},
		{which: "none", off: true},
		{which: "3,0,3", only: []int{0, 3}},
		{which: "0,", problem: "--gpu"},
		{which: "first", problem: "--gpu"},
		{which: "-1", problem: "--gpu"},
		{which: "all", price: -1, problem: "--gpu-price"},
		{which: "all", price: math.NaN(), problem: "--gpu-price"},
		{which: "all", price: math.Inf(1), problem: "--gpu-price"},
	} {
		o := spec.GPUs{Which: c.which, Price: c.price}
		err := o.Check()
		if (err != nil) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil && (!slices.Equal(o.Only, c.only) || (o.Off != "") != c.off) {
			t.Errorf("%+v: %+v", c, o)
		}
	}
}

// Unasked, only the GPUs beside the server are looked at.
func TestGPUsOfThisMachine(t *testing.T) {
	for base, here := range map[string]bool{
		"http://127.0.0.1:1": true, "http://localhost:1": true, "http://[::1]:1": true, "http://192.0.2.1:1": false,
	} {
		server := assert.Must(target.New(target.Options{BaseURL: base}))(t)
		for which, off := range map[string]bool{spec.GpuAuto: !here, spec.GpuAll: false} {
			o := spec.GPUs{Which: which}
			if g := watchedGPUs(context.Background(), &o, server); (g.Off != "") != off {
				t.Errorf("%s, --gpu %s: %q", base, which, g.Off)
			}
		}
	}
}
