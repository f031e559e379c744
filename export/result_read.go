package export

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/jsonscan"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// ReadResult reads a result of vLLM or benchtop, a JSON object: counts, throughputs and statistics of latencies. A
// statistic has as many samples as there are successes, because the file has no sample counts; a missing one has N 0.
// Data that only a journal has, such as the timeline, is missing from the report.
func ReadResult(result []byte) (metrics.Report, error) {
	x := &resultReader{}
	x.places = places(&x.r)
	x.r.Plan.Rate, x.r.Uncounted = metrics.Rate(math.Inf(1)), true // if the file has none
	for key, raw := range jsonscan.Members(result) {
		switch {
		case raw[0] == '{' || raw[0] == '[' || len(raw) > maxScalarBytes:
		case jsonscan.IsString(raw):
			x.scalar(jsonscan.Text(key), jsonscan.Text(raw))
		default:
			x.scalar(jsonscan.Text(key), string(raw))
		}
	}
	return x.report()
}

// maxScalarBytes bounds a value; longer ones count as absent.
const maxScalarBytes = 64 << 10

// resultReader collects the values of one result.
type resultReader struct {
	r               metrics.Report
	counted, lasted bool // the keys of every result are there
	places          map[string]any
	timed           [metrics.NumLatencies]bool // the latencies that are there
}

// places are the fields of a report for the keys of a result, except latencies.
func places(r *metrics.Report) map[string]any {
	p := &r.Plan
	return map[string]any{
		"backend": &p.Backend, "label": &p.Label, "model_id": &p.ModelID, "tokenizer_id": &p.Tokenizer,
		"num_prompts": &p.NumPrompts, "request_rate": (*float64)(&p.Rate), "burstiness": &p.Burstiness,
		"max_concurrency": &p.MaxConcurrency, measuredBy: &r.Tool,
		"duration": &r.Duration, "completed": &r.Completed, "failed": &r.Failed,
		"total_input_tokens": &r.InputTokens, "total_input_sequences": &r.Inputs,
		"total_output_tokens": &r.OutputTokens,
		"request_throughput":  &r.RequestThroughput, "input_sequence_throughput": &r.InputThroughput,
		"output_throughput": &r.OutputThroughput, "total_token_throughput": &r.TotalThroughput,
		"max_output_tokens_per_s": &r.PeakOutputPerSecond, "max_concurrent_requests": &r.PeakConcurrency,
		"rtfx": &r.RTFx,
	}
}

// scalar takes a value of the top level. Unknown keys and unexpected values are skipped: other versions have other
// keys.
func (x *resultReader) scalar(key, value string) {
	v, known := parseFigure(value)
	switch into := x.places[key].(type) {
	case *string:
		if *into = value; value == "null" { // null arrives as text
			*into = ""
		}
	case *float64:
		if known {
			*into = v
		}
	case *int:
		if known = known && v >= 0; known {
			*into = int(v)
		}
	default:
		x.latency(key, value)
	}
	switch key {
	case "date":
		x.r.Plan.Started, _ = time.ParseInLocation(dateLayout, value, time.Local)
	case "burstiness":
		if math.IsInf(v, 1) { // constant gaps
			x.r.Plan.Burstiness = v
		}
	case "duration":
		x.lasted = known
	case "completed":
		x.counted = known
	case "failed":
		x.r.Uncounted = !known
	case "total_input_sequences":
		x.r.Plan.Pooling = known
	case "request_goodput":
		if known {
			x.r.Goodput = &v
		}
	}
}

// parseFigure parses a number within the range of results.
func parseFigure(value string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(value, 64)
	return v, err == nil && text.Finite(v) && math.Abs(v) <= metrics.LargestCount
}

// latency takes a key such as "p99.9_ttft_ms".
func (x *resultReader) latency(key, value string) {
	name, ok := strings.CutSuffix(key, "_ms")
	figure, key, _ := strings.Cut(name, "_")
	l, known := metrics.LatencyOf(key)
	v, valid := parseFigure(value)
	if !ok || !known || !valid {
		return
	}
	s := &x.r.Statistics[l]
	switch figure {
	case "mean":
		s.Mean = v
	case "median":
		s.Median, s.Shown = v, []metrics.Percentile{{P: 50, Value: v}}
	case "std":
		s.Std = v
	default:
		p, err := strconv.ParseFloat(strings.TrimPrefix(figure, "p"), 64)
		if err != nil || figure[0] != 'p' || !(p >= 0 && p <= 100) || len(s.Percentiles) == maxPercentiles {
			return
		}
		s.Percentiles = append(s.Percentiles, metrics.Percentile{P: p, Value: v})
	}
	x.timed[l] = true
}

// maxPercentiles bounds the percentiles of a latency in a file.
const maxPercentiles = 1000

// report completes the report after the last key: keys have no fixed order.
func (x *resultReader) report() (metrics.Report, error) {
	r, p := &x.r, &x.r.Plan
	if !x.counted || !x.lasted {
		return metrics.Report{}, errors.New(`not a result of a benchmark: it has no numbers "completed" and "duration"`)
	}
	r.Ended = time.Duration(min(max(r.Duration, 0), metrics.LongestRun.Seconds()) * float64(time.Second))
	for l := range metrics.Latencies() {
		if !x.timed[l] {
			continue
		}
		found := &r.Statistics[l]
		found.N = r.Completed
		slices.SortStableFunc(found.Percentiles, func(a, b metrics.Percentile) int { return cmp.Compare(a.P, b.P) })
		p.Metrics = append(p.Metrics, l)
		for _, q := range found.Percentiles {
			if !slices.Contains(p.Percentiles, q.P) {
				p.Percentiles = append(p.Percentiles, q.P)
			}
		}
	}
	slices.Sort(p.Percentiles)
	return *r, nil
}
