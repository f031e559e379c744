package export

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/assert/golden"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// serverReport is the report of a run with complete data on server and GPUs.
func serverReport() metrics.Report {
	return metrics.Report{
		Plan: metrics.Plan{GPUPrice: 3.6,
			Find: &metrics.Find{From: 2, Most: 64, Step: 10 * time.Second, Hold: time.Minute}},
		Server: &metrics.ServerReport{
			Kind: "vLLM", Absent: "gone", RunningMean: 12.3, RunningMost: 16, WaitingMean: 3.1, WaitingMost: 40,
			KVMean: 0.5, KVMost: 0.98,
			Preemptions: 12, PromptTokens: 1000, OutputTokens: 2000, HitRate: 0.345, Acceptance: 0.7,
			TTFT:    metrics.ServerLatency{N: 980, Mean: 380_120 * us},
			Queue:   metrics.ServerLatency{N: 980, Mean: 230 * ms},
			Prefill: metrics.ServerLatency{N: 979, Mean: 140 * ms},
			First:   metrics.TTFTParts{N: 970, TTFT: 970 * 412340 * us},
			Seconds: eventtest.Server(),
		},
		GPUs: &metrics.GPUReport{
			Absent: "gone, too", Names: []string{"", "NVIDIA H200", "NVIDIA H200"}, UseMean: 0.873, PowerMean: 812,
			Energy: 48_720, Sampled: 48 * time.Second, MemoryMost: 70 << 30,
			TemperatureMost: 64, JoulesPerToken: 0.41,
			CostPerMillion: metrics.TokenCost{Output: 0.00123, Input: 0.0004, Total: 0.0003, Good: 0.002},
			Seconds:        eventtest.GPUs(),
		},
		Split: metrics.TTFTSplit{
			N: 980, SlotWait: 120*ms - 200, Connect: 200 * us, TTFT: 412 * ms, Queue: 250 * ms, Prefill: 140 * ms,
			Rest: 22 * ms, Source: metrics.SplitByMetrics, Seen: 1030, QueueMost: 263 * ms, PrefillMost: 150 * ms,
		},
		Statistics: metrics.Statistics{metrics.TTFT: metrics.Statistic{N: 970, Mean: 412.34}},
		Counts:     metrics.Counts{Completed: 970},
		Timeline:   []*metrics.Window{{}, {Start: time.Second}, {Start: 2 * time.Second}},
	}
}

func TestServerObject(t *testing.T) {
	golden.Same(t, "testdata/server.json", indented(t, serverKeys(t, serverReport())))
}

// serverKeys are the keys of a result about server and GPUs.
func serverKeys(t *testing.T, r metrics.Report) map[string]any {
	t.Helper()
	got, keys := benchtopJSON(t, r), map[string]any{}
	for _, key := range []string{"find", "server", "gpus", "ttft_split", "timeline"} {
		keys[key] = got[key]
	}
	return keys
}

