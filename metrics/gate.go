package metrics

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Gate is a condition under which a run counts as failed, such as "p99_ttft_ms>500" or "goodput<90%".
type Gate struct {
	// Metric is the name of a figure of the result.
	Metric string `json:"metric"`
	// Op is one of <, <=, > and >=.
	Op string `json:"op"`
	// Limit in the unit of the metric; a share of 1 where Percent.
	Limit float64 `json:"limit"`
	// Percent says that the limit was written in per cent.
	Percent bool `json:"percent,omitempty"`
}

// GateResult is a gate and what the run made of it.
type GateResult struct {
	Gate Gate
	// Value of the metric; Known is false where nothing was measured that could give one.
	Value float64
	Known bool
	// Missed: the condition holds, or the value is not known. While a run is on, what is not known is not missed yet.
	Missed bool
}

// Missed reports whether a value of the metric makes the run count as failed. Nothing passes an operator that is none.
func (g Gate) Missed(value float64) bool {
	switch g.Op {
	case "<":
		return value < g.Limit
	case "<=":
		return value <= g.Limit
	case ">":
		return value > g.Limit
	case ">=":
		return value >= g.Limit
	}
	return true
}

// NeedsObjectives reports whether the metric means something only for a run with objectives.
func (g Gate) NeedsObjectives() bool {
	return g.Metric == gateGoodput || g.Metric == gateRequestGoodput
}

// String is the gate in a form that ParseGate reads back to the same gate. Latencies are in milliseconds.
func (g Gate) String() string {
	limit := strconv.FormatFloat(g.Limit, 'f', -1, 64)
	if g.Percent {
		limit = hundredfold(limit) + "%"
	}
	return g.Metric + g.Op + limit
}

// hundredfold moves the point of a decimal number two places to the right. Multiplying could change the last digit.
func hundredfold(number string) string {
	whole, fraction, _ := strings.Cut(number, ".")
	fraction += "00"
	number = strings.TrimLeft(whole+fraction[:2], "0")
	if number == "" {
		number = "0"
	}
	if fraction = strings.TrimRight(fraction[2:], "0"); fraction != "" {
		number += "." + fraction
	}
	return number
}

const gateForm = "expected METRIC, one of < <= > >=, and a number, such as 'goodput<90%' or 'p99_ttft_ms>500'"

var (
	gateParts   = regexp.MustCompile(`^([^<>]*[^<>\s])\s*(<=|>=|<|>)\s*(\S+)$`)
	limitParts  = regexp.MustCompile(`^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:[eE]([+-]?[0-9]{1,4}))?(%|ms|s)?$`)
	latencyName = regexp.MustCompile(`^(mean|median|std|min|max|p([0-9]+(?:\.[0-9]+)?))_(.+)$`)
)

// ParseGate reads METRIC OP NUMBER[%|ms|s], with or without spaces around OP: 'goodput<90%', 'p99_ttft_ms > 500',
// 'mean_e2el>=2.5s'. The metric is one of the result's names; goodput and error_rate are shares of the requests that
// finished, as a number up to 1 or in per cent. The unit of a latency may be left out of its name, and its limit is in
// milliseconds unless it ends in s. The error is one sentence for the person who wrote the text.
func ParseGate(text string) (Gate, error) {
	parts := gateParts.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return Gate{}, fmt.Errorf("%q: %s", text, gateForm)
	}
	f, ok := parseFigure(parts[1])
	if !ok {
		return Gate{}, fmt.Errorf("%q: unknown metric %q; %s", text, parts[1], gateWords())
	}
	g := Gate{Metric: f.String(), Op: parts[2]}
	if err := g.parseLimit(parts[3], f); err != nil {
		return Gate{}, fmt.Errorf("%q: %w", text, err)
	}
	return g, nil
}

func (g *Gate) parseLimit(text string, f figure) error {
	parts := limitParts.FindStringSubmatch(text)
	if parts == nil {
		return fmt.Errorf("%q is not a number; %s", text, gateForm)
	}
	number, exponent, unit := parts[1], parts[2], parts[3]
	tens, _ := strconv.Atoi(cmp.Or(exponent, "0")) // four digits at most
	switch {
	case unit == "%" && !f.share():
		return fmt.Errorf("%s is not a share, so its limit cannot be in per cent", f)
	case unit == "%":
		g.Percent = true
		tens -= 2
	case unit != "" && f.number != "":
		return fmt.Errorf("%s is not a time, so its limit cannot be in %s", f, unit)
	case unit == "s":
		tens += 3
	}
	// The unit goes into the exponent rather than into a factor, so that 0.3% is the number nearest to 0.003.
	limit, err := strconv.ParseFloat(number+"e"+strconv.Itoa(tens), 64)
	switch {
	case err != nil || math.IsInf(limit, 0):
		return fmt.Errorf("the limit %s is too large", text)
	case math.Signbit(limit):
		return fmt.Errorf("the limit %s must be 0 or more", text)
	case f.share() && limit > 1 && !g.Percent:
		return fmt.Errorf("%s is a share of 1, so its limit cannot be %s; did you mean %s%%?", f, text, text)
	case f.share() && limit > 1:
		return fmt.Errorf("%s cannot be more than 100%%, so its limit cannot be %s", f, text)
	}
	g.Limit = limit
	return nil
}

