package export

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

func readResultText(t *testing.T, text string) metrics.Report {
	t.Helper()
	r := assert.Must(ReadResult([]byte(text)))(t)
	return r
}

// A result that is read back has the figures of its report.
func TestReadResult(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.Metrics = nil
	for _, key := range metrics.LatencyKeys() {
		l, _ := metrics.LatencyOf(key)
		run.Plan.Metrics = append(run.Plan.Metrics, l)
	}
	want := summarize(t, run, qs)
	got := assert.Must(ReadResult([]byte(resultJSON(t, want))))(t)
	if got.Plan.ModelID != "org/M" || got.Plan.Backend != "openai" || got.Plan.Rate != 4 ||
		got.Plan.MaxConcurrency != 1 ||
		!got.Plan.Started.Equal(want.Plan.Started) || got.Ended != want.Ended || got.Duration != want.Duration {
		t.Errorf("plan %+v, ended %v", got.Plan, got.Ended)
	}
	if diff := cmp.Diff([]int{want.Completed, want.Failed, want.InputTokens, want.OutputTokens,
		want.PeakOutputPerSecond, want.PeakConcurrency},
		[]int{got.Completed, got.Failed, got.InputTokens, got.OutputTokens, got.PeakOutputPerSecond,
			got.PeakConcurrency}); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{want.RequestThroughput, *want.Goodput, want.OutputThroughput, want.TotalThroughput},
		[]float64{got.RequestThroughput, *got.Goodput, got.OutputThroughput, got.TotalThroughput}); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
	for _, l := range run.Plan.Metrics {
		key := l.Key()
		a, b := want.Statistics[l], got.Statistics[l]
		if diff := cmp.Diff(a, b, cmpopts.IgnoreFields(a, "N", "Min", "Max", "Shown", "Gated")); diff != "" ||
			b.N != want.Completed {
			t.Errorf("%s, n %d (-want +got):\n%s", key, b.N, diff)
		}
		if m, ok := b.Percentile(50); !ok || m != a.Median {
			t.Errorf("%s: median %v, %v", key, m, ok)
		}
	}
	if diff := cmp.Diff([]float64{50, 99.9}, got.Plan.Percentiles); diff != "" ||
		!slices.Equal(got.Plan.Metrics, run.Plan.Metrics) {
		t.Errorf("metrics %v, percentiles:\n%s", got.Plan.Metrics, diff)
	}
	if Text(got) == "" { // the report can be shown
		t.Error("no report")
	}
}

// A result of vLLM has no "benchtop" object and not all statistics.
func TestReadResultOfVLLM(t *testing.T) {
	r := readResultText(t,
		`{"date": "20250101-120000", "endpoint_type": "vllm", "label": null, "model_id": "a\u00e9/b", "tokenizer_id": `+
			`"t",`+
			` "num_prompts": 10, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": null, "duration": 2.5, `+
			`"completed": 10,`+
			` "total_input_tokens": 100, "request_throughput": 4.0, "request_goodput": null, "output_throughput": 1e2,`+
			` "input_lens": [1, 2], "itls": [[0.1, "]", "nan"], []], "generated_texts": ["a \"} ] {\\", "\\\\"], "x": `+
			`{"completed": 7, "d": [{}]},`+
			` "mean_ttft_ms": 12.5, "median_ttft_ms": 11.5, "std_ttft_ms": 1.25, "p99_ttft_ms": 20, "p9.5_ttft_ms": 2,`+
			` "mean_itl_ms": "nan", "p99_itl_ms": "inf", "mean_tpot_ms": null, "p101_e2el_ms": 5, "px_e2el_ms": 1, `+
			`"mean_other_ms": 1, "_ttft_ms": 1, "_ms": 2} `)
	want := metrics.Report{
		Plan: metrics.Plan{
			Started: time.Date(2025, 1, 1, 12, 0, 0, 0, time.Local), ModelID: "aé/b", Tokenizer: "t", NumPrompts: 10,
			Rate:       metrics.Rate(inf),
			Burstiness: 1, Metrics: []metrics.Latency{metrics.TTFT}, Percentiles: []float64{9.5, 99},
		},
		Ended: 2500 * ms, Duration: 2.5, Counts: metrics.Counts{Completed: 10, InputTokens: 100}, Uncounted: true,
		RequestThroughput: 4,
		OutputThroughput:  100,
		Statistics: metrics.Statistics{metrics.TTFT: metrics.Statistic{
			N: 10, Mean: 12.5, Median: 11.5, Std: 1.25, Shown: []metrics.Percentile{{P: 50, Value: 11.5}},
			Percentiles: []metrics.Percentile{{P: 9.5, Value: 2}, {P: 99, Value: 20}},
		}},
	}
	assert.Same(t, "report", r, want, cmpopts.IgnoreUnexported(metrics.Report{}, metrics.Histogram{}))
}

func TestReadResultOfOtherFiles(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                                    `"completed" and "duration"`,
		`{"completed": 5}`:                      `"completed" and "duration"`,
		`{"completed": "x", "duration": 1}`:     `"completed" and "duration"`,
		`{"completed": -5, "duration": 1}`:      `"completed" and "duration"`,
		`{"completed": 1e300, "duration": 1}`:   `"completed" and "duration"`,
		`{"completed": true, "duration": null}`: `"completed" and "duration"`,
	} {
		assert.Fails(t, text, assert.Failure(ReadResult([]byte(text))), want)
	}
}

// Skipped values take no memory of their own, whatever their size, and there is a most of percentiles.
func TestReadResultIsBounded(t *testing.T) {
	deep := `{"a": ` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `, "t": "` + strings.Repeat("x",
		1<<20) + `", "model_id": "m", ` +
		`"label": "` + strings.Repeat("y", maxScalarBytes) + `", "completed": 1, "duration": 1}`
	var r metrics.Report
	got := testing.AllocsPerRun(1, func() { r = readResultText(t, deep) })
	if r.Plan.ModelID != "m" || r.Plan.Label != "" || got > 100 {
		t.Errorf("%+v, %v allocations", r.Plan, got)
	}
	many := bytes.NewBufferString(`{"completed": 1, "duration": 1`)
	for i := range 5000 {
		many.WriteString(`, "p` + strings.Repeat("0", i%9) + `5_ttft_ms": 1`)
	}
	many.WriteString("}")
	if r := readResultText(t, many.String()); len(r.Statistics[metrics.TTFT].Percentiles) != maxPercentiles {
		t.Errorf("%d percentiles", len(r.Statistics[metrics.TTFT].Percentiles))
	}
}

func FuzzReadResult(f *testing.F) {
	f.Add([]byte(vllmSample + "}"))
	f.Add([]byte(`{"completed": 1, "duration": 1e99, "p5_ttft_ms": 3, "median_itl_ms": -1, "x": {"y": ["\\\"]"]}}`))
	f.Add([]byte(
		`{"date": "x", "request_rate": "inf", "max_concurrency": 9e15, "completed": 9007199254740992, "duration": -1}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		if !json.Valid(content) {
			return
		}
		r, err := ReadResult(bytes.TrimSpace(content))
		if err != nil {
			if len(err.Error()) > 400 {
				t.Errorf("%d bytes of words", len(err.Error()))
			}
			return
		}
		if r.Completed < 0 || r.Ended < 0 ||
			r.Statistics[metrics.TTFT].N != 0 && r.Statistics[metrics.TTFT].N != r.Completed {
			t.Errorf("%+v", r)
		}
		assert.Fine(t, JSON(io.Discard, r))
		Text(r)
	})
}