// Missing figures, NaN and infinities are null.
func TestServerObjectWithoutFigures(t *testing.T) {
	r := serverReport()
	nan := metrics.Unsaid()
	r.Server = &metrics.ServerReport{
		RunningMean: nan, RunningMost: nan, WaitingMean: inf, WaitingMost: nan, KVMean: nan, KVMost: nan,
		Preemptions: nan, PromptTokens: nan,
		OutputTokens: nan, HitRate: nan, Acceptance: nan, TTFT: metrics.ServerLatency{N: nan, Mean: 5},
		Queue: metrics.ServerLatency{N: inf},
	}
	r.Server.Seconds = []metrics.ServerSecond{{Running: nan, Waiting: nan, KVUsage: nan, Preemptions: nan,
		PrefixQueries: nan, PrefixHits: nan,
		HitRate: nan, PromptTokens: nan, OutputTokens: nan, DraftTokens: nan, AcceptedTokens: nan}}
	r.GPUs = &metrics.GPUReport{
		UseMean: nan, PowerMean: -inf, Energy: nan, MemoryMost: nan, TemperatureMost: nan, JoulesPerToken: nan,
		CostPerMillion: metrics.TokenCost{Output: nan, Input: nan, Total: nan, Good: nan},
		Seconds: []metrics.GPUSecond{
			{GPUs: []metrics.GPU{{Use: nan, MemoryUsed: nan, Power: nan, Temperature: nan, Clock: inf}}}},
	}
	r.Answer = metrics.Answer{TierAnswer: metrics.TierAnswer{Proven: 5, Confidence: nan,
		Estimate: metrics.Range{Load: 1, Low: nan, High: inf}}, Capacity: metrics.Range{Load: inf}}
	r.Plan.Find, r.Plan.GPUPrice = &metrics.Find{Most: inf, From: nan, Unit: metrics.Users}, 0
	r.Split = metrics.TTFTSplit{N: 1, TTFT: 5 * ms, Queue: metrics.Never, Prefill: metrics.Never, Rest: 5 * ms,
		Source: metrics.SplitUnknown}
	text := resultJSON(t, r)
	if strings.Contains(text, "nan") || strings.Contains(text, "NaN") || strings.Count(text, `"inf"`) != 1 ||
		strings.Contains(text, "-inf") {
		t.Errorf("a number that is none: %s", text)
	}
	golden.Same(t, "testdata/server_unknown.json", indented(t, serverKeys(t, r)))
}

// Two samples in one second: the levels of the second one, the sums of both.
func TestSamplesInOneSecond(t *testing.T) {
	nan := metrics.Unsaid()
	a := metrics.ServerSecond{
		At: 700 * ms, Took: 100 * ms, Running: 5, Preemptions: 2, PrefixQueries: 10, PrefixHits: 9, HitRate: 0.9,
		PromptTokens: nan, OutputTokens: 3,
		DraftTokens: nan, AcceptedTokens: nan, TTFT: metrics.ServerLatency{N: 1, Mean: 40 * ms},
		Queue: metrics.ServerLatency{N: 2, Mean: 7 * ms},
	}
	b := metrics.ServerSecond{
		At: 1400 * ms, Took: 700 * ms, Running: 6, Preemptions: 1, PrefixQueries: 30, PrefixHits: 1, HitRate: 1. / 30,
		PromptTokens: 4, OutputTokens: nan,
		DraftTokens: nan, AcceptedTokens: nan, TTFT: metrics.ServerLatency{N: 3, Mean: 80 * ms},
		Prefill: metrics.ServerLatency{N: 1, Mean: 9 * ms},
	}
	servers, _ := telemetryBySecond(
		&metrics.Report{Server: &metrics.ServerReport{Seconds: []metrics.ServerSecond{a, b}}})
	want := &metrics.ServerSecond{
		At: 1400 * ms, Took: 800 * ms, Running: 6, Preemptions: 3, PrefixQueries: 40, PrefixHits: 10, HitRate: 0.25,
		PromptTokens: 4, OutputTokens: 3,
		DraftTokens: nan, AcceptedTokens: nan, TTFT: metrics.ServerLatency{N: 4, Mean: 70 * ms},
		Queue:   metrics.ServerLatency{N: 2, Mean: 7 * ms},
		Prefill: metrics.ServerLatency{N: 1, Mean: 9 * ms},
	}
	same := cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
	if diff := cmp.Diff(want, servers[0], same); diff != "" || len(servers) != 1 {
		t.Errorf("%d seconds (-want +got):\n%s", len(servers), diff)
	}
	for at, want := range map[time.Duration]int{0: 0, 499 * ms: 0, time.Second: 0, 1499 * ms: 0, 1500 * ms: 1,
		60_000 * ms: 59, math.MaxInt64: 9223372036} {
		assert.Equal(t, secondOf(at), want, "%v belongs to second", at)
	}
}
