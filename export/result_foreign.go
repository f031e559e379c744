package export

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"benchtop/internal/jsonscan"
)

// The names of other benchmarks, with what their figures mean where that is not what benchtop's and vLLM's do.
const (
	sglang   = "SGLang bench_serving (failures not counted; ITL by token of /generate)"
	guidellm = "GuideLLM (TPOT weighted by tokens, from its ITL; no ITL)"
	aiperf   = "AIPerf (TPOT from its inter-token, ITL from its inter-chunk latency)"
)

// measuredBy is the key of a translated result that names the benchmark.
const measuredBy = "measured_by"

// Foreign are the results of another benchmark, of SGLang's bench_serving, GuideLLM (benchmarks.json) or AIPerf
// (profile_export_aiperf.json), as JSON objects with the keys of vLLM's. It recognizes them by their content; other
// objects, and those that lack what a result needs, give none.
func Foreign(object []byte) (results [][]byte) {
	heads := jsonscan.Fields(object, "benchmarks", "completed", "mean_e2e_latency_ms", "request_count",
		"request_latency")
	switch {
	case jsonscan.Kind(heads[0]) == "an array":
		for b := range jsonscan.Elements(heads[0]) {
			results = appendResult(results, guidellmResult(b))
		}
	case heads[1] != nil && heads[2] != nil:
		results = appendResult(nil, sglangResult(object))
	case heads[1] == nil && within(heads[3], "avg") != nil && within(heads[4], "avg") != nil:
		results = appendResult(nil, aiperfResult(object))
	}
	return results
}

// translated are the keys of a result and their values.
type translated map[string]any

func appendResult(all [][]byte, of translated) [][]byte {
	if of["completed"] == nil || of["duration"] == nil || of["request_throughput"] == nil {
		return all
	}
	raw, err := json.Marshal(of)
	if err != nil { // numbers are finite, and texts are texts
		return all
	}
	return append(all, raw)
}

// within is the value behind some names, each in the object of the one before, nil for none.
func within(object []byte, names ...string) []byte {
	for _, name := range names {
		if len(object) == 0 || object[0] != '{' {
			return nil
		}
		object = jsonscan.Fields(object, name)[0]
	}
	return object
}

// number takes a figure times a factor; another value is left out.
func (t translated) number(key string, factor float64, object []byte, names ...string) {
	if v, ok := parseFigure(string(within(object, names...))); ok {
		t[key] = v * factor
	}
}

// text takes the first text of some.
func (t translated) text(key string, raws ...[]byte) {
	for _, raw := range raws {
		if jsonscan.IsString(raw) && len(raw) <= maxScalarBytes && t[key] == nil {
			t[key] = jsonscan.Text(raw)
		}
	}
}

// latency takes the statistics of a latency that is not 0, which is none.
func (t translated) latency(key string, factor float64, statistic []byte, names map[string][]string) {
	if mean, ok := parseFigure(string(within(statistic, names["mean"]...))); !ok || mean <= 0 {
		return
	}
	for figure, path := range names {
		t.number(figure+"_"+key+"_ms", factor, statistic, path...)
	}
}

// sglangResult renames what differs from vLLM's keys.
func sglangResult(object []byte) translated {
	t := translated{measuredBy: sglang}
	for name, raw := range jsonscan.Members(object) {
		key := jsonscan.Text(name)
		if latency, ok := strings.CutSuffix(key, "_e2e_latency_ms"); ok {
			key = latency + "_e2el_ms"
		}
		if key == "total_throughput" {
			key = "total_token_throughput"
		}
		if raw[0] != '{' && raw[0] != '[' && len(raw) <= maxScalarBytes && key != measuredBy {
			t[key] = json.RawMessage(raw)
		}
	}
	t.number("tensor_parallel_size", 1, object, "server_info", "tp_size")
	delete(t, "model_id")
	t.text("model_id", within(object, "model_id"), within(object, "server_info", "served_model_name"),
		within(object, "server_info", "model_path"))
	if dataset := within(object, "dataset_name"); jsonscan.IsString(dataset) &&
		strings.HasPrefix(jsonscan.Text(dataset), "random") {
		t.number("input_len", 1, object, "random_input_len")
		t.number("output_len", 1, object, "random_output_len")
	}
	return t
}

// guidellmFigures are where a distribution of GuideLLM has them; what it names p999 is of 99.9 %.
var guidellmFigures = map[string][]string{"mean": {"mean"}, "median": {"median"}, "std": {"std_dev"},
	"p50": {"percentiles", "p50"}, "p90": {"percentiles", "p90"}, "p95": {"percentiles", "p95"},
	"p99": {"percentiles", "p99"}, "p99.9": {"percentiles", "p999"}}

