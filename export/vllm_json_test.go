package export

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/assert/golden"
	"benchtop/metrics"
)

var inf = math.Inf(1)

// The keys of vLLM's results, in the order of its Python client, then those that its Rust client alone has, and those
// of them that only details, a ramp and diffusion have. Typed by hand; never generate these lists.
var (
	vllmKeys = []string{
		"date", "endpoint_type", "backend", "label", "model_id", "tokenizer_id", "num_prompts", "tp",
		"request_rate", "burstiness", "max_concurrency", "ramp_up_strategy", "ramp_up_start_rps", "ramp_up_end_rps",
		"duration", "completed", "failed", "total_input_tokens", "total_output_tokens",
		"request_throughput", "request_goodput", "output_throughput", "total_token_throughput",
		"input_lens", "output_lens", "ttfts", "itls", "latencies", "start_times", "queue_times", "generated_texts",
		"errors",
		"max_output_tokens_per_s", "max_concurrent_requests", "rtfx", "server_queue_times", "server_ttfts",
		"probe_completed", "probe_failed", "probe_median_e2el_ms", "probe_p99_e2el_ms", "probe_max_e2el_ms",
		"rps_change_events",
		"spec_decode_acceptance_rate", "spec_decode_acceptance_length", "spec_decode_num_drafts",
		"spec_decode_draft_tokens",
		"spec_decode_accepted_tokens", "spec_decode_per_position_acceptance_rates",
		"diffusion_committed_throughput", "diffusion_steps_per_canvas", "diffusion_committed_per_step",
		"diffusion_committed_tokens", "diffusion_denoising_steps", "diffusion_canvas_positions",
		"mean_ttft_ms", "median_ttft_ms", "std_ttft_ms", "p50_ttft_ms", "p99.9_ttft_ms",
		"mean_tpot_ms", "median_tpot_ms", "std_tpot_ms", "p50_tpot_ms", "p99.9_tpot_ms",
		"mean_itl_ms", "median_itl_ms", "std_itl_ms", "p50_itl_ms", "p99.9_itl_ms",
		"mean_e2el_ms", "median_e2el_ms", "std_e2el_ms", "p50_e2el_ms", "p99.9_e2el_ms",
		"mean_client_queue_time_ms", "median_client_queue_time_ms", "std_client_queue_time_ms",
		"p50_client_queue_time_ms", "p99.9_client_queue_time_ms",
		"mean_e2el_including_client_queue_ms", "median_e2el_including_client_queue_ms",
		"std_e2el_including_client_queue_ms",
		"p50_e2el_including_client_queue_ms", "p99.9_e2el_including_client_queue_ms",
		"input_throughput", "failed_requests", "benchtop",
	}
	sometimes = []string{
		"input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors", "server_queue_times",
		"server_ttfts",
		"ramp_up_strategy", "ramp_up_start_rps", "ramp_up_end_rps", "rps_change_events",
		"diffusion_committed_throughput", "diffusion_steps_per_canvas", "diffusion_committed_per_step",
		"diffusion_committed_tokens", "diffusion_denoising_steps", "diffusion_canvas_positions",
	}
)

// plainKeys are those without the ones that are there sometimes, and without those that have another end.
func plainKeys(without ...string) []string {
	return slices.DeleteFunc(slices.Clone(vllmKeys), func(key string) bool {
		return slices.Contains(sometimes, key) ||
			slices.ContainsFunc(without, func(end string) bool { return strings.HasSuffix(key, end) })
	})
}

// The sample result of vLLM's documentation, up to the figures that it rounds.
const vllmSample = `{"date": "20261006-101500", "endpoint_type": "openai", "backend": "openai", "label": null, ` +
	`"model_id": "org/M", "tokenizer_id": "org/M", "num_prompts": 4, "tp": "1", "request_rate": 4.0, "burstiness": ` +
	`1.0, ` +
	`"max_concurrency": 1, "duration": 1.75, "completed": 3, "failed": 1, "total_input_tokens": 30, ` +
	`"total_output_tokens": 10, "request_throughput": 1.7142857142857142, "request_goodput": 0.5714285714285714, ` +
	`"output_throughput": 5.714285714285714, "total_token_throughput": 22.857142857142858, ` +
	`"input_lens": [10, 12, 8, 9], "output_lens": [4, 5, 1, 0], "ttfts": [0.2, 0.3, 0.9, 0.0], ` +
	`"itls": [[0.05, 0.05, 0.06], [0.04, 0.04], [], []], "latencies": [0.36, 0.38, 0.9, 0.0], ` +
	`"start_times": [0.1, 0.46, 0.84, 1.74], "queue_times": [0.0, 0.16, 0.14, 0.74], ` +
	`"generated_texts": ["text sample-A", "text sample-B", "text sample-C", ""], ` +
	`"errors": ["", "", "", "Bad Request"], "max_output_tokens_per_s": 7.0, "max_concurrent_requests": 3, "rtfx": ` +
	`0.0, ` +
	`"server_queue_times": [0.0, 0.05, 0.1, null], "server_ttfts": [0.15, 0.15, 0.15, null], ` +
	`"probe_completed": 3, "probe_failed": 0, "probe_median_e2el_ms": 70.0, "probe_p99_e2el_ms": 295.4, ` +
	`"probe_max_e2el_ms": 300.0, "spec_decode_acceptance_rate": 50.0, "spec_decode_acceptance_length": 2.5, ` +
	`"spec_decode_num_drafts": 4, "spec_decode_draft_tokens": 12, "spec_decode_accepted_tokens": 6, ` +
	`"spec_decode_per_position_acceptance_rates": [0.75, 0.5, 0.25], "mean_ttft_ms": 466.6`

