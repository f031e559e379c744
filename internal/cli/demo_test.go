package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
	"benchtop/metrics"
)

// The demo's load goes from where no request waits to beyond what the simulated server can do, and its users' limits
// are part of the plan.
func TestDemoPreset(t *testing.T) {
	for _, name := range simulator.Names() {
		profile := assert.Must(simulator.Named(name))(t)
		url := simulated(t, func(p *simulator.Profile) { p.Model = profile.Model })
		o := newDemoOptions()
		args := "--duration 2s --seed 7 --no-plots --exit --no-save --gpu-price 2 --timestamps user --profile " + name
		if _, _, err := o.flags.Parse(strings.Fields(args)); err != nil || o.check() != nil {
			t.Fatalf("%v, %v", err, o.check())
		}
		s := assert.Must(o.preset(profile, url))(t)
		var said bytes.Buffer
		p := assert.Must(session.Prepare(t.Context(),
			&session.Environment{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said}, s))(t)
		first, err := p.Prompts.Next()
		p.Close(func(string) {})
		if err != nil || len(first.Turns) != 1 || first.Turns[0].InputTokens != demoInput ||
			first.Turns[0].MaxTokens != demoOutput {
			t.Errorf("%s: the first prompt is %+v, %v", name, first, err)
		}
		got := p.Plan
		from, to := demoRamp(profile)
		if c := profile.Capacity; from < 1 || from > c/4 || to < 1.3*c || to > 2*c {
			t.Errorf("%s: the ramp goes from %v to %v, and the server can do %v", name, from, to, c)
		}
		want := metrics.Plan{
			BaseURL: url, Backend: "openai", Label: "demo", ModelID: profile.Model, InputSource: metrics.TokensFromIDs,
			Seed: 7, IgnoreEOS: true,
			Ramp:        &metrics.Ramp{Strategy: "linear", From: from, To: to, Over: 2 * time.Second},
			Metrics:     []metrics.Latency{metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL},
			Percentiles: []float64{50, 90, 99},
			Goodput:     metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}, {Metric: metrics.TPOT, LimitMS: 50}},
			GPUPrice:    2, Timestamps: metrics.UserStamps,
		}
		// The mean rate of a ramp is that of its middle.
		if mean := (from + to) / 2 * 2; float64(got.Requests) < mean/2 || float64(got.Requests) > mean*2 {
			t.Errorf("%s: %d requests, want about %.0f", name, got.Requests, mean)
		}
		if diff := cmp.Diff(want, chosen(got)); diff != "" {
			t.Errorf("%s: the plan (-want +got):\n%s", name, diff)
		}
		if !p.Plots.NoPlots || !p.Screen.Exit || p.Save.Unasked != o.save.Unasked {
			t.Errorf("%s: the demo's own flags are lost", name)
		}
		const off = "the demo's server is simulated; --gpu all monitors the GPUs of this machine anyway"
		assert.Equal(t, p.GPUs.Off, off, "%s: GPUs %+v", name, p.GPUs)
	}
}

// chosen are the fields of a plan that the demo sets. Those of the load in general are tested with the load.
func chosen(p metrics.Plan) metrics.Plan {
	return metrics.Plan{
		BaseURL: p.BaseURL, Backend: p.Backend, Label: p.Label, ModelID: p.ModelID, InputSource: p.InputSource,
		Seed: p.Seed, IgnoreEOS: p.IgnoreEOS,
		Ramp: p.Ramp, Metrics: p.Metrics, Percentiles: p.Percentiles, Goodput: p.Goodput, GPUPrice: p.GPUPrice,
		Timestamps: p.Timestamps,
	}
}

// Wrong flags of the demo are reported together, before any server starts.
func TestDemoFlags(t *testing.T) {
	benchtop(strings.Fields("demo --duration 13h --seed -1 --profile h900 --gpu x --color pink")...).expect(t,
		session.ExitUsage,
		"--duration 13h0m0s: must be from 1s to 12h0m0s", "--seed -1: seeds are from 0 to 4294967295",
		"--profile h900: ", "--gpu x: use auto", "--color")
}
