package export

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
)

// As in a Python dict, a key keeps its first place and its last value.
func TestMetadataReplacesAndIsReplaced(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.Detailed = false
	run.Plan.Metadata = []metrics.Pair{
		{Key: "tp", Value: "1"}, {Key: "backend", Value: "mine"}, {Key: "duration", Value: "long"}, {Key: "tp", Value: "2"},
		{Key: "benchtop", Value: "gone?"}, {Key: "errors", Value: "none"}, {Key: "é\n\"", Value: "\x1b"}, {Key: "mean_ttft_ms", Value: "x"},
		{Key: "request_rate", Value: "x"}, {Key: "", Value: ""},
	}
	got := resultJSON(t, summarize(t, run, qs))
	const want = `{"date": "20261006-101500", "endpoint_type": "openai", "backend": "mine", "label": null, ` +
		`"model_id": "org/M", "tokenizer_id": "org/M", "num_prompts": 4, "tp": "2", "duration": 1.75, "benchtop": {"schema": 2, `
	if !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got[:min(len(got), 500)])
	}
	order := keys(t, got)
	if diff := cmp.Diff([]string{
		"tp", "duration", "benchtop", "é\n\"", "mean_ttft_ms", "request_rate", "", "burstiness", "max_concurrency", "completed",
	}, order[7:17]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	slices.Sort(order)
	if n := len(slices.Compact(slices.Clone(order))); n != len(order) {
		t.Errorf("%d keys, but %d different ones: %v", len(order), n, order)
	}
	if slices.Contains(order, "errors") { // vLLM takes it out with its own
		t.Error("a key of the details without details")
	}
	var figures struct {
		TTFT     float64 `json:"mean_ttft_ms"`
		Rate     float64 `json:"request_rate"`
		Benchtop struct{ Schema int }
	}
	if err := json.Unmarshal([]byte(got), &figures); err != nil || !near(figures.TTFT, 466.67, 0.01) || figures.Rate != 4 ||
		figures.Benchtop.Schema != resultSchema {
		t.Errorf("got %+v, %v", figures, err)
	}
}

func TestJSONWithoutTokenizer(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.SkipTokenizer, run.Plan.Detailed = true, false
	got := resultJSON(t, summarize(t, run, qs))
	want := slices.DeleteFunc(slices.Clone(vllmKeys), func(key string) bool {
		return strings.HasSuffix(key, "_ttft_ms") || strings.HasSuffix(key, "_tpot_ms") || strings.HasSuffix(key, "_itl_ms")
	})
	if diff := cmp.Diff(want, keys(t, got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, part := range []string{
		`"tokenizer_id": null`, `"total_input_tokens": 30, "total_output_tokens": 10, `, `"output_throughput": 5.714285714285714, `,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is missing in %s", part, got)
		}
	}
}