// The figures of the sample, rounded as in the documentation.
var vllmFigures = map[string]float64{
	"mean_ttft_ms": 466.67, "median_ttft_ms": 300, "std_ttft_ms": 309.1206, "p50_ttft_ms": 300, "p99.9_ttft_ms": 898.80,
	"mean_tpot_ms": 36.67, "median_tpot_ms": 36.67, "std_tpot_ms": 16.6667, "p50_tpot_ms": 36.67,
	"p99.9_tpot_ms": 53.30,
	"mean_itl_ms":   48, "median_itl_ms": 50, "std_itl_ms": 7.4833, "p50_itl_ms": 50, "p99.9_itl_ms": 59.96,
	"mean_e2el_ms": 546.67, "median_e2el_ms": 380, "std_e2el_ms": 249.9778, "p50_e2el_ms": 380, "p99.9_e2el_ms": 898.96,
	"mean_client_queue_time_ms": 100, "median_client_queue_time_ms": 140, "std_client_queue_time_ms": 71.1805,
	"p99.9_client_queue_time_ms": 159.96, "mean_e2el_including_client_queue_ms": 646.67,
	"median_e2el_including_client_queue_ms": 540, "std_e2el_including_client_queue_ms": 287.6727,
	"p99.9_e2el_including_client_queue_ms": 1039.00,
}

func resultJSON(t *testing.T, r metrics.Report) string {
	t.Helper()
	got := written(t, JSON, r)
	if !json.Valid([]byte(got)) {
		t.Fatalf("no JSON: %s", got)
	}
	return got
}

// keys returns the keys of a JSON object in their order.
func keys(t *testing.T, text string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var out []string
	for depth, key := 0, false; ; {
		token := assert.Must(d.Token())(t)
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
			if depth == 0 {
				return out
			}
			key = depth == 1
		case string:
			if depth == 1 && key {
				out = append(out, v)
				key = false
				continue
			}
			key = depth == 1
		default:
			key = depth == 1
		}
	}
}

func TestJSONIsVLLMs(t *testing.T) {
	run, qs := sampleRun()
	got := resultJSON(t, summarize(t, run, qs))
	if !strings.HasPrefix(got, vllmSample) {
		i := 0
		for i < len(vllmSample) && got[i] == vllmSample[i] {
			i++
		}
		t.Errorf("differs at byte %d:\nwant %s\ngot  %s", i, vllmSample[i:], got[i:min(len(got), i+200)])
	}
	var figures map[string]any
	assert.Fine(t, json.Unmarshal([]byte(got), &figures))
	for key, want := range vllmFigures {
		if v, ok := figures[key].(float64); !ok || !near(v, want, 0.0051) {
			t.Errorf("%s: got %v, want %v ms", key, figures[key], want)
		}
	}
	if strings.ContainsAny(got, "\n\r") {
		t.Error("more than one line")
	}
	golden.Same(t, "testdata/sample.json", got)
}

func TestJSONKeysInOrder(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.Detailed = false
	got := resultJSON(t, summarize(t, run, qs))
	assert.Same(t, "plain", keys(t, got), plainKeys())

	run, qs = sampleRun()
	run.Plan.Ramp = &metrics.Ramp{Strategy: "linear", From: 1, To: 4}
	run.Diffusion = &metrics.Diffusion{CommittedTokens: 100, DenoisingSteps: 24, CanvasPositions: 480}
	got = resultJSON(t, summarize(t, run, qs))
	assert.Same(t, "detailed, with a ramp", keys(t, got), vllmKeys)
	assert.Has(t, got,
		`"ramp_up_strategy": "linear", "ramp_up_start_rps": 1, "ramp_up_end_rps": 4, "duration"`,
		`"rps_change_events": [{"rps": 1, "timestamp": "2026-10-06T10:15:00.000000"}, {"rps": 2, "timestamp": "`)
}

