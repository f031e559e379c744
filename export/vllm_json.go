package export

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
)

// JSON writes the result as vLLM's Python client does, key by key and digit by digit, on one line without a newline;
// then the keys that its Rust client alone has, and one more, "benchtop", with the rest of the report. Times are
// seconds from the start of the run.
func JSON(w io.Writer, r metrics.Report) error {
	o := vllmResult(&r)
	for _, f := range rustKeys(&r) {
		o.set(f.Name, f.Value)
	}
	o.set("benchtop", benchtopObject(&r))
	return writePython(w, o)
}

// vllmResult has the keys of vLLM, set in vLLM's order: a user's own key may replace one before it and be replaced by
// one after it, and a key that is set again keeps its place.
func vllmResult(r *metrics.Report) object {
	var o object
	for _, f := range slices.Concat(planKeys(&r.Plan), metadataKeys(&r.Plan), loadKeys(&r.Plan), totalKeys(r),
		serverClockKeys(r), probeFigures(r).keys(), rateKeys(r), specDecodeKeys(r), diffusionFigures(r).keys(),
		metricKeys(r)) {
		o.set(f.Name, f.Value)
	}
	return o
}

func planKeys(p *metrics.Plan) object {
	return object{
		{"date", date(p.Started)},
		{"endpoint_type", p.Backend},
		{"backend", p.Backend},
		{"label", orNull(p.Label)},
		{"model_id", p.ModelID},
		{"tokenizer_id", when(!p.SkipTokenizer, orNull(p.Tokenizer))},
		{"num_prompts", p.NumPrompts},
	}
}

// detailOnly are the keys that vLLM removes unless details were asked for, even if they are the user's own.
var detailOnly = []string{"input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors"}

func metadataKeys(p *metrics.Plan) object {
	var o object
	for _, pair := range p.Metadata {
		if p.Detailed || !slices.Contains(detailOnly, pair.Key) {
			o = append(o, Arg{pair.Key, pair.Value})
		}
	}
	return o
}

// configured is the load in vLLM's keys. A search has none: its first load is not the measured one.
func configured(p *metrics.Plan) (rate metrics.Rate, users int) {
	switch {
	case p.Find == nil:
		return p.Rate, p.MaxConcurrency
	case p.Find.Unit == metrics.Users:
		return p.Rate, 0
	}
	return metrics.Rate(math.Inf(1)), p.MaxConcurrency
}

func loadKeys(p *metrics.Plan) object {
	rate, users := configured(p)
	o := object{
		{"request_rate", float64(rate)},
		{"burstiness", p.Burstiness},
		{"max_concurrency", orNull(users)},
	}
	if p.Ramp != nil {
		o = append(o,
			Arg{"ramp_up_strategy", p.Ramp.Strategy},
			Arg{"ramp_up_start_rps", number(p.Ramp.From)},
			Arg{"ramp_up_end_rps", number(p.Ramp.To)})
	}
	return o
}

func totalKeys(r *metrics.Report) object {
	if r.Plan.Pooling {
		return poolingKeys(r)
	}
	o := object{
		{"duration", r.Duration},
		{"completed", r.Completed},
		{"failed", r.Failed},
		{"total_input_tokens", r.InputTokens},
		{"total_output_tokens", r.OutputTokens},
		{"request_throughput", r.RequestThroughput},
		{"request_goodput", ifPresent(r.Goodput, deref)},
		{"output_throughput", r.OutputThroughput},
		{"total_token_throughput", r.TotalThroughput},
	}
	if r.Plan.Detailed {
		o = append(o, detailKeys(r)...)
	} else {
		o = append(o, rowKeys(r)...)
	}
	return append(o,
		Arg{"max_output_tokens_per_s", float64(r.PeakOutputPerSecond)},
		Arg{"max_concurrent_requests", r.PeakConcurrency},
		Arg{"rtfx", r.RTFx})
}

