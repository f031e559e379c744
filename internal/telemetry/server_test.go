package telemetry

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// polls serves one page after the other, and returns the seconds and errors of a watch that polls each second.
func polls(t *testing.T, pages ...string) (seen []metrics.ServerSecond, errs []error, kind string) {
	t.Helper()
	next := 0
	url := served(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, pages[next])
		next++
	})
	w := NewServerWatch(Page{Client: http.DefaultClient, URL: url + "/metrics"})
	for i := range pages {
		s, err := w.Poll(t.Context(), time.Duration(i+1)*time.Second)
		seen, errs = append(seen, s), append(errs, err)
	}
	return seen, errs, w.Kind()
}

// unsaid is an unknown second.
func unsaid(at time.Duration) metrics.ServerSecond {
	no := math.NaN()
	return metrics.ServerSecond{At: at, Running: no, Waiting: no, KVUsage: no, Preemptions: no, PrefixQueries: no,
		PrefixHits: no,
		HitRate:    no, PromptTokens: no, OutputTokens: no, DraftTokens: no, AcceptedTokens: no}
}

// levels is the second of a first poll, which has no movements.
func levels(running, waiting, kvUsage, hitRate float64) metrics.ServerSecond {
	s := unsaid(0)
	s.Running, s.Waiting, s.KVUsage, s.HitRate = running, waiting, kvUsage, hitRate
	return s
}

// counting marks the counters that a server updates when a request ends.
func counting(s metrics.ServerSecond, waits, prompt, output bool) metrics.ServerSecond {
	s.WaitsAtEnd, s.PromptAtEnd, s.OutputAtEnd = waits, prompt, output
	return s
}

var compareSeconds = cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-9, 0)}

