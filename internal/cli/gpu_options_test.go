package cli

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

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
		o := gpuOptions{which: c.which, price: c.price}
		err := o.check()
		if (err != nil) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil && (!slices.Equal(o.only, c.only) || (o.off != "") != c.off) {
			t.Errorf("%+v: %+v", c, o)
		}
	}
}

// Unasked, only the GPUs beside the server are looked at.
func TestGPUsOfThisMachine(t *testing.T) {
	for base, here := range map[string]bool{
		"http://127.0.0.1:1": true, "http://localhost:1": true, "http://[::1]:1": true, "http://192.0.2.1:1": false,
	} {
		server, err := target.New(target.Options{BaseURL: base})
		if err != nil {
			t.Fatal(err)
		}
		for which, off := range map[string]bool{gpuAuto: !here, gpuAll: false} {
			o := gpuOptions{which: which}
			if g := watchedGPUs(context.Background(), &o, server); (g.Off != "") != off {
				t.Errorf("%s, --gpu %s: %q", base, which, g.Off)
			}
		}
	}
}

// A user who asks for GPUs is told at the end, and in the report, now and later, that there were none; the run is fine all the same.
func TestGPUsAskedForInVain(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	url, dir := simulated(t, nil), t.TempDir()
	serve := func(gpu string) result {
		return benchtop("serve", "--base-url", url, "--num-prompts", "3", "--random-input-len", "5", "--random-output-len", "2",
			"--save-result", "--result-dir", dir, "--result-filename", "r.json", "--gpu", gpu)
	}
	r := serve("7")
	const words = "--gpu 7: no GPU data: no GPU tool"
	r.expect(t, exitFine, "WARNING: "+words)
	again := benchtop("report", dir+"/r.json")
	again.expect(t, exitFine)
	for _, report := range []string{r.stdout, again.stdout} {
		if !strings.Contains(strings.Join(strings.Fields(report), " "), "GPUs: "+words) {
			t.Errorf("no remark in\n%s", report)
		}
	}
	if r := serve(gpuAuto); strings.Contains(r.stdout+r.stderr, "no GPU tool") {
		t.Errorf("told without being asked:\n%s%s", r.stdout, r.stderr)
	}
}