// rustKeys are those that vLLM's Rust client adds. They stand behind the others, so that the order of its Python client
// stays. As with vLLM, failed_requests is there only if there are any.
func rustKeys(r *metrics.Report) (o object) {
	if r.Plan.Generates() {
		o = append(o, Arg{"input_throughput", metrics.PerSecond(float64(r.InputTokens), r.Duration)})
	}
	if len(r.FailedRequests) > 0 {
		o = append(o, Arg{"failed_requests", each(r.FailedRequests, func(f *metrics.DetailedRequest) object {
			return object{{"index", f.Index}, {"error", f.Error}, {"prompt_len", f.InputTokens},
				{"start_time", secondsOrZero(f.Start)}, {"latency", 0.0},
				{"ttft", secondsOrZero(f.TTFT)}, {"output_tokens", 0}, {"itl", f.ITLs(nil)}}
		})})
	}
	return append(o, conversationKeys(r)...)
}

// rowKeys are the latencies and slot waits of all requests.
func rowKeys(r *metrics.Report) object {
	return object{
		{"latencies", each(r.Rows, func(row *metrics.Row) float64 { return row.Latency })},
		{"queue_times", each(r.Rows, func(row *metrics.Row) float64 { return row.SlotWait })},
	}
}

// rateKeys are the steps of the rate, if there are any.
func rateKeys(r *metrics.Report) object {
	if r.RateSteps == nil {
		return nil
	}
	return object{{"rps_change_events", each(r.RateSteps, func(s *metrics.RateStep) object {
		at := r.Plan.Started.Local().Add(s.At)
		return object{{"rps", s.RPS}, {"timestamp", at.Format("2006-01-02T15:04:05.000000")}}
	})}}
}

// column is a value of every request.
func column[V any](r *metrics.Report, key string, of func(*metrics.DetailedRequest) V) Arg {
	return Arg{key, each(r.Details, of)}
}

func detailKeys(r *metrics.Report) object {
	rows, itls := rowKeys(r), []float64(nil)
	return object{
		column(r, "input_lens", func(q *metrics.DetailedRequest) int { return q.InputTokens }),
		column(r, "output_lens", func(q *metrics.DetailedRequest) int { return q.OutputTokens }),
		column(r, "ttfts", func(q *metrics.DetailedRequest) float64 { return secondsOrZero(q.TTFT) }),
		column(r, "itls", func(q *metrics.DetailedRequest) []float64 { itls = q.ITLs(itls); return itls }),
		rows[0],
		column(r, "start_times", func(q *metrics.DetailedRequest) float64 { return secondsOrZero(q.Start) }),
		rows[1],
		column(r, "generated_texts", func(q *metrics.DetailedRequest) string { return q.Text }),
		errorKeys(r),
	}
}

func errorKeys(r *metrics.Report) Arg {
	return column(r, "errors", func(q *metrics.DetailedRequest) string { return q.Error })
}

// serverClockKeys are written if the server reported queue or prefill time for any request.
func serverClockKeys(r *metrics.Report) object {
	told := func(q metrics.DetailedRequest) bool {
		return q.ServerQueue != metrics.Never || q.ServerPrefill != metrics.Never
	}
	if !r.Plan.Detailed || !slices.ContainsFunc(r.Details, told) {
		return nil
	}
	return object{
		column(r, "server_queue_times", func(q *metrics.DetailedRequest) any { return atSeconds(q.ServerQueue) }),
		column(r, "server_ttfts", func(q *metrics.DetailedRequest) any { return atSeconds(q.ServerPrefill) }),
	}
}

func secondsOrZero(d time.Duration) float64 {
	if d == metrics.Never {
		return 0
	}
	return d.Seconds()
}

func metricKeys(r *metrics.Report) object {
	var o object
	for _, l := range selected(r) {
		o = append(o, latencyKeys(l, &r.Statistics[l])...)
	}
	return o
}

func latencyKeys(l metrics.Latency, v *metrics.Statistic) object {
	name := "_" + l.Key() + "_ms"
	o := object{{"mean" + name, v.Mean}, {"median" + name, v.Median}, {"std" + name, v.Std}}
	for _, p := range v.Percentiles {
		o = append(o, Arg{"p" + pythonNumber(p.P) + name, p.Value})
	}
	return o
}

