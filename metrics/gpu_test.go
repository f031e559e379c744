package metrics_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/metrics"
)

func TestGPUsOver(t *testing.T) {
	gpu := func(index int, use, power float64) metrics.GPU {
		return metrics.GPU{Index: index, Name: "H100", Use: use, Power: power, MemoryUsed: metrics.Unsaid(), Temperature: 60 + float64(index)}
	}
	run := metrics.Run{Plan: metrics.Plan{Warmup: 2 * time.Second, GPUPrice: 3}, Telemetry: metrics.Telemetry{GPUs: []metrics.GPUSecond{
		{At: 2 * time.Second, Took: time.Second, GPUs: []metrics.GPU{gpu(2, 1, 9999), gpu(3, 1, 9999)}}, // of the warm-up
		{At: 3 * time.Second, Took: time.Second, GPUs: []metrics.GPU{gpu(2, 0.5, 300), gpu(3, 1, 500)}},
		{At: 6 * time.Second, Took: 3 * time.Second, GPUs: []metrics.GPU{gpu(2, 0.5, 400), gpu(3, 0.5, metrics.Unsaid())}},
		{At: 7 * time.Second, Took: time.Second, GPUs: []metrics.GPU{gpu(2, metrics.Unsaid(), 1e300), {Index: -1}, {Index: 1 << 40}}},
	}}}
	over := func(tokens int, length time.Duration) *metrics.GPUReport {
		r := metrics.GPUsOver(run.GPUs, run.Plan.Warmup, math.MaxInt64, metrics.GPUWork{OutputTokens: tokens, Length: length, Price: run.Plan.GPUPrice})
		return &r
	}
	got := over(1000, 8*time.Second) // of which half was sampled
	want := &metrics.GPUReport{
		Names: []string{"", "", "H100", "H100"}, UseMean: (0.5 + 1 + 3*0.5 + 3*0.5) / 8, Energy: 800 + 1200, Sampled: 4 * time.Second,
		PowerMean: (300+3*400)/4 + 500, Seen: 2, Powered: 2, // one of them told it for a part of the time
		MemoryMost: metrics.Unsaid(), TemperatureMost: 63, JoulesPerToken: 7, CostPerMillion: 3 * 2 * (8 * time.Second).Hours() * 1e6 / 1000,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(metrics.GPUReport{}, "Seconds")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !got.SamplesMiss(8*time.Second) || !got.SamplesMiss(4100*time.Millisecond) || got.SamplesMiss(4080*time.Millisecond) {
		t.Errorf("4 s are taken for 8 or 4.1, or not for 4.08: %+v", got)
	}
	for _, s := range run.GPUs {
		s.GPUs[1].Power = metrics.Unsaid()
	}
	if got := over(1000, 8*time.Second); got.PowerMean != 375 || got.Seen != 2 || got.Powered != 1 {
		t.Errorf("one that never tells: %g W of %d of %d", got.PowerMean, got.Powered, got.Seen)
	}
	run.Plan.GPUPrice = 0
	if got := over(0, time.Hour); metrics.Said(got.JoulesPerToken) || metrics.Said(got.CostPerMillion) || !metrics.Said(got.Energy) {
		t.Errorf("no tokens, no price: %+v", got)
	}
}