// guidellmResult translates one of a list of benchmarks. Its TPOT, which holds the time to the first token, is left
// out; what it calls ITL is the TPOT of each request, which counts as often as the request has tokens.
func guidellmResult(b []byte) translated {
	metrics := within(b, "metrics")
	of := func(name string) []byte { return within(metrics, name, "successful") }
	t := translated{measuredBy: guidellm}
	t.number("completed", 1, metrics, "request_totals", "successful")
	t.number("failed", 1, metrics, "request_totals", "errored")
	t.number("request_throughput", 1, of("requests_per_second"), "mean")
	t.number("output_throughput", 1, of("output_tokens_per_second"), "mean")
	t.number("total_token_throughput", 1, of("tokens_per_second"), "mean")
	t.number("total_input_tokens", 1, of("prompt_token_count"), "total_sum")
	t.number("total_output_tokens", 1, of("output_token_count"), "total_sum")
	t.latency("ttft", 1, of("time_to_first_token_ms"), guidellmFigures)
	t.latency("tpot", 1, of("inter_token_latency_ms"), guidellmFigures)
	t.latency("e2el", 1000, of("request_latency"), guidellmFigures)
	from, started := parseFigure(string(within(b, "start_time")))
	to, ended := parseFigure(string(within(b, "end_time")))
	if started && ended && to > from {
		t["duration"] = to - from
		t["date"] = date(time.UnixMilli(int64(1000 * from)))
	}
	t.number("duration", 1, b, "duration")
	t.text("model_id", within(b, "config", "backend", "model"), within(b, "worker", "backend_model"))
	for _, holder := range []string{"args", "config"} {
		strategy := within(b, holder, "strategy")
		kind := within(strategy, "type_")
		switch {
		case !jsonscan.IsString(kind):
		case slices.Contains([]string{"constant", "poisson"}, jsonscan.Text(kind)):
			t.number("request_rate", 1, strategy, "rate") // its max_concurrency is that of its workers
		case jsonscan.Text(kind) == "synchronous":
			t["max_concurrency"] = 1
		default:
			t.number("max_concurrency", 1, strategy, "max_concurrency")
			t.number("max_concurrency", 1, strategy, "streams")
		}
	}
	return t
}

// aiperfFigures are where a metric of AIPerf has them.
var aiperfFigures = map[string][]string{"mean": {"avg"}, "median": {"p50"}, "std": {"std"}, "p50": {"p50"},
	"p90": {"p90"}, "p95": {"p95"}, "p99": {"p99"}}

// perMillisecond are milliseconds of a unit of AIPerf.
var perMillisecond = map[string]float64{"ms": 1, "s": 1000, "sec": 1000, "seconds": 1000, "us": 1e-3, "ns": 1e-6}

// aiperfResult translates metrics with their units; a latency in an unknown one is left out.
func aiperfResult(object []byte) translated {
	t := translated{measuredBy: aiperf}
	for key, name := range map[string]string{"completed": "request_count", "failed": "error_request_count",
		"request_throughput": "request_throughput", "output_throughput": "output_token_throughput",
		"total_token_throughput": "total_token_throughput", "total_input_tokens": "total_isl",
		"total_output_tokens": "total_osl"} {
		t.number(key, 1, object, name, "avg")
	}
	if t["failed"] == nil {
		t["failed"] = 0 // it has that metric only where there are failures
	}
	unit := func(name string) float64 {
		raw := within(object, name, "unit")
		if !jsonscan.IsString(raw) {
			return 0
		}
		return perMillisecond[jsonscan.Text(raw)]
	}
	for key, name := range map[string]string{"ttft": "time_to_first_token", "tpot": "inter_token_latency",
		"itl": "inter_chunk_latency", "e2el": "request_latency"} {
		if factor := unit(name); factor > 0 {
			t.latency(key, factor, within(object, name), aiperfFigures)
		}
	}
	if factor := unit("benchmark_duration") / 1000; factor > 0 {
		t.number("duration", factor, object, "benchmark_duration", "avg")
	}
	n, counted := t["completed"].(float64)
	if rate, ok := t["request_throughput"].(float64); ok && counted && rate > 0 && t["duration"] == nil {
		t["duration"] = n / rate
	}
	config := within(object, "input_config")
	t.number("max_concurrency", 1, config, "loadgen", "concurrency")
	t.number("request_rate", 1, config, "loadgen", "request_rate")
	for names := range jsonscan.Elements(within(config, "endpoint", "model_names")) {
		t.text("model_id", names)
	}
	for item := range jsonscan.Elements(within(config, "models", "items")) {
		t.text("model_id", within(item, "name"))
	}
	if raw := within(object, "start_time"); jsonscan.IsString(raw) {
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} { // without a zone it is local
			if started, err := time.ParseInLocation(layout, jsonscan.Text(raw), time.Local); err == nil {
				t["date"] = date(started)
			}
		}
	}
	return t
}