// The metrics of gates that are single numbers.
const (
	gateGoodput        = "goodput"
	gateErrorRate      = "error_rate"
	gateRequestGoodput = "request_goodput"
	gateRequests       = "request_throughput"
	gateOutput         = "output_throughput"
	gateTokens         = "total_token_throughput"
	gateCompleted      = "completed"
	gateFailed         = "failed"
	gateConcurrent     = "max_concurrent_requests"
)

var gateNumbers = []string{
	gateGoodput, gateErrorRate, gateRequestGoodput, gateRequests, gateOutput, gateTokens, gateCompleted, gateFailed,
	gateConcurrent,
}

// Latency is the one whose statistic the gate limits; not ok for a single number.
func (g *Gate) Latency() (l Latency, ok bool) {
	f, known := parseFigure(g.Metric)
	return f.latency, known && f.number == ""
}

// figure is the metric of a gate, taken apart: a single number, or a statistic of a latency.
type figure struct {
	number    string  // "" for a latency
	statistic string  // "mean", "median", "std", "min", "max", or "p" for a percentile
	p         float64 // of a percentile, from 0 to 100
	latency   Latency
}

func parseFigure(name string) (figure, bool) {
	if slices.Contains(gateNumbers, name) {
		return figure{number: name}, true
	}
	parts := latencyName.FindStringSubmatch(name)
	if parts == nil {
		return figure{}, false
	}
	l, ok := LatencyOf(strings.TrimSuffix(parts[3], "_ms"))
	f := figure{statistic: parts[1], latency: l}
	if parts[2] != "" {
		p, err := strconv.ParseFloat(parts[2], 64)
		if err != nil || p > 100 {
			return figure{}, false
		}
		f.statistic, f.p = "p", p
	}
	return f, ok
}

// String is the name in the result.
func (f figure) String() string {
	switch {
	case f.number != "":
		return f.number
	case f.statistic == "p":
		return "p" + strconv.FormatFloat(f.p, 'f', -1, 64) + "_" + f.latency.Key() + "_ms"
	}
	return f.statistic + "_" + f.latency.Key() + "_ms"
}

func (f figure) share() bool { return f.number == gateGoodput || f.number == gateErrorRate }

// gateWords say what a metric may be.
func gateWords() string {
	return "use " + strings.Join(gateNumbers, ", ") + ", or mean, median, std, min, max or p0 to p100 of " +
		strings.Join(LatencyKeys(), ", ") + ", as p99_ttft_ms"
}

// GatedPercentiles are the percentiles of a latency that gates name.
func GatedPercentiles(gates []Gate, latency Latency) []float64 {
	var all []float64
	for _, g := range gates {
		if f, ok := parseFigure(g.Metric); ok && f.statistic == "p" && f.latency == latency && !slices.Contains(all, f.p) {
			all = append(all, f.p)
		}
	}
	return all
}

// CheckGates is what the run made of the plan's gates. A figure of which there is no sample is missed: nobody can
// say that it was kept.
func (r *Report) CheckGates() (all []GateResult) {
	for _, g := range r.Plan.Gates {
		v, known := r.figure(g.Metric)
		all = append(all, GateResult{Gate: g, Value: v, Known: known, Missed: !known || g.Missed(v)})
	}
	return all
}

// figure is the value of a gate's metric; false where nothing was measured that could give one.
func (r *Report) figure(metric string) (value float64, known bool) {
	f, ok := parseFigure(metric)
	finished := r.Completed + r.Failed
	timed := finished > 0 && r.Duration > 0
	switch {
	case !ok:
		return 0, false
	case f.number == "":
		s := &r.Statistics[f.latency]
		return s.figure(f), s.N > 0
	case f.number == gateGoodput:
		return Share(r.gatedGood(), finished), finished > 0 && len(r.Plan.Goodput) > 0
	case f.number == gateErrorRate:
		return Share(r.Failed, finished), finished > 0
	case f.number == gateRequestGoodput:
		return PerSecond(float64(r.gatedGood()), r.Duration), timed && len(r.Plan.Goodput) > 0
	case f.number == gateRequests:
		return r.RequestThroughput, timed
	case f.number == gateOutput:
		return r.OutputThroughput, timed
	case f.number == gateTokens:
		return r.TotalThroughput, timed
	case f.number == gateConcurrent:
		return float64(r.PeakConcurrency), r.Completed > 0
	case f.number == gateCompleted:
		return float64(r.Completed), true
	}
	return float64(r.Failed), true
}

