package export

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/export/journal"
	"benchtop/metrics"
)

// ReadResult reads a result as vLLM or benchtop writes it and returns what it says: counts, throughputs and the statistics
// of latencies that are there. A statistic that is there has N successes, because the file does not say how many samples
// it had; one that is not has N 0. Of several results in a file, which --append-result makes, it reads the last. What only
// a journal knows, such as the timeline, is not in the report.
func ReadResult(path string) (metrics.Report, error) {
	f, err := journal.Open(path)
	if err != nil {
		return metrics.Report{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > longestResult {
		return metrics.Report{}, fmt.Errorf("%s: %w", path, errResultTooLong)
	}
	r, err := readResult(f)
	if err != nil {
		return metrics.Report{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func readResult(in io.Reader) (metrics.Report, error) {
	s := resultScanner{r: bufio.NewReaderSize(in, 1<<16), left: longestResult}
	var last *resultReader
	for {
		one := resultReader{latencies: map[metrics.Latency]*metrics.Statistic{}}
		one.r.Plan.Rate = metrics.Rate(math.Inf(1)) // where it does not say
		switch err := s.object(one.scalar); {
		case err == io.EOF && last == nil:
			return metrics.Report{}, errors.New("expected a result, found nothing")
		case err == io.EOF:
			return last.report()
		case one.journal:
			return metrics.Report{}, errors.New("this is a journal, not a result")
		case err != nil && last == nil:
			return metrics.Report{}, fmt.Errorf("not a result of a benchmark: %w", err)
		case err != nil:
			return metrics.Report{}, err
		}
		last = &one
	}
}

// resultReader collects what one result says.
type resultReader struct {
	r              metrics.Report
	counted, timed bool // that it has the keys every result has
	journal        bool
	latencies      map[metrics.Latency]*metrics.Statistic
}

// scalar takes one value of the top level. What is not known, or not as expected, is passed over: other versions have
// other keys.
func (x *resultReader) scalar(key, value string) {
	r, p := &x.r, &x.r.Plan
	number := func(into *float64) bool { return parseFigure(value, into) }
	whole := func(into *int) bool {
		var v float64
		ok := parseFigure(value, &v) && v >= 0
		if ok {
			*into = int(v)
		}
		return ok
	}
	switch key {
	case "benchtop_journal":
		x.journal = true
	case "date":
		p.Started, _ = time.ParseInLocation("20060102-150405", value, time.Local)
	case "backend":
		p.Backend = textOrNone(value)
	case "label":
		p.Label = textOrNone(value)
	case "model_id":
		p.ModelID = textOrNone(value)
	case "tokenizer_id":
		p.Tokenizer = textOrNone(value)
	case "num_prompts":
		whole(&p.NumPrompts)
	case "request_rate":
		number((*float64)(&p.Rate))
	case "burstiness":
		number(&p.Burstiness)
	case "max_concurrency":
		whole(&p.MaxConcurrency)
	case "duration":
		x.timed = number(&r.Duration)
	case "completed":
		x.counted = whole(&r.Completed)
	case "failed":
		whole(&r.Failed)
	case "total_input_tokens":
		whole(&r.InputTokens)
	case "total_input_sequences":
		p.Pooling = whole(&r.Inputs)
	case "input_sequence_throughput":
		number(&r.InputThroughput)
	case "total_output_tokens":
		whole(&r.OutputTokens)
	case "request_throughput":
		number(&r.RequestThroughput)
	case "request_goodput":
		if v := 0.0; number(&v) {
			r.Goodput = &v
		}
	case "output_throughput":
		number(&r.OutputThroughput)
	case "total_token_throughput":
		number(&r.TotalThroughput)
	case "max_output_tokens_per_s":
		whole(&r.PeakOutputPerSecond)
	case "max_concurrent_requests":
		whole(&r.PeakConcurrency)
	default:
		x.latency(key, value)
	}
}

// textOrNone: the scanner gives null as it stands.
func textOrNone(value string) string {
	if value == "null" {
		return ""
	}
	return value
}

// parseFigure leaves into as it is where value is no number that a result can have.
func parseFigure(value string, into *float64) bool {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !finite(v) || math.Abs(v) > metrics.LargestCount {
		return false
	}
	*into = v
	return true
}

// latency takes a key such as "p99.9_ttft_ms".
func (x *resultReader) latency(key, value string) {
	name, ok := strings.CutSuffix(key, "_ms")
	figure, key, _ := strings.Cut(name, "_")
	l, known := metrics.LatencyOf(key)
	if !ok || !known {
		return
	}
	s := x.latencies[l]
	if s == nil {
		s = &metrics.Statistic{}
	}
	var v float64
	if !parseFigure(value, &v) {
		return
	}
	switch figure {
	case "mean":
		s.Mean = v
	case "median":
		s.Median, s.Shown = v, []metrics.Percentile{{P: 50, Value: v}}
	case "std":
		s.Std = v
	default:
		p, err := strconv.ParseFloat(strings.TrimPrefix(figure, "p"), 64)
		if err != nil || figure[0] != 'p' || !(p >= 0 && p <= 100) || len(s.Percentiles) == mostPercentiles {
			return
		}
		s.Percentiles = append(s.Percentiles, metrics.Percentile{P: p, Value: v})
	}
	x.latencies[l] = s
}

// mostPercentiles of a latency bounds what a file can ask for.
const mostPercentiles = 1000

// report is complete once all keys are known: their order is not.
func (x *resultReader) report() (metrics.Report, error) {
	r, p := &x.r, &x.r.Plan
	if !x.counted || !x.timed {
		return metrics.Report{}, errors.New(`not a result of a benchmark: it has no numbers "completed" and "duration"`)
	}
	r.Ended = time.Duration(min(max(r.Duration, 0), metrics.LongestRun.Seconds()) * float64(time.Second))
	for l := range metrics.Latencies() {
		found := x.latencies[l]
		if found == nil {
			continue
		}
		found.N = r.Completed
		slices.SortStableFunc(found.Percentiles, func(a, b metrics.Percentile) int { return cmp.Compare(a.P, b.P) })
		p.Metrics = append(p.Metrics, l)
		for _, q := range found.Percentiles {
			if !slices.Contains(p.Percentiles, q.P) {
				p.Percentiles = append(p.Percentiles, q.P)
			}
		}
		r.Statistics[l] = *found
	}
	slices.Sort(p.Percentiles)
	return *r, nil
}
