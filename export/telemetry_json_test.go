package export

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// serverReport is the report of a run with complete data on server and GPUs.
func serverReport() metrics.Report {
	return metrics.Report{
		Plan: metrics.Plan{GPUPrice: 3.6, Find: &metrics.Find{From: 2, Most: 64, Step: 10 * time.Second, Hold: time.Minute}},
		Server: &metrics.ServerReport{
			Kind: "vLLM", Absent: "gone", RunningMean: 12.3, RunningMost: 16, WaitingMean: 3.1, WaitingMost: 40, KVMean: 0.5, KVMost: 0.98,
			Preemptions: 12, PromptTokens: 1000, OutputTokens: 2000, HitRate: 0.345, Acceptance: 0.7,
			TTFT: metrics.ServerLatency{N: 980, Mean: 380_120 * us}, Queue: metrics.ServerLatency{N: 980, Mean: 230 * ms},
			Prefill: metrics.ServerLatency{N: 979, Mean: 140 * ms}, First: metrics.TTFTParts{N: 970, TTFT: 970 * 412340 * us},
			Seconds: eventtest.Server(),
		},
		GPUs: &metrics.GPUReport{
			Absent: "gone, too", Names: []string{"", "NVIDIA H200", "NVIDIA H200"}, UseMean: 0.873, PowerMean: 812, Energy: 48_720, Sampled: 48 * time.Second, MemoryMost: 70 << 30,
			TemperatureMost: 64, JoulesPerToken: 0.41, CostPerMillion: 0.00123, Seconds: eventtest.GPUs(),
		},
		Split: metrics.TTFTSplit{
			N: 980, SlotWait: 120*ms - 200, Connect: 200 * us, TTFT: 412 * ms, Queue: 250 * ms, Prefill: 140 * ms, Rest: 22 * ms, Source: metrics.SplitByMetrics, Seen: 1030, QueueMost: 263 * ms, PrefillMost: 150 * ms,
		},
		Statistics: metrics.Statistics{metrics.TTFT: metrics.Statistic{N: 970, Mean: 412.34}}, Counts: metrics.Counts{Completed: 970},
		Timeline: []metrics.Window{{}, {Start: time.Second}, {Start: 2 * time.Second}},
	}
}

