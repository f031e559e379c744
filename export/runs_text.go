package export

import (
	"fmt"
	"math"
	"strconv"

	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// RunOf is a run of several. Load is the name of its load, which repetitions share, Label that of the run.
type RunOf struct {
	Load, Label string
	Report      metrics.Report
}

// percentileOf is one in milliseconds, NaN for none.
func percentileOf(s *metrics.Statistic, p float64) float64 {
	if v, ok := s.Percentile(p); ok && s.N > 0 {
		return v
	}
	return math.NaN()
}

// percentilesOf are the cells of some of them.
func percentilesOf(s *metrics.Statistic, of ...float64) []any {
	return metrics.Each(of, func(p float64) any { return percentileOf(s, p) })
}

// RunsSummary has a line for each run, with the columns of vLLM's Rust client, and the load of the highest mean request
// throughput last, with its spread over the repetitions. SS is the steady state. The percentiles come behind 50 and 90.
func RunsSummary(runs []RunOf, percentiles []float64) string {
	head := []string{"Load", "Req/s", "Tok/s", "Total tok/s", "SS req/s", "SS out tok/s"}
	shown := []float64{50, 90}
	for _, p := range percentiles {
		if p != 50 && p != 90 {
			shown = append(shown, p)
		}
	}
	for _, p := range shown {
		head = append(head, "P"+pythonNumber(p)+" TTFT(ms)", "P"+pythonNumber(p)+" TPOT(ms)")
	}
	t := table.New("Sweep Summary", head...)
	for i := range runs {
		r := &runs[i].Report
		t.Add(text.Clean(runs[i].Label), r.RequestThroughput, r.OutputThroughput, r.TotalThroughput,
			steadyOf(steadyRequests)(r), steadyOf(steadyOutput)(r), metrics.Each(shown, func(p float64) any {
				return []any{percentileOf(&r.Statistics[metrics.TTFT], p), percentileOf(&r.Statistics[metrics.TPOT], p)}
			}))
	}
	if len(runs) == 0 {
		return ""
	}
	load, n, s := bestLoad(runs)
	of := "a single run"
	if n > 1 {
		of = fmt.Sprintf("the mean of %d runs, %s to %s", n, decimals(s.min), decimals(s.max))
	}
	return fmt.Sprintf("%sBest throughput: %s req/s at %s (%s)\n", t, decimals(s.mean), text.Clean(load), of)
}

// bestLoad is the load whose runs have the highest request throughput on average, with the number and the spread of its
// runs.
func bestLoad(runs []RunOf) (load string, n int, best spread) {
	all := map[string][]float64{}
	for i := range runs {
		all[runs[i].Load] = append(all[runs[i].Load], runs[i].Report.RequestThroughput)
	}
	for i := range runs { // the first of several that are alike
		if s := spreadOf(all[runs[i].Load]); n == 0 || s.mean > best.mean {
			load, n, best = runs[i].Load, len(all[runs[i].Load]), s
		}
	}
	return load, n, best
}

// repeated are the figures of RunsSpread. Those of the steady state are the last.
var repeated = []struct {
	name string
	of   func(r *metrics.Report) float64
}{
	{"Request throughput (req/s)", func(r *metrics.Report) float64 { return r.RequestThroughput }},
	{"Output throughput (tok/s)", func(r *metrics.Report) float64 { return r.OutputThroughput }},
	{"Total throughput (tok/s)", func(r *metrics.Report) float64 { return r.TotalThroughput }},
	{"Peak output (tok/s)", func(r *metrics.Report) float64 { return float64(r.PeakOutputPerSecond) }},
	{"Peak output tokens in 1 s", func(r *metrics.Report) float64 { return float64(r.PeakOutputTokens) }},
	{"Mean TTFT (ms)", meanOf(metrics.TTFT)},
	{"Median TTFT (ms)", percentile(metrics.TTFT, 50)},
	{"P99 TTFT (ms)", percentile(metrics.TTFT, 99)},
	{"Mean TPOT (ms)", meanOf(metrics.TPOT)},
	{"Median TPOT (ms)", percentile(metrics.TPOT, 50)},
	{"P99 TPOT (ms)", percentile(metrics.TPOT, 99)},
	{"Mean ITL (ms)", meanOf(metrics.ITL)},
	{"Mean E2EL (ms)", meanOf(metrics.E2EL)},
	{"P99 E2EL (ms)", percentile(metrics.E2EL, 99)},
	{"Completed", func(r *metrics.Report) float64 { return float64(r.Completed) }},
	{"Failed", func(r *metrics.Report) float64 { return float64(r.Failed) }},
	{"Duration (s)", func(r *metrics.Report) float64 { return r.Duration }},
	{"SS request throughput (req/s)", steadyOf(steadyRequests)},
	{"SS output throughput (tok/s)", steadyOf(steadyOutput)},
	{"SS total throughput (tok/s)", steadyOf(func(s *metrics.SteadyState) float64 { return s.TotalThroughput })},
	{"SS mean TTFT (ms)", steadyOf(func(s *metrics.SteadyState) float64 { return known(s.TTFT) })},
	{"SS mean TPOT (ms)", steadyOf(func(s *metrics.SteadyState) float64 { return known(s.TPOT) })},
}

func meanOf(l metrics.Latency) func(r *metrics.Report) float64 {
	return func(r *metrics.Report) float64 { return known(r.Statistics[l]) }
}

// known is the mean, NaN for no values.
func known(s metrics.Statistic) float64 {
	if s.N == 0 {
		return math.NaN()
	}
	return s.Mean
}

func percentile(l metrics.Latency, p float64) func(r *metrics.Report) float64 {
	return func(r *metrics.Report) float64 { return percentileOf(&r.Statistics[l], p) }
}

func steadyRequests(s *metrics.SteadyState) float64 { return s.RequestThroughput }
func steadyOutput(s *metrics.SteadyState) float64   { return s.OutputThroughput }

// steadyOf is a figure of the steady state, NaN for a run without one.
func steadyOf(of func(s *metrics.SteadyState) float64) func(r *metrics.Report) float64 {
	return func(r *metrics.Report) float64 {
		if s := r.SteadyState; s != nil && s.End > s.Start {
			return of(s)
		}
		return math.NaN()
	}
}

// RunsSpread has the mean, the sample standard deviation, the least and the most of each figure over repeated runs of
// one load, over those runs that have it. The coefficient of variation of the request throughput comes last.
func RunsSpread(title string, runs []metrics.Report) string {
	t := table.New(fmt.Sprintf("%s (%d runs)", title, len(runs)), "Figure", "Mean", "Std", "Min", "Max")
	variation := math.NaN()
	for i, f := range repeated {
		var values []float64
		for k := range runs {
			if v := f.of(&runs[k]); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		if len(values) == 0 {
			continue
		}
		s := spreadOf(values)
		t.Add(f.name, s.mean, s.std, s.min, s.max)
		if i == 0 && s.mean > 0 {
			variation = 100 * s.std / s.mean
		}
	}
	if math.IsNaN(variation) {
		return t.String()
	}
	return fmt.Sprintf("%sCoefficient of variation of the request throughput: %s%%\n", t, decimals(variation))
}

func decimals(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// spread describes values; std is NaN for one.
type spread struct{ mean, std, min, max float64 }

func spreadOf(values []float64) spread {
	s := spread{std: math.NaN(), min: math.Inf(1), max: math.Inf(-1)}
	for _, v := range values {
		s.mean += v / float64(len(values))
		s.min, s.max = min(s.min, v), max(s.max, v)
	}
	if n := len(values); n > 1 {
		squares := 0.0
		for _, v := range values {
			squares += (v - s.mean) * (v - s.mean)
		}
		s.std = math.Sqrt(squares / float64(n-1))
	}
	return s
}
