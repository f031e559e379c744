package export

import (
	"io"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
)

// JSON writes the result as vLLM does, key by key and digit by digit, on one line without a newline, and then one more
// key, "benchtop", with everything vLLM has no place for. Points in time are seconds from the start of the run.
func JSON(w io.Writer, r metrics.Report) error {
	o := vllmResult(&r)
	o.set("benchtop", benchtopObject(&r))
	return writePython(w, o)
}

// vllmResult are the keys of vLLM. It sets them one after the other as vLLM does: the user's own keys may replace those
// before them and are replaced by those after them, and a key that is set again keeps its place.
func vllmResult(r *metrics.Report) object {
	var o object
	for _, part := range []object{
		planKeys(&r.Plan), metadataKeys(&r.Plan), loadKeys(&r.Plan), totalKeys(r), metricKeys(r),
	} {
		for _, f := range part {
			o.set(f.key, f.value)
		}
	}
	return o
}

func planKeys(p *metrics.Plan) object {
	tokenizer := orNull(p.Tokenizer)
	if p.SkipTokenizer {
		tokenizer = nil
	}
	return object{
		{"date", date(p.Started)},
		{"endpoint_type", p.Backend},
		{"backend", p.Backend},
		{"label", orNull(p.Label)},
		{"model_id", p.ModelID},
		{"tokenizer_id", tokenizer},
		{"num_prompts", p.NumPrompts},
	}
}

// detailOnly are the keys that vLLM takes out again unless details were asked for, whoever put them there.
var detailOnly = []string{"input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors"}

func metadataKeys(p *metrics.Plan) object {
	var o object
	for _, pair := range p.Metadata {
		if p.Detailed || !slices.Contains(detailOnly, pair.Key) {
			o = append(o, field{pair.Key, pair.Value})
		}
	}
	return o
}

// configured is the load as vLLM's keys can tell it. One that was searched for is none of them: where the search began is not
// what was measured.
func configured(p *metrics.Plan) (rate metrics.Rate, users int) {
	rate, users = p.Rate, p.MaxConcurrency
	switch f := p.Find; {
	case f == nil:
	case f.Users:
		users = 0
	default:
		rate = metrics.Rate(math.Inf(1))
	}
	return rate, users
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
			field{"ramp_up_strategy", p.Ramp.Strategy},
			field{"ramp_up_start_rps", rampRate(p.Ramp.From)},
			field{"ramp_up_end_rps", rampRate(p.Ramp.To)})
	}
	return o
}

// orNull stands in for "not set", which a plan writes as a zero value.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// rampRate is an integer wherever it can be one: vLLM's ramps have only whole rates.
func rampRate(v float64) any {
	if integral(v) {
		return int64(v)
	}
	return v
}

func totalKeys(r *metrics.Report) object {
	var goodput any
	if r.Goodput != nil {
		goodput = *r.Goodput
	}
	if r.Plan.Pooling {
		return append(poolingKeys(r), besideKeys(r)...)
	}
	o := object{
		{"duration", r.Duration},
		{"completed", r.Completed},
		{"failed", r.Failed},
		{"total_input_tokens", r.InputTokens},
		{"total_output_tokens", r.OutputTokens},
		{"request_throughput", r.RequestThroughput},
		{"request_goodput", goodput},
		{"output_throughput", r.OutputThroughput},
		{"total_token_throughput", r.TotalThroughput},
	}
	latencies := field{"latencies", each(r.Rows, func(row *metrics.Row) any { return row.Latency })}
	queues := field{"queue_times", each(r.Rows, func(row *metrics.Row) any { return row.SlotWait })}
	if r.Plan.Detailed {
		o = append(o, detailKeys(r.Details, latencies, queues)...)
	} else {
		o = append(o, latencies, queues)
	}
	o = append(o,
		field{"max_output_tokens_per_s", float64(r.PeakOutputPerSecond)},
		field{"max_concurrent_requests", r.PeakConcurrency},
		field{"rtfx", 0.0}) // seconds of audio per second, and nobody sends audio
	if r.Plan.Detailed {
		o = append(o, serverClockKeys(r.Details)...)
	}
	return append(o, besideKeys(r)...)
}

// besideKeys are those of probes, steps of the rate and the server's counters, where there were any.
func besideKeys(r *metrics.Report) object {
	o := probeKeys(r)
	if r.RateSteps != nil {
		o = append(o, field{"rps_change_events", each(r.RateSteps, func(s *metrics.RateStep) any {
			at := r.Plan.Started.Local().Add(s.At)
			return object{{"rps", s.RPS}, {"timestamp", at.Format("2006-01-02T15:04:05.000000")}}
		})})
	}
	o = append(o, specDecodeKeys(r)...)
	return append(o, diffusionKeys(r)...)
}

