package export

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"benchtop/metrics"
)

// Arg is a command-line option: its name in Python, with "_" for "-", and its value: nil, a bool, an int or int64, a float64
// or a string. The value is written as is, so secrets must be hidden before.
type Arg struct {
	Name  string
	Value any
}

// pytorchMetrics are the figures with a record, in order.
var pytorchMetrics = []string{
	"median_ttft_ms", "mean_ttft_ms", "std_ttft_ms", "p99_ttft_ms",
	"mean_tpot_ms", "median_tpot_ms", "std_tpot_ms", "p99_tpot_ms",
	"median_itl_ms", "mean_itl_ms", "std_itl_ms", "p99_itl_ms",
}

// pytorchIgnored are the keys of a result that are too long to repeat in every record.
var pytorchIgnored = []string{"ttfts", "itls", "generated_texts", "errors", "server_queue_times", "server_ttfts"}

// PyTorch writes the result in the format of PyTorch's benchmark database, as vLLM does: an array with a record for every
// figure of pytorchMetrics in the result, on one line without a newline. A record also has the options of the command line and
// the other keys of vLLM's result.
func PyTorch(w io.Writer, r metrics.Report, args []Arg) error {
	result := vllmResult(&r)
	extra := object{}
	for _, f := range result {
		if !slices.Contains(pytorchMetrics, f.key) && !slices.Contains(pytorchIgnored, f.key) {
			extra = append(extra, f)
		}
	}
	options := object{}
	for _, a := range args {
		options.set(a.Name, a.Value)
	}
	if size := result.get("tensor_parallel_size"); size != nil && options.get("tensor_parallel_size") == nil {
		options.set("tensor_parallel_size", size)
	}
	// The user's own keys take precedence over options.
	setting := func(name string) any { return cmp.Or(result.get(name), options.get(name), any("")) }
	mode := setting("compilation_config.mode")
	file, _ := options.get("result_filename").(string)
	benchmark := object{
		{"name", "vLLM benchmark"},
		{"extra_info", object{
			{"args", options},
			{"compilation_config.mode", mode},
			{"optimization_level", setting("optimization_level")},
			{"use_compile", mode != "0" && !strings.Contains(file, "eager")},
		}},
	}
	absent := func(name string) bool { return result.get(name) == nil }
	return writePython(w, each(slices.DeleteFunc(slices.Clone(pytorchMetrics), absent), func(name *string) object {
		return object{
			{"benchmark", benchmark},
			{"model", object{{"name", options.get("model")}}},
			{"metric", object{
				{"name", *name},
				{"benchmark_values", each([]any{result.get(*name)}, deref)},
				{"extra_info", extra},
			}},
		}
	}))
}