func TestJSONOfInvalidNumbers(t *testing.T) {
	run, _ := sampleRun()
	p := &run.Plan
	p.Burstiness, p.MaxConcurrency, p.Tokenizer, p.Label, p.Goodput = inf, 0, "", "gpu \"é😀\"\u007f", nil
	p.Ramp = &metrics.Ramp{Strategy: "exponential", From: 0.5, To: 2, Over: time.Minute}
	got := resultJSON(t, summarize(t, run, nil))
	assert.Has(t, got,
		`"label": "gpu \"\u00e9\ud83d\ude00\"\u007f"`, `"tokenizer_id": null`, `"burstiness": "inf"`,
		`"max_concurrency": null`,
		`"ramp_up_start_rps": 0.5, "ramp_up_end_rps": 2`, `"request_goodput": null`, `"request_throughput": 0.0`,
		`"itls": []`, `"p99.9_e2el_ms": 0.0`, `"connect_ms": {"n": 0, "mean": null`, `"interrupted": null}}`,
		`"objectives": [], `, `"good": null`,
		`"ramp": {"strategy": "exponential", "from_rps": 0.5, "to_rps": 2.0, "over_s": 60.0, "over_requests": null}`)
	if strings.Contains(got, "rps_change_events") {
		t.Error("a ramp in time has no steps by request")
	}
}

func TestJSONOfRequestsThatNeverWentOut(t *testing.T) {
	run, qs := sampleRun()
	q := metrics.NewRequest(4)
	q.Scheduled, q.Due, q.Admitted, q.Done = 1200*ms, 1200*ms, 1500*ms, 1600*ms
	q.Failure = metrics.FailedConnect
	cut := sampleRequest(5, 5, 2, 1300*ms, 1400*ms)
	cut.Failure = metrics.Cancelled
	run.Reason = "q"
	got := resultJSON(t, summarize(t, run, append(qs, q, cut)))
	assert.Has(t, got,
		`"start_times": [0.1, 0.46, 0.84, 1.74, 1.5]`, `"errors": ["", "", "", "Bad Request", "connect"]`,
		`"interrupted": {"reason": "q", "cancelled": 1, "unsent": 0}}}`)
}

// As in a Python dict, a key keeps its first place and its last value.
func TestMetadataReplacesAndIsReplaced(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.Detailed = false
	run.Plan.Metadata = []metrics.Pair{
		{Key: "tp", Value: "1"}, {Key: "backend", Value: "mine"}, {Key: "duration", Value: "long"},
		{Key: "tp", Value: "2"},
		{Key: "benchtop", Value: "gone?"}, {Key: "errors", Value: "none"}, {Key: "é\n\"", Value: "\x1b"},
		{Key: "mean_ttft_ms", Value: "x"},
		{Key: "request_rate", Value: "x"}, {Key: "", Value: ""},
	}
	got := resultJSON(t, summarize(t, run, qs))
	const want = `{"date": "20261006-101500", "endpoint_type": "openai", "backend": "mine", "label": null, ` +
		`"model_id": "org/M", "tokenizer_id": "org/M", "num_prompts": 4, "tp": "2", "duration": 1.75, "benchtop": ` +
		`{"schema": 2, `
	if !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got[:min(len(got), 500)])
	}
	order := keys(t, got)
	assert.Same(t, "keys in order", order[7:17], []string{
		"tp", "duration", "benchtop", "é\n\"", "mean_ttft_ms", "request_rate", "", "burstiness", "max_concurrency",
		"completed",
	})
	slices.Sort(order)
	assert.Equal(t, len(slices.Compact(slices.Clone(order))), len(order), "different keys: %v", order)
	if slices.Contains(order, "errors") { // vLLM removes it with its own
		t.Error("a key of the details without details")
	}
	var figures struct {
		TTFT     float64 `json:"mean_ttft_ms"`
		Rate     float64 `json:"request_rate"`
		Benchtop struct{ Schema int }
	}
	if err := json.Unmarshal([]byte(got), &figures); err != nil || !near(figures.TTFT, 466.67, 0.01) ||
		figures.Rate != 4 ||
		figures.Benchtop.Schema != resultSchema {
		t.Errorf("got %+v, %v", figures, err)
	}
}

func TestJSONWithoutTokenizer(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.SkipTokenizer, run.Plan.Detailed = true, false
	got := resultJSON(t, summarize(t, run, qs))
	assert.Same(t, "keys", keys(t, got), plainKeys("_ttft_ms", "_tpot_ms", "_itl_ms"))
	assert.Has(t, got,
		`"tokenizer_id": null`, `"total_input_tokens": 30, "total_output_tokens": 10, `,
		`"output_throughput": 5.714285714285714, `)
}
