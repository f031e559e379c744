package export

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

func pytorch(t *testing.T, r metrics.Report, args []Arg) []map[string]map[string]any {
	t.Helper()
	got := written(t, func(w io.Writer, r metrics.Report) error { return PyTorch(w, r, args) }, r)
	if strings.Contains(got, "\n") {
		t.Error("more than one line")
	}
	var records []map[string]map[string]any
	if err := json.Unmarshal([]byte(got), &records); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	return records
}

func TestPyTorch(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.Percentiles = []float64{50, 99}
	run.Plan.Burstiness = inf
	run.Plan.Metadata = []metrics.Pair{
		{Key: "compilation_config.mode", Value: "3"}, {Key: "tensor_parallel_size", Value: "8"},
	}
	records := pytorch(t, summarize(t, run, qs),
		[]Arg{{"model", "org/M"}, {"result_filename", "run.json"}, {"seed", 0}})
	names := metrics.Each(records, func(r map[string]map[string]any) string { return r["metric"]["name"].(string) })
	assert.Same(t, "names", names, []string{
		"median_ttft_ms", "mean_ttft_ms", "std_ttft_ms", "p99_ttft_ms", "mean_tpot_ms", "median_tpot_ms", "std_tpot_ms",
		"p99_tpot_ms",
		"median_itl_ms", "mean_itl_ms", "std_itl_ms", "p99_itl_ms",
	})
	first := records[0]
	if diff := cmp.Diff(
		`{"extra_info":{"args":{"model":"org/M","result_filename":"run.json","seed":0,"tensor_parallel_size":"8"},`+
			`"compilation_config.mode":"3","optimization_level":"","use_compile":true},"name":"vLLM benchmark"}`,
		compact(t, first["benchmark"])); diff != "" {
		t.Errorf("benchmark (-want +got):\n%s", diff)
	}
	if first["model"]["name"] != "org/M" || compact(t, first["metric"]["benchmark_values"]) != "[300]" {
		t.Errorf("model %v, values %v", first["model"], first["metric"]["benchmark_values"])
	}
	extra := first["metric"]["extra_info"].(map[string]any)
	for _, key := range []string{"ttfts", "itls", "generated_texts", "errors", "mean_ttft_ms", "p99_itl_ms",
		"benchtop"} {
		if _, there := extra[key]; there {
			t.Errorf("%s is in the extra information", key)
		}
	}
	for key, want := range map[string]string{
		"duration": "1.75", "latencies": "[0.36,0.38,0.9,0]", "p50_ttft_ms": "300", "mean_e2el_ms": "546.6666666666667",
		"burstiness": `"inf"`, "date": `"20261006-101500"`, "input_lens": "[10,12,8,9]",
	} {
		assert.Equal(t, compact(t, extra[key]), want, "%s", key)
	}
}

func TestPyTorchRecordsOnlyWhatTheResultHas(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.Metrics = []metrics.Latency{metrics.ITL, metrics.E2EL} // without a 99th percentile
	records := pytorch(t, summarize(t, run, qs), nil)
	if len(records) != 3 || records[0]["metric"]["name"] != "median_itl_ms" || records[0]["model"]["name"] != nil {
		t.Errorf("%d records, the first %v", len(records), records)
	}
	run.Plan.SkipTokenizer = true
	if records := pytorch(t, summarize(t, run, qs), nil); records == nil || len(records) != 0 {
		t.Errorf("got %v", records)
	}
}

func TestPyTorchCompiles(t *testing.T) {
	run, qs := sampleRun()
	r := summarize(t, run, qs)
	for _, c := range []struct {
		args []Arg
		want string
	}{
		{[]Arg{{"result_filename", nil}, {"optimization_level", 2}}, `["",2,true]`},
		{[]Arg{{"result_filename", "an_eager_run.json"}}, `["","",false]`},
		{[]Arg{{"compilation_config.mode", "0"}}, `["0","",false]`},
	} {
		info := pytorch(t, r, c.args)[0]["benchmark"]["extra_info"].(map[string]any)
		got := compact(t, []any{info["compilation_config.mode"], info["optimization_level"], info["use_compile"]})
		assert.Equal(t, got, c.want, "%v", c.args)
	}
}

func TestPyTorchArguments(t *testing.T) {
	run, qs := sampleRun()
	args := pytorch(t, summarize(t, run, qs), []Arg{
		{"nil", nil}, {"bool", true}, {"int", 1}, {"long", int64(2)}, {"float", 0.5}, {"inf", inf}, {"text", "a\"b"},
		{"int", 3},
	})[0]["benchmark"]["extra_info"].(map[string]any)["args"]
	const want = `{"bool":true,"float":0.5,"inf":"inf","int":3,"long":2,"nil":null,"text":"a\"b"}`
	assert.Same(t, "compact", compact(t, args), want)
}
