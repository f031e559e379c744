package export

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

const (
	sglangSample = `{"backend": "sglang", "dataset_name": "random", "request_rate": 4.0, "max_concurrency": null,
"random_input_len": 256, "random_output_len": 32, "server_info": {"model_path": "org/m", "tp_size": 2},
"duration": 50.0, "completed": 200, "total_input_tokens": 51200, "total_output_tokens": 6400,
"total_output_tokens_retokenized": 6398, "request_throughput": 4.0, "input_throughput": 1024.0,
"output_throughput": 128.0, "total_throughput": 1152.0, "mean_e2e_latency_ms": 410.0, "median_e2e_latency_ms": 400.0,
"p99_e2e_latency_ms": 600.0, "mean_ttft_ms": 31.5, "median_ttft_ms": 30.0, "p99_ttft_ms": 80.0, "mean_tpot_ms": 12.0,
"median_tpot_ms": 11.5, "p99_tpot_ms": 20.0, "mean_itl_ms": 12.2, "median_itl_ms": 11.0, "p99_itl_ms": 40.0,
"output_lens": [32, 32]}`
	guidellmSample = `{"metadata": {"guidellm_version": "0.6.0"}, "benchmarks": [{"type_": "generative_benchmark",
"config": {"strategy": {"type_": "poisson", "rate": 4.0, "max_concurrency": 512}, "backend": {"model": "org/m"}},
"start_time": 1700000000.0, "end_time": 1700000050.0, "duration": 50.0, "requests": {"successful": [{"output": "<b>"}]},
"metrics": {"request_totals": {"successful": 200, "errored": 3, "incomplete": 1, "total": 204},
"requests_per_second": {"successful": {"mean": 4.0}}, "output_tokens_per_second": {"successful": {"mean": 128.0}},
"tokens_per_second": {"successful": {"mean": 1152.0}}, "prompt_token_count": {"successful": {"total_sum": 51200.0}},
"output_token_count": {"successful": {"total_sum": 6400.0}},
"time_to_first_token_ms": {"successful": {"mean": 31.5, "median": 30.0, "percentiles": {"p99": 80.0, "p999": 90}}},
"time_per_output_token_ms": {"successful": {"mean": 99.0, "median": 99.0, "percentiles": {"p99": 99.0}}},
"inter_token_latency_ms": {"successful": {"mean": 12.0, "median": 11.5, "percentiles": {"p99": 20.0}}},
"request_latency": {"successful": {"mean": 0.41, "median": 0.4, "percentiles": {"p99": 0.6}}}}}]}`
	aiperfSample = `{"schema_version": "1.0", "input_config": {"endpoint": {"model_names": ["org/m"]},
"loadgen": {"request_rate": 4.0, "concurrency": null}}, "start_time": "2026-01-02T03:04:05.678901",
"request_count": {"unit": "requests", "avg": 200}, "error_request_count": {"unit": "requests", "avg": 3},
"benchmark_duration": {"unit": "sec", "avg": 50.0}, "request_throughput": {"unit": "requests/sec", "avg": 4.0},
"output_token_throughput": {"unit": "tokens/sec", "avg": 128.0}, "total_token_throughput": {"avg": 1152.0},
"total_isl": {"unit": "tokens", "avg": 51200}, "total_osl": {"unit": "tokens", "avg": 6400},
"time_to_first_token": {"unit": "ms", "avg": 31.5, "p50": 30.0, "p99": 80.0},
"inter_token_latency": {"unit": "ms", "avg": 12.0, "p50": 11.5, "p99": 20.0},
"inter_chunk_latency": {"unit": "us", "avg": 12200, "p50": 11000, "p99": 40000},
"request_latency": {"unit": "sec", "avg": 0.41, "p50": 0.4, "p99": 0.6}}`
)