// Two polls of each kind of server, one second apart, give levels and movements.
func TestServerPoll(t *testing.T) {
	no := math.NaN()
	for _, c := range []struct {
		kind          string
		before, after string
		first, second metrics.ServerSecond
	}{
		{
			"vLLM", `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
vllm:num_requests_waiting{engine="0"} 10
vllm:num_requests_waiting{engine="1"} 2
vllm:num_requests_waiting_by_reason{engine="1",reason="capacity"} 2
vllm:kv_cache_usage_perc{engine="0"} 0.5
vllm:kv_cache_usage_perc{engine="1"} 0.25
vllm:gpu_cache_usage_perc{engine="0"} 0.9
vllm:num_preemptions_total{engine="0"} 5
vllm:num_preemptions_created{engine="0"} 1.7e9
vllm:prefix_cache_queries_total 1000
vllm:prefix_cache_hits_total 400
vllm:gpu_prefix_cache_queries_total 1000
vllm:prompt_tokens_total 5000
vllm:generation_tokens_total 700
vllm:spec_decode_num_draft_tokens_total 90
vllm:spec_decode_num_accepted_tokens_total 60
vllm:spec_decode_num_drafts_total 30
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 30
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 20
vllm:time_to_first_token_seconds_bucket{le="0.001"} 0
vllm:time_to_first_token_seconds_count 10
vllm:time_to_first_token_seconds_sum 2.5
vllm:request_queue_time_seconds_sum 1
vllm:request_queue_time_seconds_count 10
vllm:request_prefill_time_seconds_sum 0.5
vllm:request_prefill_time_seconds_count 10
`, `vllm:gpu_cache_usage_perc{engine="0"} 0.9
vllm:num_requests_running{engine="0"} 8
vllm:num_requests_waiting{engine="0"} 0
vllm:kv_cache_usage_perc{engine="0"} 0.75
vllm:num_preemptions_total{engine="0"} 5
vllm:num_preemptions_total{engine="1"} 2
vllm:gpu_prefix_cache_queries_total 1000
vllm:prefix_cache_queries_total 1200
vllm:prefix_cache_hits_total 550
vllm:prompt_tokens_total 6000.5
vllm:generation_tokens_total 800
vllm:spec_decode_num_draft_tokens_total 120
vllm:spec_decode_num_accepted_tokens_total 84
vllm:spec_decode_num_drafts_total 40
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 39
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="1",position="0"} 1
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 28
vllm:time_to_first_token_seconds_count 14
vllm:time_to_first_token_seconds_sum 3.5
vllm:request_queue_time_seconds_sum 1
vllm:request_queue_time_seconds_count 10
vllm:request_prefill_time_seconds_sum 0.6
vllm:request_prefill_time_seconds_count 12
`,
			counting(levels(7, 12, 0.375, no), true, false, false),
			metrics.ServerSecond{Running: 8, Waiting: 0, KVUsage: 0.75, Preemptions: 2, PrefixQueries: 200,
				PrefixHits: 150,
				HitRate:    0.75, PromptTokens: 1000.5, OutputTokens: 100, DraftTokens: 30, AcceptedTokens: 24,
				SpecDecode: &metrics.SpecDecode{Drafts: 10, DraftTokens: 30, AcceptedTokens: 24,
					AcceptedPerPosition: []int{10, 8}},
				TTFT: metrics.ServerLatency{N: 4, Mean: 250 * ms}, Prefill: metrics.ServerLatency{N: 2, Mean: 50 * ms},
				WaitsAtEnd: true},
		},
		{
			"vLLM", "vllm:gpu_cache_usage_perc 0.5\nvllm:gpu_prefix_cache_queries 10\nvllm:gpu_prefix_cache_hits " +
				"1\nvllm:num_preemptions 1\n",
			"vllm:gpu_cache_usage_perc 1.5\nvllm:gpu_prefix_cache_queries 30\nvllm:gpu_prefix_cache_hits " +
				"6\nvllm:num_preemptions 4\n",
			levels(no, no, 0.5, no),
			metrics.ServerSecond{Running: no, Waiting: no, KVUsage: 1, Preemptions: 3, PrefixQueries: 20, PrefixHits: 5,
				HitRate: 0.25, PromptTokens: no, OutputTokens: no, DraftTokens: no, AcceptedTokens: no},
		},
		{
			"SGLang", `sglang:num_running_reqs{model_name="m",tp_rank="0"} 5.0
sglang:num_queue_reqs{model_name="m"} 7
sglang:token_usage{model_name="m"} 0.28
sglang:cache_hit_rate{model_name="m"} 0.9
sglang:num_retracted_reqs 4
sglang:spec_accept_length 2.5
sglang:spec_accept_rate 0.5
sglang:prompt_tokens_total 100
sglang:generation_tokens_total 10
sglang:time_to_first_token_seconds_sum 1
sglang:time_to_first_token_seconds_count 1
`, `sglang:num_running_reqs{model_name="m"} 6.0
sglang:num_queue_reqs{model_name="m"} 0
sglang:token_usage{model_name="m"} 0.3
sglang:cache_hit_rate{model_name="m"} 0.1
sglang:cached_tokens_total{cache_source="device"} 30
sglang:cached_tokens_total{cache_source="host"} 10
sglang:num_retracted_reqs 6
sglang:spec_accept_length 2.5
sglang:spec_accept_rate 0.5
sglang:prompt_tokens_total 200
sglang:generation_tokens_total 60
sglang:time_to_first_token_seconds_sum 4
sglang:time_to_first_token_seconds_count 2
sglang:queue_time_seconds_sum 1
sglang:queue_time_seconds_count 4
`,
			counting(levels(5, 7, 0.28, 0.9), false, true, true),
			metrics.ServerSecond{Running: 6, Waiting: 0, KVUsage: 0.3, Preemptions: 2, PrefixQueries: 100,
				PrefixHits: 40,
				HitRate:    0.4, PromptTokens: 100, OutputTokens: 50, DraftTokens: 60, AcceptedTokens: 30,
				TTFT:        metrics.ServerLatency{N: 1, Mean: 3 * time.Second},
				Queue:       metrics.ServerLatency{N: 4, Mean: 250 * ms},
				PromptAtEnd: true, OutputAtEnd: true},
		},
		{
			"SGLang", "sglang_num_running_reqs 1\nsglang_cache_hit_rate 0.5\nsglang_num_retracted_reqs " +
				"4\nsglang_prompt_tokens_total 5\n",
			"sglang_num_running_reqs 1\nsglang_cache_hit_rate 0.25\nsglang_num_retracted_reqs " +
				"0\nsglang_prompt_tokens_total 5\n",
			counting(levels(1, no, no, 0.5), false, true, false),
			metrics.ServerSecond{Running: 1, Waiting: no, KVUsage: no, Preemptions: 0, PrefixQueries: no,
				PrefixHits: no,
				HitRate:    0.25, PromptTokens: 0, OutputTokens: no, DraftTokens: no, AcceptedTokens: no,
				PromptAtEnd: true},
		},
		{
			"llama.cpp", `llamacpp:prompt_tokens_total 12
llamacpp:prompt_seconds_total 0.5
llamacpp:tokens_predicted_total 30
llamacpp:prompt_tokens_seconds 300
llamacpp:kv_cache_usage_ratio 0.125
llamacpp:requests_processing 1
llamacpp:requests_deferred 0
`, `llamacpp:prompt_tokens_total 14
llamacpp:tokens_predicted_total 31
llamacpp:kv_cache_usage_ratio NaN
llamacpp:requests_processing 2
llamacpp:requests_deferred 3
`,
			counting(levels(1, 0, 0.125, no), false, false, true),
			metrics.ServerSecond{Running: 2, Waiting: 3, KVUsage: no, Preemptions: no, PrefixQueries: no,
				PrefixHits: no,
				HitRate:    no, PromptTokens: 2, OutputTokens: 1, DraftTokens: no, AcceptedTokens: no,
				OutputAtEnd: true},
		},
		{ // of 2026: it counts prompts without what was cached, and does not say how full its cache is
			"llama.cpp", `llamacpp:prompt_tokens_total 4180
llamacpp:prompt_tokens_cached_total 1000
llamacpp:tokens_predicted_total 30
llamacpp:spec_decode_num_draft_tokens_total 8
llamacpp:spec_decode_num_accepted_tokens_total 5
llamacpp:spec_decode_num_drafts_total 2
llamacpp:requests_processing 1
llamacpp:requests_deferred 0
`, `llamacpp:prompt_tokens_total 4280
llamacpp:prompt_tokens_cached_total 1300
llamacpp:tokens_predicted_total 90
llamacpp:spec_decode_num_draft_tokens_total 28
llamacpp:spec_decode_num_accepted_tokens_total 10
llamacpp:spec_decode_num_drafts_total 7
llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position="0"} 5
llamacpp:requests_processing 2
llamacpp:requests_deferred 0
`,
			counting(levels(1, 0, no, no), false, false, true),
			metrics.ServerSecond{Running: 2, Waiting: 0, KVUsage: no, Preemptions: no, PrefixQueries: 400,
				PrefixHits: 300,
				HitRate:    0.75, PromptTokens: 400, OutputTokens: 60, DraftTokens: 20, AcceptedTokens: 5,
				OutputAtEnd: true},
		},
		{
			"TGI", `tgi_queue_size 2
tgi_batch_current_size 8
tgi_request_queue_duration_sum 1.5
tgi_request_queue_duration_count 3
tgi_request_input_length_sum 100
tgi_request_generated_tokens_sum 10
tgi_batch_inference_duration_sum{method="prefill"} 1
tgi_batch_inference_duration_count{method="prefill"} 10
tgi_batch_inference_duration_sum{method="decode"} 70
`, `tgi_queue_size 1
tgi_batch_current_size 9
tgi_request_queue_duration_sum 2.5
tgi_request_queue_duration_count 5
tgi_request_input_length_sum 150
tgi_request_generated_tokens_sum 30
tgi_batch_inference_duration_sum{method="prefill"} 1.2
tgi_batch_inference_duration_count{method="prefill"} 12
tgi_batch_inference_duration_sum{method="decode"} 99
`,
			counting(levels(8, 2, no, no), true, false, true),
			metrics.ServerSecond{Running: 9, Waiting: 1, KVUsage: no, Preemptions: no, PrefixQueries: no,
				PrefixHits: no,
				HitRate:    no, PromptTokens: 50, OutputTokens: 20, DraftTokens: no, AcceptedTokens: no,
				Queue:      metrics.ServerLatency{N: 2, Mean: 500 * ms},
				Prefill:    metrics.ServerLatency{N: 2, Mean: 100 * ms},
				WaitsAtEnd: true, OutputAtEnd: true},
		},
	} {
		seen, errs, kind := polls(t, c.before, c.after)
		if errs[0] != nil || errs[1] != nil || kind != c.kind {
			t.Fatalf("%s: errors %v, kind %q", c.kind, errs, kind)
		}
		c.first.At = time.Second
		c.second.At, c.second.Took = 2*time.Second, time.Second
		ofAll := cmpopts.IgnoreFields(metrics.ServerSecond{}, "Engines")
		if diff := cmp.Diff([]metrics.ServerSecond{c.first, c.second}, seen, compareSeconds, ofAll); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.kind, diff)
		}
	}
}

