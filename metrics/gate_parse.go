package metrics

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

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