// poolingKeys are vLLM's keys for answers without tokens, in its order. vLLM has no goodput there; request_goodput is
// at its usual place if there are objectives.
func poolingKeys(r *metrics.Report) object {
	o := object{
		{"duration", r.Duration},
		{"completed", r.Completed},
		{"total_input_tokens", r.InputTokens},
		{"total_input_sequences", r.Inputs},
		{"request_throughput", r.RequestThroughput},
	}
	if r.Goodput != nil {
		o = append(o, Arg{"request_goodput", *r.Goodput})
	}
	o = append(o, Arg{"input_sequence_throughput", r.InputThroughput}, Arg{"total_token_throughput", r.TotalThroughput})
	if r.Plan.Detailed {
		o = append(o, column(r, "input_lens", func(q *metrics.DetailedRequest) int {
			if q.Error != "" {
				return 0
			}
			return q.InputTokens
		}))
	}
	o = append(o, rowKeys(r)...)
	if r.Plan.Detailed {
		o = append(o, errorKeys(r))
	}
	return o
}

// selected are the requested latencies that the run can have. Each has a section in report and result.
func selected(r *metrics.Report) (out []metrics.Latency) {
	for l := range metrics.Latencies() {
		if l.Possible(&r.Plan) && slices.Contains(r.Plan.Metrics, l) {
			out = append(out, l)
		}
	}
	return out
}

// pytorchMetrics are the figures with a record, in order.
var pytorchMetrics = []string{
	"median_ttft_ms", "mean_ttft_ms", "std_ttft_ms", "p99_ttft_ms",
	"mean_tpot_ms", "median_tpot_ms", "std_tpot_ms", "p99_tpot_ms",
	"median_itl_ms", "mean_itl_ms", "std_itl_ms", "p99_itl_ms",
}

// pytorchIgnored are the keys of a result that are too long to repeat in every record.
var pytorchIgnored = []string{"ttfts", "itls", "generated_texts", "errors", "server_queue_times", "server_ttfts"}

// PyTorch writes the result in the format of PyTorch's benchmark database, as vLLM does: an array with a record for
// every figure of pytorchMetrics in the result, on one line without a newline. A record also has the options of the
// command line and the other keys of vLLM's result.
func PyTorch(w io.Writer, r metrics.Report, args []Arg) error {
	result := vllmResult(&r)
	extra := object{}
	for _, f := range result {
		if !slices.Contains(pytorchMetrics, f.Name) && !slices.Contains(pytorchIgnored, f.Name) {
			extra = append(extra, f)
		}
	}
	options := dictOf(args)
	if size := result.get("tensor_parallel_size"); size != nil && options.get("tensor_parallel_size") == nil {
		options.set("tensor_parallel_size", size)
	}
	absent := func(name string) bool { return result.get(name) == nil }
	file, _ := options.get("result_filename").(string)
	return writeFigures(w, result, options, file,
		each(slices.DeleteFunc(slices.Clone(pytorchMetrics), absent), func(name *string) object {
			return object{{"name", *name}, {"benchmark_values", each([]any{result.get(*name)}, deref)},
				{"extra_info", extra}}
		}))
}

// PyTorchFigures writes figures in the format of PyTorch, each a float64 or a []float64, with what else is known of
// them. File is the name of the result's file.
func PyTorchFigures(w io.Writer, args []Arg, file string, figures, extra []Arg) error {
	return writeFigures(w, dictOf(extra), dictOf(args), file, each(figures, func(f *Arg) object {
		values, several := f.Value.([]float64)
		if !several {
			values = []float64{f.Value.(float64)}
		}
		return object{{"name", f.Name}, {"benchmark_values", values}, {"extra_info", extra}}
	}))
}

// writeFigures writes a record for each figure. The user's own keys of a result take precedence over options.
func writeFigures(w io.Writer, result, options object, file string, figures list) error {
	setting := func(name string) any { return cmp.Or(result.get(name), options.get(name), any("")) }
	mode := setting("compilation_config.mode")
	benchmark := object{
		{"name", "vLLM benchmark"},
		{"extra_info", object{
			{"args", options},
			{"compilation_config.mode", mode},
			{"optimization_level", setting("optimization_level")},
			{"use_compile", mode != "0" && !strings.Contains(file, "eager")},
		}},
	}
	return writePython(w, list(func(yield func(any) bool) {
		for figure := range figures {
			if !yield(object{{"benchmark", benchmark}, {"model", object{{"name", options.get("model")}}},
				{"metric", figure}}) {
				return
			}
		}
	}))
}