// One run as each benchmark writes it down is one run to benchtop, in its own units.
func TestForeignResults(t *testing.T) {
	for name, sample := range map[string]string{"SGLang": sglangSample, "GuideLLM": guidellmSample,
		"AIPerf": aiperfSample} {
		all := Foreign([]byte(sample))
		assert.Need(t, len(all), 1, "%s: results", name)
		r, err := ReadResult(all[0])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.HasPrefix(r.Tool, name) || r.Plan.ModelID != "org/m" || r.Plan.Rate != 4 ||
			r.Plan.MaxConcurrency != 0 || r.Completed != 200 || r.Duration != 50 || r.InputTokens != 51200 ||
			r.OutputTokens != 6400 || r.Uncounted != (name == "SGLang") || !r.Uncounted && r.Failed != 3 {
			t.Errorf("%s: %+v", name, r.Plan)
		}
		if r.RequestThroughput != 4 || r.OutputThroughput != 128 || r.TotalThroughput != 1152 {
			t.Errorf("%s: %g req/s, %g and %g tok/s", name, r.RequestThroughput, r.OutputThroughput, r.TotalThroughput)
		}
		if name == "SGLang" && !strings.Contains(string(all[0]), `"tensor_parallel_size":2`) {
			t.Errorf("%s: the size of its server is lost: %s", name, all[0])
		}
		if name == "AIPerf" && r.Plan.Started != time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local) {
			t.Errorf("%s: started %v", name, r.Plan.Started)
		}
		for l, want := range map[metrics.Latency][3]float64{metrics.TTFT: {31.5, 30, 80}, metrics.TPOT: {12, 11.5, 20},
			metrics.ITL: {12.2, 11, 40}, metrics.E2EL: {410, 400, 600}} {
			if name == "GuideLLM" && l == metrics.ITL {
				want = [3]float64{} // it has none
			}
			s := &r.Statistics[l]
			p99, _ := s.Percentile(99)
			for i, v := range [3]float64{s.Mean, s.Median, p99} {
				if math.Abs(v-want[i]) > 1e-9 {
					t.Errorf("%s, %v: %g, want %g", name, l, v, want[i])
				}
			}
		}
	}
}

// The load of each kind of GuideLLM's strategies, and results that others only resemble.
func TestForeignLoads(t *testing.T) {
	for strategy, want := range map[string]metrics.Plan{
		`"concurrent", "streams": 8, "max_concurrency": 8`: {MaxConcurrency: 8},
		`"synchronous"`: {MaxConcurrency: 1},
		`"constant", "rate": 2.5, "max_concurrency": 512`: {Rate: 2.5},
		`"throughput"`: {},
	} {
		sample := strings.Replace(guidellmSample, `"poisson", "rate": 4.0, "max_concurrency": 512`, strategy, 1)
		r, err := ReadResult(Foreign([]byte(sample))[0])
		if p := r.Plan; err != nil || p.MaxConcurrency != want.MaxConcurrency ||
			p.Rate != want.Rate && !(want.Rate == 0 && p.Rate.Unlimited()) {
			t.Errorf("%s: %v, at most %d: %v", strategy, p.Rate, p.MaxConcurrency, err)
		}
	}
	for _, other := range []string{`{}`, vllmSample + "}", `{"benchmarks": []}`,
		`{"benchmarks": [{"Test name": "x"}, 5]}`,
		`{"request_count": {"avg": 1}, "request_latency": {"avg": 1}}`, `{"request_count": 1, "request_latency": [1]}`,
		`{"completed": 1, "mean_e2e_latency_ms": 5}`} {
		if all := Foreign([]byte(other)); len(all) > 0 {
			t.Errorf("%s: %s", other, all)
		}
	}
}

func FuzzForeign(f *testing.F) {
	for _, sample := range []string{sglangSample, guidellmSample, aiperfSample,
		`{"benchmarks": [[], {"metrics": 1}]}`} {
		f.Add([]byte(sample))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if !json.Valid(content) || content[0] != '{' {
			return
		}
		for _, raw := range Foreign(content) {
			if !json.Valid(raw) {
				t.Fatalf("%s", raw)
			}
			if _, err := ReadResult(raw); err != nil && !strings.Contains(err.Error(), "numbers") {
				t.Error(err)
			}
		}
	})
}
