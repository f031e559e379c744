package metrics_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	. "benchtop/metrics"
)

func TestGPUsOver(t *testing.T) {
	gpu := func(index int, use, power float64) GPU {
		return GPU{Index: index, Name: "H100", Use: use, Power: power, MemoryUsed: Unsaid(),
			Temperature: 60 + float64(index)}
	}
	run := Run{Plan: Plan{Warmup: 2 * second, GPUPrice: 3}, Telemetry: Telemetry{GPUs: []GPUSecond{
		{At: 2 * second, Took: second, GPUs: []GPU{gpu(2, 1, 9999), gpu(3, 1, 9999)}}, // of the warm-up
		{At: 3 * second, Took: second, GPUs: []GPU{gpu(2, 0.5, 300), gpu(3, 1, 500)}},
		{At: 6 * second, Took: 3 * second, GPUs: []GPU{gpu(2, 0.5, 400), gpu(3, 0.5, Unsaid())}},
		{At: 7 * second, Took: second, GPUs: []GPU{gpu(2, Unsaid(), 1e300), {Index: -1}, {Index: 1 << 40}}},
	}}}
	over := func(tokens int, length time.Duration) *GPUReport {
		r := GPUsOver(run.GPUs, run.Plan.Warmup, math.MaxInt64,
			GPUWork{OutputTokens: tokens, InputTokens: 3 * tokens, GoodTokens: tokens / 2, Length: length,
				Price: run.Plan.GPUPrice})
		return &r
	}
	got := over(1000, 8*second) // of which half was sampled
	cost := 3 * 2 * (8 * second).Hours() * 1e6 / 1000
	want := &GPUReport{
		Names: []string{"", "", "H100", "H100"}, UseMean: (0.5 + 1 + 3*0.5 + 3*0.5) / 8, Energy: 800 + 1200,
		Sampled:   4 * second,
		PowerMean: (300+3*400)/4 + 500, Seen: 2, Powered: 2, // one of them told it for a part of the time
		MemoryMost: Unsaid(), TemperatureMost: 63, JoulesPerToken: 7,
		CostPerMillion: TokenCost{Output: cost, Input: cost / 3, Total: cost / 4, Good: 2 * cost},
	}
	assert.Same(t, "GPUs", got, want, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(GPUReport{}, "Seconds"))
	if !got.SamplesMiss(8*second) || !got.SamplesMiss(4100*ms) || got.SamplesMiss(4080*ms) {
		t.Errorf("4 s are taken for 8 or 4.1, or not for 4.08: %+v", got)
	}
	for _, s := range run.GPUs {
		s.GPUs[1].Power = Unsaid()
	}
	if got := over(1000, 8*second); got.PowerMean != 375 || got.Seen != 2 || got.Powered != 1 {
		t.Errorf("one that never tells: %g W of %d of %d", got.PowerMean, got.Powered, got.Seen)
	}
	run.Plan.GPUPrice = 0
	if got := over(0, time.Hour); Said(got.JoulesPerToken) || Said(got.CostPerMillion.Output) || !Said(got.Energy) {
		t.Errorf("no tokens, no price: %+v", got)
	}
}
