package offline

import (
	"io"
	"slices"
	"strconv"
	"time"

	"benchtop/export"
	"benchtop/metrics"
)

// Latency is the result of one batch that was processed again and again.
type Latency struct {
	Model   string
	Times   []time.Duration // of the iterations, in their order
	Batch   int             // prompts
	List    bool            // one request with a list of prompts, else simultaneous requests
	Aligned bool            // the server was paused until it had the batch, and the times are from the end of the pause
	// Cold says how the prefix cache is kept from answering, "" where it is not.
	Cold   string
	Cached int // tokens of prompts that came from it all the same, as the server says
	// TTFT and TPOT are of the requests of streamed answers, sorted; nil without.
	TTFT, TPOT  []time.Duration
	Server      Server
	OneToken    []time.Duration
	Command     []string
	Interrupted bool // there are fewer iterations than asked for
}

// latencyPercentiles are those of vLLM's report.
var latencyPercentiles = []float64{10, 25, 50, 75, 90, 99}

// statistic is of the times, in seconds. Percentiles are linear between order statistics, as numpy's default.
func (l *Latency) statistic() (mean float64, percentiles []export.Arg) {
	sorted := seconds(l.Times)
	for _, v := range sorted {
		mean += v
	}
	mean /= float64(len(sorted))
	slices.Sort(sorted)
	for _, p := range latencyPercentiles {
		percentiles = append(percentiles, export.Arg{Name: strconv.Itoa(int(p)), Value: percentile(sorted, p)})
	}
	return mean, percentiles
}

// percentile is linear between order statistics, to the last bit as numpy rounds it.
func percentile(sorted []float64, p float64) float64 {
	at := p / 100 * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	share, gap := at-float64(i), sorted[i+1]-sorted[i]
	if share >= 0.5 {
		return sorted[i+1] - gap*(1-share)
	}
	return sorted[i] + gap*share
}

// JSON writes the result with vLLM's keys, and all else below "benchtop". There is at least one iteration.
func (l *Latency) JSON(w io.Writer, version string) error {
	mean, percentiles := l.statistic()
	own := []export.Arg{
		{Name: "version", Value: version},
		{Name: "command", Value: l.Command},
		{Name: "server", Value: l.Server.args()},
		{Name: "definitions", Value: []export.Arg{{Name: "latency", Value: l.clock()}}},
		{Name: "batch_size", Value: l.Batch},
		{Name: "prefix_cache", Value: l.Cold},
		{Name: "cached_tokens", Value: l.Cached},
		{Name: "ttft_median_s", Value: median(l.TTFT)},
		{Name: "tpot_median_s", Value: median(l.TPOT)},
		{Name: "one_token_s", Value: median(l.OneToken)},
		{Name: "interrupted", Value: l.Interrupted},
	}
	return export.Indented(w, []export.Arg{{Name: "model_id", Value: l.Model}, {Name: "avg_latency", Value: mean},
		{Name: "latencies", Value: seconds(l.Times)},
		{Name: "percentiles", Value: percentiles}, {Name: "benchtop", Value: own}})
}

// PyTorch writes the result in the format of PyTorch's benchmark database. File is the name of the result's file.
func (l *Latency) PyTorch(w io.Writer, args []export.Arg, file string) error {
	mean, percentiles := l.statistic()
	return export.PyTorchFigures(w, args, file, []export.Arg{{Name: "latency", Value: seconds(l.Times)}},
		[]export.Arg{{Name: "avg_latency", Value: mean}, {Name: "percentiles", Value: percentiles}})
}

// clock says what a time is.
func (l *Latency) clock() string {
	switch {
	case l.Aligned:
		return "end of the server's pause to the last byte of the last answer"
	case l.List:
		return "first byte of the request to the last byte of its answer"
	}
	return "first byte of the first request to the last byte of the last answer"
}

// Text writes the result as vLLM does, and below it how it was measured and what differs from a measurement in the
// engine's process.
func (l *Latency) Text(w io.Writer) error {
	p := &printer{w: w}
	mean, percentiles := l.statistic()
	p.line("Avg latency: %s seconds", digits(mean))
	for _, v := range percentiles {
		p.line("%s%% percentile latency: %s seconds", v.Name, digits(v.Value.(float64)))
	}
	p.line("")
	shape := "simultaneous requests"
	if l.List {
		shape = "one request with a list of prompts"
	}
	p.line("Time: %s; %s", l.clock(), shape)
	if len(l.TTFT) > 0 {
		p.line("Streamed: median TTFT %.2f ms, median TPOT %.2f ms", 1000*median(l.TTFT).(float64),
			1000*orZero(median(l.TPOT)))
	}
	switch {
	case l.Cold == "":
		p.line("The prompts are the same in each iteration, and a prefix cache may answer them; --cache cold " +
			"prevents that")
	case l.Cached > 0:
		p.line("WARNING: %d prompt tokens came from the prefix cache in spite of %s", l.Cached, l.Cold)
	default:
		p.line("Prefix cache: no hits, by %s", l.Cold)
	}
	if l.Interrupted {
		p.line("Interrupted after %d iterations", len(l.Times))
	}
	p.differences(l.Server, l.OneToken)
	return p.err
}

func orZero(v any) float64 {
	f, _ := v.(float64)
	return f
}

// digits are those that Python prints of a float.
func digits(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// LatencyOf is the time of a batch from its requests: from the first byte sent, or from a later moment, to the last
// end. Requests are of one clock, and all of them succeeded.
func LatencyOf(requests []metrics.Request, from time.Duration) time.Duration {
	first, last := requests[0].Sent, time.Duration(0)
	for i := range requests {
		first, last = min(first, requests[i].Sent), max(last, requests[i].LastChunk)
	}
	return last - max(first, from)
}