func detailKeys(requests []metrics.Request, latencies, queues field) object {
	column := func(key string, f func(*metrics.Request) any) field { return field{key, each(requests, f)} }
	return object{
		column("input_lens", func(q *metrics.Request) any { return q.InputTokens }),
		column("output_lens", func(q *metrics.Request) any {
			if !q.OK() {
				return 0
			}
			return q.OutputTokens
		}),
		column("ttfts", func(q *metrics.Request) any { return secondsOrZero(q.TTFT()) }),
		column("itls", func(q *metrics.Request) any { return gaps(q) }),
		latencies,
		column("start_times", func(q *metrics.Request) any {
			if q.Sent == metrics.Never { // no connection: its own clock would have started here
				return secondsOrZero(q.Admitted)
			}
			return q.Sent.Seconds()
		}),
		queues,
		column("generated_texts", func(q *metrics.Request) any { return q.Text }),
		column("errors", func(q *metrics.Request) any { return failureText(q) }),
	}
}

// serverClockKeys are there if a server told of any request how long it queued or computed until the first token.
func serverClockKeys(requests []metrics.Request) object {
	told := func(q metrics.Request) bool {
		return q.ServerQueue != metrics.Never || q.ServerPrefill != metrics.Never
	}
	if !slices.ContainsFunc(requests, told) {
		return nil
	}
	column := func(key string, f func(*metrics.Request) time.Duration) field {
		return field{key, each(requests, func(q *metrics.Request) any {
			if d := f(q); d != metrics.Never {
				return d.Seconds()
			}
			return nil
		})}
	}
	return object{
		column("server_queue_times", func(q *metrics.Request) time.Duration { return q.ServerQueue }),
		column("server_ttfts", func(q *metrics.Request) time.Duration { return q.ServerPrefill }),
	}
}

// gaps are the times between chunks in seconds.
func gaps(q *metrics.Request) []float64 {
	out := make([]float64, 0, max(0, len(q.Chunks)-1))
	for i := 1; i < len(q.Chunks); i++ {
		out = append(out, (q.Chunks[i].At - q.Chunks[i-1].At).Seconds())
	}
	return out
}

func secondsOrZero(d time.Duration) float64 {
	if d == metrics.Never {
		return 0
	}
	return d.Seconds()
}

// failureText is "" for a success and never "" for a failure, so that it can serve as the success mask.
func failureText(q *metrics.Request) string {
	switch {
	case q.OK():
		return ""
	case q.Error != "":
		return q.Error
	case q.Failure != "":
		return string(q.Failure)
	}
	return "unfinished"
}

func metricKeys(r *metrics.Report) object {
	var o object
	for _, l := range selected(r) {
		v, name := &r.Statistics[l], "_"+l.Key()+"_ms"
		o = append(o, field{"mean" + name, v.Mean}, field{"median" + name, v.Median}, field{"std" + name, v.Std})
		for _, p := range v.Percentiles {
			o = append(o, field{"p" + pythonNumber(p.P) + name, p.Value})
		}
	}
	return o
}

// poolingKeys are vLLM's for a run whose answers hold no tokens, in its order. It has none for goodput there: request_goodput is in
// its usual place where there are objectives.
func poolingKeys(r *metrics.Report) object {
	o := object{
		{"duration", r.Duration},
		{"completed", r.Completed},
		{"total_input_tokens", r.InputTokens},
		{"total_input_sequences", r.Inputs},
		{"request_throughput", r.RequestThroughput},
	}
	if r.Goodput != nil {
		o = append(o, field{"request_goodput", *r.Goodput})
	}
	o = append(o, field{"input_sequence_throughput", r.InputThroughput}, field{"total_token_throughput", r.TotalThroughput})
	if r.Plan.Detailed {
		o = append(o, field{"input_lens", each(r.Details, func(q *metrics.Request) any {
			if !q.OK() {
				return 0
			}
			return q.InputTokens
		})})
	}
	o = append(o, field{"latencies", each(r.Rows, func(row *metrics.Row) any { return row.Latency })},
		field{"queue_times", each(r.Rows, func(row *metrics.Row) any { return row.SlotWait })})
	if r.Plan.Detailed {
		o = append(o, field{"errors", each(r.Details, func(q *metrics.Request) any { return failureText(q) })})
		o = append(o, serverClockKeys(r.Details)...)
	}
	return o
}

// poolingTotals are the lines of such a run between the input tokens and the latencies.
func (t textReport) poolingTotals(r *metrics.Report) {
	t.float("Request throughput (req/s):", r.RequestThroughput)
	t.float("Input throughput (inputs/s):", r.InputThroughput)
	if r.Goodput != nil {
		t.float("Request goodput (req/s):", *r.Goodput)
	}
	if !r.Plan.SkipTokenizer {
		t.float("Total token throughput (tok/s):", r.TotalThroughput)
	}
}

// selected are the latencies that were asked for and that the run can have: report and result have a section of each.
func selected(r *metrics.Report) (out []metrics.Latency) {
	for l := range metrics.Latencies() {
		if l.Possible(&r.Plan) && slices.Contains(r.Plan.Metrics, l) {
			out = append(out, l)
		}
	}
	return out
}