func TestServerObject(t *testing.T) {
	got := benchtopJSON(t, serverReport())
	for key, want := range map[string]string{
		"find": `{"from":2,"hold_s":60,"most":64,"step_s":10,"unit":"req/s"}`,
		"server": `{"absent":"gone","kind":"vLLM","kv_usage":{"max":0.98,"mean":0.5},"levels_absent":null,"looks":3,"output_tokens":2000,"preemptions":12,` +
			`"prefill_ms":{"mean":140,"n":979},"prefix_cache_hit_rate":0.345,"prompt_tokens":1000,"queue_ms":{"mean":230,"n":980},` +
			`"running":{"max":16,"mean":12.3},"spec_acceptance":0.7,"ttft_here_ms":{"mean":412.34,"n":970},"ttft_ms":{"mean":380.12,"n":980},"waiting":{"max":40,"mean":3.1}}`,
		"gpus": `{"absent":"gone, too","cost_per_million_output_tokens":0.00123,"energy_j":48720,"energy_over_s":48,"joules_per_output_token":0.41,"looks":2,` +
			`"memory_most_bytes":75161927680,"names":[null,"NVIDIA H200","NVIDIA H200"],"power_mean_w":812,"power_told_by":0,"price_per_hour":3.6,` +
			`"temperature_most_c":64,"use_mean":0.873}`,
		"ttft_split": `{"connect_ms":0.2,"held_ms":120,"includes_other_requests":true,"n":980,"prefill_most_ms":150,"prefill_ms":140,"queue_most_ms":263,` +
			`"queue_ms":250,"rest_ms":22,"source":"metrics","ttft_ms":412}`,
	} {
		if diff := cmp.Diff(want, compact(t, got[key])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	seconds := got["timeline"].([]any)
	for i, want := range []string{
		// The first two samples are nearest to the end of the first second, or before it.
		`[[{"clock_mhz":1980,"index":0,"memory_bytes":128849018880,"power_w":400,"temperature_c":61,"use":0.5},` +
			`{"clock_mhz":1980,"index":1,"memory_bytes":128849018880,"power_w":600,"temperature_c":61,"use":1}],` +
			`{"accepted_tokens":null,"draft_tokens":null,"kv_usage":0.75,"output_tokens":9,"preemptions":null,"prefill_mean_ms":150,` +
			`"prefix_hit_rate":0.5,"prompt_tokens":11,"queue_mean_ms":25,"running":1,"ttft_mean_ms":190,"waiting":0}]`,
		`[[{"clock_mhz":1980,"index":0,"memory_bytes":128849018880,"power_w":400,"temperature_c":61,"use":0.5},` +
			`{"clock_mhz":null,"index":1,"memory_bytes":128849018880,"power_w":600,"temperature_c":64,"use":1}],` +
			`{"accepted_tokens":null,"draft_tokens":null,"kv_usage":0.5,"output_tokens":1,"preemptions":null,"prefill_mean_ms":null,` +
			`"prefix_hit_rate":0,"prompt_tokens":8,"queue_mean_ms":null,"running":0,"ttft_mean_ms":800,"waiting":0}]`,
		`[null,null]`,
	} {
		second := seconds[i].(map[string]any)
		if diff := cmp.Diff(want, compact(t, []any{second["gpus"], second["server"]})); diff != "" {
			t.Errorf("second %d (-want +got):\n%s", i, diff)
		}
	}
}

// Missing figures, NaN and infinities are null.
func TestServerObjectWithoutFigures(t *testing.T) {
	r := serverReport()
	nan := metrics.Unsaid()
	r.Server = &metrics.ServerReport{
		RunningMean: nan, RunningMost: nan, WaitingMean: inf, WaitingMost: nan, KVMean: nan, KVMost: nan, Preemptions: nan, PromptTokens: nan,
		OutputTokens: nan, HitRate: nan, Acceptance: nan, TTFT: metrics.ServerLatency{N: nan, Mean: 5}, Queue: metrics.ServerLatency{N: inf},
	}
	r.Server.Seconds = []metrics.ServerSecond{{Running: nan, Waiting: nan, KVUsage: nan, Preemptions: nan, PrefixQueries: nan, PrefixHits: nan,
		HitRate: nan, PromptTokens: nan, OutputTokens: nan, DraftTokens: nan, AcceptedTokens: nan}}
	r.GPUs = &metrics.GPUReport{
		UseMean: nan, PowerMean: -inf, Energy: nan, MemoryMost: nan, TemperatureMost: nan, JoulesPerToken: nan, CostPerMillion: nan,
		Seconds: []metrics.GPUSecond{{GPUs: []metrics.GPU{{Use: nan, MemoryUsed: nan, Power: nan, Temperature: nan, Clock: inf}}}},
	}
	r.Answer = metrics.Answer{TierAnswer: metrics.TierAnswer{Proven: 5, Confidence: nan, Estimate: metrics.Range{Load: 1, Low: nan, High: inf}}, Capacity: metrics.Range{Load: inf}}
	r.Plan.Find, r.Plan.GPUPrice = &metrics.Find{Most: inf, From: nan, Unit: metrics.Users}, 0
	r.Split = metrics.TTFTSplit{N: 1, TTFT: 5 * ms, Queue: metrics.Never, Prefill: metrics.Never, Rest: 5 * ms, Source: metrics.SplitUnknown}
	text := resultJSON(t, r)
	if strings.Contains(text, "nan") || strings.Contains(text, "NaN") || strings.Count(text, `"inf"`) != 1 || strings.Contains(text, "-inf") {
		t.Errorf("a number that is none: %s", text)
	}
	got := benchtopJSON(t, r)
	for key, want := range map[string]string{
		"find": `{"from":null,"hold_s":0,"most":"inf","step_s":0,"unit":"users"}`,
		"server": `{"absent":null,"kind":null,"kv_usage":{"max":null,"mean":null},"levels_absent":null,"looks":1,"output_tokens":null,"preemptions":null,` +
			`"prefill_ms":{"mean":null,"n":0},"prefix_cache_hit_rate":null,"prompt_tokens":null,"queue_ms":{"mean":null,"n":0},` +
			`"running":{"max":null,"mean":null},"spec_acceptance":null,"ttft_here_ms":{"mean":null,"n":0},"ttft_ms":{"mean":null,"n":0},"waiting":{"max":null,"mean":null}}`,
		"gpus": `{"absent":null,"cost_per_million_output_tokens":null,"energy_j":null,"energy_over_s":null,"joules_per_output_token":null,"looks":1,` +
			`"memory_most_bytes":null,"names":[],"power_mean_w":null,"power_told_by":0,"price_per_hour":null,"temperature_most_c":null,"use_mean":null}`,
		"ttft_split": `{"connect_ms":0,"held_ms":0,"includes_other_requests":false,"n":1,"prefill_most_ms":null,"prefill_ms":null,"queue_most_ms":null,"queue_ms":null,"rest_ms":5,"source":"unknown","ttft_ms":5}`,
	} {
		if diff := cmp.Diff(want, compact(t, got[key])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	if gauges := got["timeline"].([]any)[0].(map[string]any)["gpus"]; compact(t, gauges) !=
		`[{"clock_mhz":null,"index":0,"memory_bytes":null,"power_w":null,"temperature_c":null,"use":null}]` {
		t.Errorf("gauges %s", compact(t, gauges))
	}
}

// Two samples in one second: the levels of the second one, the sums of both.
func TestSamplesInOneSecond(t *testing.T) {
	nan := metrics.Unsaid()
	a := metrics.ServerSecond{
		At: 700 * ms, Took: 100 * ms, Running: 5, Preemptions: 2, PrefixQueries: 10, PrefixHits: 9, HitRate: 0.9, PromptTokens: nan, OutputTokens: 3,
		DraftTokens: nan, AcceptedTokens: nan, TTFT: metrics.ServerLatency{N: 1, Mean: 40 * ms}, Queue: metrics.ServerLatency{N: 2, Mean: 7 * ms},
	}
	b := metrics.ServerSecond{
		At: 1400 * ms, Took: 700 * ms, Running: 6, Preemptions: 1, PrefixQueries: 30, PrefixHits: 1, HitRate: 1. / 30, PromptTokens: 4, OutputTokens: nan,
		DraftTokens: nan, AcceptedTokens: nan, TTFT: metrics.ServerLatency{N: 3, Mean: 80 * ms}, Prefill: metrics.ServerLatency{N: 1, Mean: 9 * ms},
	}
	l := telemetryBySecond(&metrics.Report{Server: &metrics.ServerReport{Seconds: []metrics.ServerSecond{a, b}}})
	want := &metrics.ServerSecond{
		At: 1400 * ms, Took: 800 * ms, Running: 6, Preemptions: 3, PrefixQueries: 40, PrefixHits: 10, HitRate: 0.25, PromptTokens: 4, OutputTokens: 3,
		DraftTokens: nan, AcceptedTokens: nan, TTFT: metrics.ServerLatency{N: 4, Mean: 70 * ms}, Queue: metrics.ServerLatency{N: 2, Mean: 7 * ms},
		Prefill: metrics.ServerLatency{N: 1, Mean: 9 * ms},
	}
	same := cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
	if diff := cmp.Diff(want, l.server[0], same); diff != "" || len(l.server) != 1 {
		t.Errorf("%d seconds (-want +got):\n%s", len(l.server), diff)
	}
	for at, want := range map[time.Duration]int{0: 0, 499 * ms: 0, time.Second: 0, 1499 * ms: 0, 1500 * ms: 1, 60_000 * ms: 59, math.MaxInt64: 9223372036} {
		if got := secondOf(at); got != want {
			t.Errorf("%v belongs to second %d, want %d", at, got, want)
		}
	}
}