// gatedGood are the good requests by the plan's own objectives: what was set later cannot make a gate pass.
func (r *Report) gatedGood() int {
	if r.Objectives == nil || slices.Equal(r.Objectives, r.Plan.Goodput) {
		return r.Good
	}
	return r.PlannedGood
}

func (s *Snapshot) gatedGood() int {
	if s.Objectives == nil || slices.Equal(s.Objectives, s.Plan.Goodput) {
		return s.Totals.Good
	}
	return s.PlannedGood
}

func (s *Statistic) figure(f figure) float64 {
	switch f.statistic {
	case "mean":
		return s.Mean
	case "median":
		return s.Median
	case "std":
		return s.Std
	case "min":
		return s.Min
	case "max":
		return s.Max
	}
	ms, _ := s.Percentile(f.p)
	return ms
}

// CheckGates judges the run so far: all of it but the warm-up, latencies from the histograms. What is not known yet is not
// missed yet, and neither are too few completed requests while the run is on. Once the run is over, the report's word
// counts.
func (s *Snapshot) CheckGates() []GateResult {
	if s.Report != nil {
		return s.Report.Gates
	}
	if s.Plan == nil {
		return nil
	}
	var all []GateResult
	for _, g := range s.Plan.Gates {
		v, known := s.figure(g.Metric)
		grows := g.Metric == gateCompleted && (g.Op == "<" || g.Op == "<=")
		all = append(all, GateResult{Gate: g, Value: v, Known: known, Missed: known && !grows && g.Missed(v)})
	}
	return all
}

func (s *Snapshot) figure(metric string) (value float64, known bool) {
	f, ok := parseFigure(metric)
	t := &s.Totals
	finished := t.Done + t.Failed
	seconds := (s.At - s.Plan.Warmup).Seconds()
	rate := func(n int) (float64, bool) { return PerSecond(float64(n), seconds), finished > 0 && seconds > 0 }
	switch {
	case !ok:
		return 0, false
	case f.number == "":
		h := &s.Histograms[f.latency]
		return h.figure(f), h.n > 0
	case f.number == gateGoodput:
		return Share(s.gatedGood(), finished), finished > 0 && len(s.Plan.Goodput) > 0
	case f.number == gateErrorRate:
		return Share(t.Failed, finished), finished > 0
	case f.number == gateRequestGoodput:
		v, known := rate(s.gatedGood())
		return v, known && len(s.Plan.Goodput) > 0
	case f.number == gateRequests:
		return rate(t.Done)
	case f.number == gateOutput:
		return rate(t.OutputTokens)
	case f.number == gateTokens:
		return rate(t.InputTokens + t.OutputTokens)
	case f.number == gateConcurrent:
		return float64(s.touched()), t.Done > 0
	case f.number == gateCompleted:
		return float64(t.Done), true
	}
	return float64(t.Failed), true
}

// touched is the largest number of requests that were in flight at any time of one second. The report counts only
// successes, and its seconds begin with the first of them.
func (s *Snapshot) touched() int {
	most, before := 0, 0
	for i := range s.Windows {
		w := &s.Windows[i]
		if w.Start+time.Second > s.Plan.Warmup {
			most = max(most, before+w.Sent)
		}
		before = w.Waiting + w.Running
	}
	return most
}

// figure estimates a statistic in milliseconds.
func (h *Histogram) figure(f figure) float64 {
	switch f.statistic {
	case "mean":
		return Milliseconds(h.Mean())
	case "median":
		return Milliseconds(h.Quantile(0.5))
	case "std":
		return h.deviation()
	case "min":
		return Milliseconds(h.Quantile(0))
	case "max":
		return Milliseconds(h.Quantile(1))
	}
	return Milliseconds(h.Quantile(f.p / 100))
}

// deviation estimates the standard deviation in milliseconds; every value is taken to lie in the middle of its bucket.
func (h *Histogram) deviation() float64 {
	if h.n == 0 {
		return 0
	}
	mean := float64(h.sum) / float64(h.n)
	var squares float64
	for b := range h.Buckets() {
		d := float64(b.From)/2 + float64(b.To)/2 - mean
		squares += d * d * float64(b.Count)
	}
	return math.Sqrt(squares/float64(h.n)) / float64(time.Millisecond)
}

func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Share is a part of a whole, 0 of nothing.
func Share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