// The pages of servers that share a load count as those of one; without one of them there is no second.
func TestPagesOfSeveralServers(t *testing.T) {
	page := func(running, tokens int) string {
		return fmt.Sprintf("vllm:num_requests_running %d\nvllm:kv_cache_usage_perc 0.%d\nvllm:generation_tokens_total "+
			"%d\n", running, running, tokens)
	}
	serve := func(pages ...string) Page {
		next := 0
		url := served(t, func(w http.ResponseWriter, _ *http.Request) {
			if pages[next] == "" {
				http.Error(w, "gone", http.StatusBadGateway)
			} else {
				_, _ = io.WriteString(w, pages[next])
			}
			next++
		})
		return Page{Client: http.DefaultClient, URL: url + "/metrics"}
	}
	one, two := serve(page(3, 100), page(4, 150), page(5, 160), page(1, 200)),
		serve(page(1, 10), page(2, 20), "", page(2, 70))
	w := NewServerWatch(one, two)
	for i, want := range [][3]float64{{4, 0.2, math.NaN()}, {6, 0.3, 60}, {}, {3, 0.15, 100}} {
		s, err := w.Poll(t.Context(), time.Duration(i+1)*time.Second)
		if i == 2 {
			assert.Fails(t, "the page that is gone", err, two.URL)
			continue
		}
		if got := [3]float64{s.Running, s.KVUsage, s.OutputTokens}; err != nil ||
			!cmp.Equal(got, want, compareSeconds) {
			t.Errorf("poll %d: running, cache, output %v, %v; want %v", i, got, err, want)
		}
	}
}
